package import ByteCoding
package import POSIXSockets

/// What the operator's own service is asked about a request whose token only it can read (entitlement, section 4.9).
package struct CallbackQuestion: Equatable, Sendable {
    /// The version of the messages.
    static let version: Int64 = 1

    /// Names this question alone; the answer repeats it.
    package let messageID: String
    package let token: [UInt8]
    package let content: Content
    /// HU; nil if only an external module could tell it.
    package var device: DeviceIdentifier?
    /// The number of the playback session, if the SPC has one.
    package var session: UInt64?
    package var address: IPAddress?
    package let use: LicenseUse
    /// Whether a playback that goes on asks.
    package var isRenewal = false

    /// What a question is about.
    package struct Content: Hashable, Sendable {
        /// Of the key's content; of an asset without a key what its name says.
        package let contentID: String
        /// Of an asset without a key a number that no key has: the service is asked about it like about any other, so
        /// that its sender does not learn which assets are known.
        package let keyID: KeyID
        /// The label of the key's track; nil for a key of all tracks.
        package let track: String?

        package init(contentID: String, keyID: KeyID, track: String? = nil) {
            self.contentID = contentID
            self.keyID = keyID
            self.track = track
        }
    }

    package init(messageID: KeyID, token: [UInt8], content: Content, use: LicenseUse) {
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
