import ByteCoding
package import KeyCrypto

/// Secrets of a fixed size as they lie in files.
package enum EncodedSecret {
    /// The secret of `size` bytes that `contents` spell: as hexadecimal digits, as padded Base64, each with white space
    /// behind it at most, or raw.
    ///
    /// Nil for anything else, and for raw bytes that are all hexadecimal digits: they are a key of half the size,
    /// written out.
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

    /// The secret that padded Base64 spells, with white space behind it at most; nil for anything else.
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
    /// Lends the bytes as an array to a reader that takes nothing else, and overwrites it afterwards; `body` must not
    /// keep it.
    package borrowing func withWipedArray<Result: ~Copyable, Failure: Error>(
        _ body: ([UInt8]) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        var bytes = revealed()
        defer { bytes.wipe() }
        return try body(bytes)
    }

    /// The bytes without one line end behind them, LF or CR LF; nil if nothing is left.
    borrowing func withoutLineEnd() -> SecretBytes? {
        withWipedArray { bytes in
            var text = bytes
            defer { text.wipe() }
            if text.last == 0x0A { text.removeLast() }
            if text.last == 0x0D { text.removeLast() }
            return text.isEmpty ? nil : SecretBytes(copying: text)
        }
    }

    /// Whether no line ends within.
    var isOneLine: Bool {
        withWipedArray { bytes in !bytes.contains(0x0A) && !bytes.contains(0x0D) }
    }

    /// The bytes without spaces, tabs and line ends behind them; nil if nothing is left.
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
