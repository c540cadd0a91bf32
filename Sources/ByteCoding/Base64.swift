/// Base64 with the standard alphabet and padding (RFC 4648 section 4).
package enum Base64 {
    /// Encodes bytes, padded to a multiple of four characters.
    package static func encode(_ bytes: some Sequence<UInt8>) -> String {
        Base64Alphabet.standard.encode(Array(bytes), padded: true)
    }

    /// The number of characters that encode so many bytes.
    package static func encodedSize(of byteCount: Int) -> Int { (byteCount + 2) / 3 * 4 }

    /// Appends the padded encoding of bytes to a text, without a string between.
    package static func append(_ bytes: [UInt8], to text: inout [UInt8]) {
        Base64Alphabet.standard.append(bytes, to: &text, padded: true)
    }

    /// Decodes the canonical encoding only: full padding, no white space, no bits set behind the last byte.
    package static func decode(_ text: String) throws(TextCodingError) -> [UInt8] {
        try decode(Array(text.utf8)[...])
    }

    /// Decodes the canonical encoding only, as for text.
    package static func decode(_ text: [UInt8]) throws(TextCodingError) -> [UInt8] {
        try decode(text[...])
    }

    /// Decodes the canonical encoding only, as for text; offsets in errors count from the start of the slice.
    package static func decode(_ text: ArraySlice<UInt8>) throws(TextCodingError) -> [UInt8] {
        try Base64Alphabet.standard.decode(text, padded: true)
    }
}

/// Base64 with the URL-safe alphabet and without padding (RFC 4648 section 5, as RFC 7515 section 2 asks of tokens).
package enum Base64URL {
    /// Encodes bytes without padding.
    package static func encode(_ bytes: some Sequence<UInt8>) -> String {
        Base64Alphabet.urlSafe.encode(Array(bytes), padded: false)
    }

    /// Decodes the canonical encoding only: no padding, no white space, no bits set behind the last byte.
    ///
    /// So two different texts never decode to the same bytes, and a token has one spelling.
    package static func decode(_ text: String) throws(TextCodingError) -> [UInt8] {
        try decode(Array(text.utf8)[...])
    }

    /// Decodes the canonical encoding only, as for text.
    package static func decode(_ text: [UInt8]) throws(TextCodingError) -> [UInt8] {
        try decode(text[...])
    }

    /// Decodes the canonical encoding only, as for text; offsets in errors count from the start of the slice.
    package static func decode(_ text: ArraySlice<UInt8>) throws(TextCodingError) -> [UInt8] {
        try Base64Alphabet.urlSafe.decode(text, padded: false)
    }
}
