/// Why a text is not what it claims to encode.
///
/// No case carries any part of the text, because the text may be a secret.
package enum TextCodingError: Error, Equatable, Sendable {
    /// The text has a length, in bytes, that no value of this encoding has.
    case invalidLength(Int)

    /// The byte at this offset does not belong to the alphabet, or stands where another one is required.
    case invalidCharacter(offset: Int)

    /// The last Base64 digit has bits set that belong to no byte, so the text is not the one encoding of its bytes.
    case trailingBitsNotZero

    /// The text is well formed, and names a value that does not exist or cannot be represented.
    case outOfRange
}
