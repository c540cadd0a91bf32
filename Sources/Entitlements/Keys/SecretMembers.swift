import ByteCoding
import KeyCrypto

/// A JSON text whose members `k` (RFC 7518, section 6.4.1) were taken out before any reader makes strings of them.
///
/// In `bytes` zeros stand in place of each such value, so that every other place stays where it was.
struct SecretMembers {
    private(set) var bytes: [UInt8]
    private var secrets: [Int: SharedSecret] = [:]

    private static let quote = UInt8(ascii: "\"")
    private static let backslash = UInt8(ascii: "\\")

    init(hiding text: borrowing SecretBytes) {
        bytes = text.revealed()
        var offset = 0
        while let name = Self.string(in: bytes, from: offset) {
            offset = name.upperBound + 1
            guard bytes[name].elementsEqual([UInt8(ascii: "k")]), let value = Self.value(in: bytes, from: offset) else {
                continue
            }
            take(value)
            offset = value.upperBound + 1
        }
    }

    /// The secret of a string that begins, with its quote, at this place; nil where it was no canonical base64url.
    func secret(at position: TextPosition) -> SharedSecret? {
        secrets[position.byteOffset]
    }

    private mutating func take(_ value: Range<Int>) {
        var decoded = (try? Base64URL.decode(bytes[value])) ?? []
        if !decoded.isEmpty { secrets[value.lowerBound - 1] = SharedSecret(SecretBytes(copying: decoded)) }
        decoded.overwrite()
        for offset in value { bytes[offset] = UInt8(ascii: "0") }
    }

    /// What lies between the next two quotes that no backslash hides.
    private static func string(in bytes: [UInt8], from offset: Int) -> Range<Int>? {
        guard let opening = bytes[offset...].firstIndex(of: quote) else { return nil }
        var end = opening + 1
        while end < bytes.count, bytes[end] != quote { end += bytes[end] == backslash ? 2 : 1 }
        return end < bytes.count ? opening + 1..<end : nil
    }

    /// The string behind a colon, where one follows.
    private static func value(in bytes: [UInt8], from offset: Int) -> Range<Int>? {
        var next = offset
        var sawColon = false
        while next < bytes.count, [0x20, 0x09, 0x0A, 0x0D, UInt8(ascii: ":")].contains(bytes[next]) {
            if bytes[next] == UInt8(ascii: ":") { sawColon = true }
            next += 1
        }
        guard sawColon, next < bytes.count, bytes[next] == quote else { return nil }
        return string(in: bytes, from: next)
    }
}

extension [UInt8] {
    /// Overwrites the bytes of a copy that is not needed any more.
    fileprivate mutating func overwrite() {
        for index in indices { self[index] = 0 }
    }
}
