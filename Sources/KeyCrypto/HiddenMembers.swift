/// A line of JSON whose members of certain names were taken out before any reader makes strings of them.
///
/// In `bytes` zeros stand in place of each such text, so that every other place stays where it was. A name that is spelled with escapes
/// is not found; readers must refuse it.
package struct HiddenMembers: ~Copyable {
    package private(set) var bytes: [UInt8]
    /// The hidden texts as they stand in the line, by their members' names.
    package private(set) var texts: [String: SharedSecret] = [:]

    private static let quote = UInt8(ascii: "\"")
    private static let backslash = UInt8(ascii: "\\")

    package init(_ names: [String], in line: [UInt8]) {
        bytes = line
        var offset = 0
        while let name = Self.string(in: bytes, from: offset) {
            offset = name.upperBound + 1
            guard let known = names.first(where: { bytes[name].elementsEqual($0.utf8) }),
                let value = Self.value(in: bytes, from: offset)
            else { continue }
            if !value.isEmpty { texts[known] = SharedSecret(SecretBytes(copying: Array(bytes[value]))) }
            for place in value { bytes[place] = UInt8(ascii: "0") }
            offset = value.upperBound + 1
        }
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
