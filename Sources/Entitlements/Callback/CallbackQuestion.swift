package import ByteCoding
package import POSIXSockets
package import Telemetry

/// A question to the operator's service, about a request whose token only that service can read (entitlement, section
/// 4.9).
package struct CallbackQuestion: Equatable, Sendable {
    /// The version of the messages.
    static let version: Int64 = 1

    /// Identifies this question; the answer repeats it.
    package let messageID: String
    package let token: [UInt8]
    package let content: Content
    /// The device's HU; nil if only an external module can read it.
    package var device: DeviceIdentifier?
    /// The number of the playback session, if the SPC has one.
    package var session: UInt64?
    package var address: IPAddress?
    package let use: LicenseUse
    /// Whether the request renews the license of a running playback.
    package var isRenewal = false
    /// The trace of the request. It goes in header fields, and is not part of the body.
    package var trace: TraceContext?

    /// The content and the key that a question is about.
    package struct Content: Hashable, Sendable {
        /// The identifier of the key's content. If no key is known for the asset, the identifier is taken from the
        /// asset's name.
        package let contentID: String
        /// The identifier of the key. If no key is known for the asset, an identifier that no key has.
        ///
        /// The service is asked about an unknown asset too, so that the client does not learn which assets are known.
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
