import ByteCoding
package import ContentKeys
package import KeyCrypto

/// The id of one node's ledger: 1 to 64 printable ASCII characters without space.
///
/// It is made with the ledger, and every seal in it names it. It is not the configured label, which may change.
package struct NodeID: Hashable, Sendable {
    /// The sizes that a name may have, in bytes.
    package static let sizes = 1...64

    package let text: String

    /// Throws `sizeOutOfRange` or `invalidCharacter` for anything that is not a name.
    package init(_ text: String) throws(IdentifierError) {
        try PrintableASCII.check(text.utf8, size: text.utf8.count, in: Self.sizes)
        self.text = text
    }

    /// 32 hexadecimal digits. They can stand in a configuration as the node's label, for a version that knows no ids.
    package static func random() throws(CryptoError) -> NodeID {
        let digits = Hexadecimal.encode(try RandomBytes.generate(count: 16))
        do { return try NodeID(digits) } catch { preconditionFailure("digits are printable") }
    }
}

extension NodeID: CustomStringConvertible {
    package var description: String { text }
}
