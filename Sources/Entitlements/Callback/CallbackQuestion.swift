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
    package var device: DeviceIdentifier?
    /// The number of the playback session, where the SPC has one.
    package var session: UInt64?
    package var address: IPAddress?
    package let use: LicenseUse
    /// Whether a playback that goes on asks.
    package var isRenewal = false

    package init(messageID: KeyID, token: [UInt8], content: RequestedContent, use: LicenseUse) {
        self.messageID = messageID.description
        self.token = token
        self.content = content
        self.use = use
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
