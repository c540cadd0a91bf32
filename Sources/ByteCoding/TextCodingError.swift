/// Why a text could not be decoded.
///
/// No case carries any part of the text, because the text may be a secret.
package enum TextCodingError: Error, Equatable, Sendable {
    /// No value is encoded as a text of this length, in bytes.
    case invalidLength(Int)

    /// The byte at this offset is not in the alphabet, or another one is required there.
    case invalidCharacter(offset: Int)

    /// The last Base64 digit has unused bits that are not zero, so the text is not the canonical encoding of its bytes.
    case trailingBitsNotZero

    /// The text is well formed, but its value does not exist or cannot be represented.
    case outOfRange
}
