package import ByteCoding
package import KeyCrypto

/// Thirty-two bytes that stand for a person or a thing without naming it: an HMAC or a digest.
///
/// Devices, subjects, tokens and requests are stored only under pseudonyms.
package struct Pseudonym: Hashable, Sendable {
    /// The size in bytes.
    package static let size = 32

    private let value: Bytes32

    package init(_ value: Bytes32) {
        self.value = value
    }

    /// Returns nil unless there are exactly 32 bytes.
    package init?(_ bytes: [UInt8]) {
        guard let value = Bytes32(bytes) else { return nil }
        self.init(value)
    }

    /// The first 16 bytes.
    package var firstHalf: Bytes16 { value.first }
    /// The last 16 bytes.
    package var secondHalf: Bytes16 { value.second }

    /// The form of a pseudonym in a ledger: its first 16 bytes, followed by zeros.
    package init(short bytes: Bytes16) {
        value = Bytes32(bytes, .zero)
    }

    package var shortened: Pseudonym { Pseudonym(short: firstHalf) }

    package var bytes: [UInt8] { value.bytes }
}

/// Computes the pseudonyms of one installation. The same thing always gets the same pseudonym, which cannot be guessed
/// without the key.
///
/// A pseudonym is an HMAC-SHA256 over the name of its kind, a zero byte, and each part after its size (four bytes,
/// big-endian). Two things of one kind therefore have different inputs, and so have two things of different kinds.
package final class Pseudonymizer: Sendable {
    /// The kind of thing that gets a pseudonym. The raw values are part of the input, and never change.
    package enum Kind: String, Sendable, CaseIterable {
        /// A device, by its HU (20 bytes).
        case device
        /// A subject, by issuer and subject.
        case subject
        /// A token, by issuer and token id.
        case token
        /// A content, by its content id.
        case content
        /// A group of playback slots, by issuer, subject and the group's name.
        case group
        /// A device, by issuer and the issuer's own name for the device.
        case namedDevice = "named-device"
        /// A session of renewals, by its id (16 bytes).
        case session
        /// A rental, by issuer, subject and content id.
        case rental
        /// A device's report of a playback session that has ended, by issuer, subject and session id.
        case sessionReport = "session-report"
        /// A playback session, by the player's own id.
        case playerSession = "player-session"
        /// A request that was decided before with an earlier end, by its name and a number.
        case laterRequest = "later-request"
    }

    private let key: HMACSHA256Key

    package init(key: HMACSHA256Key) {
        self.key = key
    }

    package func pseudonym(of kind: Kind, _ parts: [UInt8]...) throws(CryptoError) -> Pseudonym {
        var message = Message(kind, size: parts.reduce(0) { $0 + $1.count + 4 })
        for part in parts { message.write(part) }
        return try pseudonym(of: message)
    }

    /// Names a subject of an issuer.
    package func subject(issuer: String, _ subject: String) throws(CryptoError) -> Pseudonym {
        var message = Message(.subject, size: 8 + issuer.utf8.count + subject.utf8.count)
        message.write(issuer)
        message.write(subject)
        return try pseudonym(of: message)
    }

    private func pseudonym(of message: Message) throws(CryptoError) -> Pseudonym {
        Pseudonym(try key.value(for: message.writer.bytes[...]))
    }

    /// The input of the HMAC.
    private struct Message {
        private(set) var writer: ByteWriter

        /// `size` is the number of bytes of all parts with their sizes.
        init(_ kind: Kind, size: Int) {
            writer = ByteWriter(capacity: kind.rawValue.utf8.count + 1 + size)
            writer.write(utf8Of: kind.rawValue)
            writer.write(UInt8(0))
        }

        mutating func write(_ part: [UInt8]) {
            writer.write(UInt32(part.count))
            writer.write(part)
        }

        mutating func write(_ part: String) {
            writer.write(UInt32(part.utf8.count))
            writer.write(utf8Of: part)
        }
    }

    /// Another name for a request: the `number`th one.
    package func later(_ number: UInt8, of request: Pseudonym) throws(CryptoError) -> Pseudonym {
        try pseudonym(of: .laterRequest, request.bytes, [number])
    }

    /// Names the rental of a content by a subject of an issuer.
    package func rental(issuer: String, subject: String, content: String) throws(CryptoError) -> Pseudonym {
        try pseudonym(of: .rental, Array(issuer.utf8), Array(subject.utf8), Array(content.utf8))
    }
}
