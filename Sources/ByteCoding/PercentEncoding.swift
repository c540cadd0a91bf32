/// Percent-encoded text (RFC 3986 section 2.1).
///
/// A percent sign that is not followed by two hexadecimal digits is not an escape. The two readers treat it
/// differently:
///
/// - `decode` is for names that are looked up, and for configuration. It refuses the whole text. An asset id that is
///   not well encoded may still be a name as it is, so it is never decoded in part.
/// - `decodeLeniently` is for queries, forms and headers of clients. It keeps the percent sign, as browsers do (URL
///   Standard, section 1.3, "percent-decode"). A token with such a sign in it is then refused as an invalid token, and
///   not because of its encoding.
///
/// Both readers accept what `encode` writes. Both decode once, accept digits of either case, and can return any byte,
/// zero included. Both keep "+": it means a space only in forms (`application/x-www-form-urlencoded`), and the reader
/// of forms replaces it first.
package enum PercentEncoding {
    /// Decodes every escape; nil if a percent sign in the text is not the beginning of an escape.
    package static func decode(_ text: [UInt8]) -> [UInt8]? {
        var decoded: [UInt8] = []
        return decode(text[...], isLenient: false, into: &decoded) ? decoded : nil
    }

    /// Decodes every escape, and keeps all other bytes.
    package static func decodeLeniently(_ text: [UInt8]) -> [UInt8] {
        var decoded: [UInt8] = []
        decodeLeniently(text[...], into: &decoded)
        return decoded
    }

    /// Decodes every escape, and appends the result. All other bytes are kept.
    package static func decodeLeniently(_ text: ArraySlice<UInt8>, into decoded: inout [UInt8]) {
        _ = decode(text, isLenient: true, into: &decoded)
    }

    /// Encodes every byte except the unreserved characters of RFC 3986, section 2.3, with upper-case digits.
    package static func encode(_ text: String) -> String {
        var encoded: [UInt8] = []
        encoded.reserveCapacity(text.utf8.count)
        for byte in text.utf8 {
            if isUnreserved(byte) {
                encoded.append(byte)
            } else {
                encoded += [sign, upperCaseDigit(of: byte >> 4), upperCaseDigit(of: byte & 0x0F)]
            }
        }
        return String(decoding: encoded, as: UTF8.self)
    }

    private static func isUnreserved(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
            UInt8(ascii: "~"):
            true
        default: false
        }
    }

    private static func upperCaseDigit(of value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "A") - 10 + value
    }

    /// Appends the decoded text. Returns false at a percent sign that begins no escape, unless the reader is lenient.
    private static func decode(_ text: ArraySlice<UInt8>, isLenient: Bool, into decoded: inout [UInt8]) -> Bool {
        // Most texts have no escape, and are copied at once.
        guard let first = text.firstIndex(of: sign) else {
            decoded += text
            return true
        }
        decoded.reserveCapacity(decoded.count + text.count)
        decoded += text[..<first]
        let bytes = text.span
        var position = first - text.startIndex
        while position < bytes.count {
            let byte = bytes[position]
            if byte == sign {
                if let escaped = escapedByte(in: bytes, at: position) {
                    decoded.append(escaped)
                    position += 3
                    continue
                }
                guard isLenient else { return false }
            }
            decoded.append(byte)
            position += 1
        }
        return true
    }

    /// The byte of the escape that begins at an offset; nil if no escape begins there.
    private static func escapedByte(in text: Span<UInt8>, at offset: Int) -> UInt8? {
        guard text.count - offset >= 3, let high = Hexadecimal.value(ofDigit: text[offset + 1]),
            let low = Hexadecimal.value(ofDigit: text[offset + 2])
        else { return nil }
        return high << 4 | low
    }

    private static let sign = UInt8(ascii: "%")
}
