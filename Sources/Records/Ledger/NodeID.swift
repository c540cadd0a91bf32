package import ContentKeys

/// The name of one daemon among those that share an installation: 1 to 64 printable ASCII characters without space.
///
/// Each node has a ledger of its own, and every seal in it names the node.
package struct NodeID: Hashable, Sendable {
    /// The sizes that a name may have, in bytes.
    package static let sizes = 1...64

    package let text: String

    /// Throws `sizeOutOfRange` or `invalidCharacter` for anything that is not a name.
    package init(_ text: String) throws(IdentifierError) {
        try PrintableASCII.check(text.utf8, size: text.utf8.count, in: Self.sizes)
        self.text = text
    }
}

extension NodeID: CustomStringConvertible {
    package var description: String { text }
}
