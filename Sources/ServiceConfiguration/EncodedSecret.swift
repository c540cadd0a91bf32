import ByteCoding
package import KeyCrypto

/// Decodes the contents of files with secrets of a fixed size.
package enum EncodedSecret {
    /// Decodes a secret of `size` bytes: hexadecimal digits, padded Base64 with optional white space at the end, or raw
    /// bytes. Digits may have a byte order mark before them, colons, commas and white space between them, and `0x`
    /// before the first digit or each pair, as tools and editors write them.
    ///
    /// Returns nil for anything else. Raw bytes that spell hexadecimal digits are refused too, because they probably
    /// are a shorter key.
    package static func decode(_ contents: borrowing SecretBytes, size: Int) -> SecretBytes? {
        contents.withWipedArray { bytes in
            var digits = hexadecimalDigits(of: bytes)
            defer { digits.wipe() }
            if digits.count == size * 2 {
                return secret(of: size, from: { () throws(TextCodingError) in try Hexadecimal.decode(digits) })
            }
            if bytes.count == size { return digits.isEmpty ? SecretBytes(copying: bytes) : nil }
            var text = bytes
            text.dropTrailingWhiteSpace()
            defer { text.wipe() }
            return secret(of: size, from: { () throws(TextCodingError) in try Base64.decode(text) })
        }
    }

    /// What the file holds, for a message about a secret of another size.
    package static func form(of contents: borrowing SecretBytes) -> String {
        contents.withWipedArray { bytes in
            var digits = hexadecimalDigits(of: bytes)
            defer { digits.wipe() }
            if !digits.isEmpty { return "it holds \(digits.count) hexadecimal digits" }
            if let kind = KeyFileKind(bytes) { return "it is \(kind)" }
            var text = bytes
            text.dropTrailingWhiteSpace()
            defer { text.wipe() }
            guard var decoded = try? Base64.decode(text) else { return "it holds \(bytes.count) bytes in another form" }
            defer { decoded.wipe() }
            return "it holds \(decoded.count) bytes as Base64"
        }
    }

    /// The digits of a text that is nothing but hexadecimal digits and what may stand before and between them; empty
    /// for anything else. The caller wipes them.
    private static func hexadecimalDigits(of bytes: [UInt8]) -> [UInt8] {
        var text = bytes[...]
        if text.starts(with: [0xEF, 0xBB, 0xBF]) { text = text.dropFirst(3) }
        var digits: [UInt8] = []
        // Never grows, so that no copy is left behind.
        digits.reserveCapacity(text.count)
        var isBegin = true
        while let byte = text.first {
            if isBegin, text.starts(with: "0x".utf8) || text.starts(with: "0X".utf8) {
                text = text.dropFirst(2)
                isBegin = false
                continue
            }
            isBegin = ":, \t\n\r".utf8.contains(byte)
            guard isBegin || Character(UnicodeScalar(byte)).isHexDigit else {
                digits.wipe()
                return []
            }
            if !isBegin { digits.append(byte) }
            text = text.dropFirst()
        }
        return digits
    }

    /// Decodes padded Base64 with optional white space at the end; returns nil for anything else.
    static func decodeBase64(_ contents: borrowing SecretBytes) -> SecretBytes? {
        contents.withWipedArray { bytes in
            var text = bytes
            text.dropTrailingWhiteSpace()
            defer { text.wipe() }
            guard var decoded = try? Base64.decode(text), !decoded.isEmpty else { return nil }
            defer { decoded.wipe() }
            return SecretBytes(copying: decoded)
        }
    }

    private static func secret(of size: Int, from decode: () throws(TextCodingError) -> [UInt8]) -> SecretBytes? {
        do throws(TextCodingError) {
            var bytes = try decode()
            defer { bytes.wipe() }
            return bytes.count == size ? SecretBytes(copying: bytes) : nil
        } catch {
            return nil
        }
    }
}

extension SecretBytes {
    /// Passes the bytes to `body` as an array, and wipes the array afterwards. `body` must not keep it.
    package borrowing func withWipedArray<Result: ~Copyable, Failure: Error>(
        _ body: ([UInt8]) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        var bytes = revealed()
        defer { bytes.wipe() }
        return try body(bytes)
    }

    /// The bytes without one line end (LF or CR LF) at the end; nil if nothing is left.
    borrowing func withoutLineEnd() -> SecretBytes? {
        withWipedArray { bytes in
            var text = bytes
            defer { text.wipe() }
            if text.last == 0x0A { text.removeLast() }
            if text.last == 0x0D { text.removeLast() }
            return text.isEmpty ? nil : SecretBytes(copying: text)
        }
    }

    /// Whether the bytes contain no line end.
    var isOneLine: Bool {
        withWipedArray { bytes in !bytes.contains(0x0A) && !bytes.contains(0x0D) }
    }

    /// The bytes without spaces, tabs and line ends at the end; nil if nothing is left.
    package borrowing func withoutTrailingWhiteSpace() -> SecretBytes? {
        withWipedArray { bytes in
            var text = bytes
            defer { text.wipe() }
            text.dropTrailingWhiteSpace()
            return text.isEmpty ? nil : SecretBytes(copying: text)
        }
    }
}

extension [UInt8] {
    fileprivate mutating func dropTrailingWhiteSpace() {
        while let last, [0x20, 0x09, 0x0A, 0x0D].contains(last) { removeLast() }
    }
}
