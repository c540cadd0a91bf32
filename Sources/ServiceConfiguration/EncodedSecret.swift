import ByteCoding
package import KeyCrypto

/// Decodes the contents of files with secrets of a fixed size.
package enum EncodedSecret {
    /// Decodes a secret of `size` bytes: hexadecimal digits or padded Base64, both with optional white space at the
    /// end, or raw bytes.
    ///
    /// Returns nil for anything else. Raw bytes that are all hexadecimal digits are refused too, because they are
    /// probably a key of half the size.
    package static func decode(_ contents: borrowing SecretBytes, size: Int) -> SecretBytes? {
        contents.withWipedArray { bytes in
            if bytes.count == size {
                let isHexadecimal = bytes.allSatisfy { Character(UnicodeScalar($0)).isHexDigit }
                return isHexadecimal ? nil : SecretBytes(copying: bytes)
            }
            var text = bytes
            text.dropTrailingWhiteSpace()
            defer { text.wipe() }
            return text.count == size * 2
                ? secret(of: size, from: { () throws(TextCodingError) in try Hexadecimal.decode(text) })
                : secret(of: size, from: { () throws(TextCodingError) in try Base64.decode(text) })
        }
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
    borrowing func withoutTrailingWhiteSpace() -> SecretBytes? {
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
