/// Why bytes or a text from outside are not an identifier.
///
/// No case carries the identifier itself: it may come from a stranger.
package enum IdentifierError: Error, Equatable, Sendable {
    /// Too short or too long; the size found, in bytes.
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
