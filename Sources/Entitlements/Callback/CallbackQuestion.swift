package import ByteCoding
package import POSIXSockets

/// What the operator's own service is asked about a request whose token only it can read (entitlement, section 4.9).
package struct CallbackQuestion: Equatable, Sendable {
    /// The version of the messages.
    static let version: Int64 = 1

    /// Names this question alone; the answer repeats it.
    package let messageID: String
    package let token: [UInt8]
    package let content: RequestedContent
    /// HU; nil where only an external module could tell it.
    package let device: DeviceIdentifier?
    /// The number of the playback session, where the SPC has one.
    package let session: UInt64?
    package let address: IPAddress?
    package let use: LicenseUse
    /// Whether a playback that goes on asks.
    package let isRenewal: Bool

    package init(
        messageID: KeyID, token: [UInt8], content: RequestedContent, device: DeviceIdentifier?, session: UInt64?,
        address: IPAddress?, use: LicenseUse, isRenewal: Bool
    ) {
        self.messageID = messageID.description
        self.token = token
        self.content = content
        self.device = device
        self.session = session
        self.address = address
        self.use = use
        self.isRenewal = isRenewal
    }

    /// The body of the request: one JSON object.
    package var body: [UInt8] {
        JSONWriter.object { writer in
            writer.member("messageID", messageID)
            writer.member("version", Self.version)
            writer.member("contentID", content.contentID)
            writer.member("kid", content.keyID.description)
            writer.member("device", device?.description)
            writer.member("session", session.map { Hexadecimal.encode(Bytes16(high: $0, low: 0).bytes.prefix(8)) })
            writer.member("token", String(decoding: token, as: UTF8.self))
            writer.member("clientIP", address?.description)
            writer.member("offline", use == .offline)
            writer.member("renew", isRenewal)
        }
    }
}
