import ByteCoding
package import ContentKeys

/// The id of one node's ledger: 1 to 64 printable ASCII characters without space.
///
/// The id is random, is made with the ledger, and is in every seal of the ledger. It is not the configured name of the
/// node, which may change.
package struct NodeID: Hashable, Sendable {
    /// The sizes of an id, in bytes.
    package static let sizes = 1...64

    package let text: String

    /// Throws `sizeOutOfRange` or `invalidCharacter` if the text is not an id.
    package init(_ text: String) throws(IdentifierError) {
        try PrintableASCII.check(text.utf8, size: text.utf8.count, in: Self.sizes)
        self.text = text
    }
}

extension NodeID: CustomStringConvertible {
    package var description: String { text }
}
