import ByteCoding
package import ContentKeys
package import KeyCrypto

/// The id of one node's ledger: 1 to 64 printable ASCII characters without space.
///
/// The id is made with the ledger, and every seal of the ledger contains it. It is not the configured label, which may
/// change.
package struct NodeID: Hashable, Sendable {
    /// The sizes of an id, in bytes.
    package static let sizes = 1...64

    package let text: String

    /// Throws `sizeOutOfRange` or `invalidCharacter` if the text is not an id.
    package init(_ text: String) throws(IdentifierError) {
        try PrintableASCII.check(text.utf8, size: text.utf8.count, in: Self.sizes)
        self.text = text
    }

    /// Makes a random id of 32 hexadecimal digits. For a program of an older version, it can be configured as the
    /// node's label.
    package static func random() throws(CryptoError) -> NodeID {
        let digits = Hexadecimal.encode(try RandomBytes.generate(count: 16))
        do { return try NodeID(digits) } catch { preconditionFailure("digits are printable") }
    }
}

extension NodeID: CustomStringConvertible {
    package var description: String { text }
}
