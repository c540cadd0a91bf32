/// The name of a content, which the packager chooses: 1 to 200 printable ASCII characters without space.
///
/// Names are case-sensitive, and are ordered by their bytes.
package struct ContentID: Hashable, Sendable {
    /// The sizes of an identifier, in bytes.
    package static let sizes = 1...200

    /// The identifier's characters.
    package let text: String

    /// Throws `sizeOutOfRange` or `invalidCharacter` if the text is not an identifier.
    package init(_ text: String) throws(IdentifierError) {
        try PrintableASCII.check(text.utf8, size: text.utf8.count, in: Self.sizes)
        self.text = text
    }

    /// Makes the identifier with these bytes as its characters. Throws the same errors.
    package init(bytes: [UInt8]) throws(IdentifierError) {
        try PrintableASCII.check(bytes, size: bytes.count, in: Self.sizes)
        text = String(decoding: bytes, as: UTF8.self)
    }
}

extension ContentID: Comparable {
    package static func < (left: ContentID, right: ContentID) -> Bool {
        left.text.utf8.lexicographicallyPrecedes(right.text.utf8)
    }
}

extension ContentID: CustomStringConvertible {
    package var description: String { text }
}

/// The reason why bytes or a text from outside are not an identifier.
///
/// No case contains the identifier itself, because any client may have sent it.
package enum IdentifierError: Error, Equatable, Sendable {
    /// The identifier is too short or too long. The value is its size in bytes.
    case sizeOutOfRange(Int)
    /// The byte at this offset is not printable ASCII, or is a space.
    case invalidCharacter(offset: Int)
}

/// The alphabet of identifiers that are text: printable ASCII without space, 0x21 to 0x7E.
package enum PrintableASCII {
    package static func check(_ bytes: some Sequence<UInt8>, size: Int, in sizes: ClosedRange<Int>)
        throws(IdentifierError)
    {
        guard sizes.contains(size) else { throw .sizeOutOfRange(size) }
        for (offset, byte) in bytes.enumerated() where !(0x21...0x7E).contains(byte) {
            throw .invalidCharacter(offset: offset)
        }
    }
}
