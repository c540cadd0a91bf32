/// A line of JSON whose members of certain names were taken out before any reader makes strings of them.
///
/// In `bytes` zeros stand in place of each such text, so that every other place stays where it was. A name that is
/// spelled with escapes is not found; readers must refuse it.
package struct HiddenMembers: ~Copyable {
    package private(set) var bytes: [UInt8]
    /// The hidden texts as they stand in the line, by their members' names.
    package private(set) var texts: [String: SharedSecret] = [:]

    package init(_ names: [String], in line: [UInt8]) {
        bytes = line
        for member in JSONMemberScanner.members(in: line, named: names) {
            if !member.value.isEmpty {
                texts[member.name] = SharedSecret(SecretBytes(copying: Array(line[member.value])))
            }
            for place in member.value { bytes[place] = UInt8(ascii: "0") }
        }
    }
}

/// Finds members of a JSON text whose values are strings, before any reader makes strings of them.
package enum JSONMemberScanner {
    private static let quote = UInt8(ascii: "\"")
    private static let backslash = UInt8(ascii: "\\")

    /// The members with these names, in the order of the text; a value is the range between its quotes.
    package static func members(in text: [UInt8], named names: [String]) -> [(name: String, value: Range<Int>)] {
        var found: [(name: String, value: Range<Int>)] = []
        var offset = 0
        while let name = string(in: text, from: offset) {
            offset = name.upperBound + 1
            guard let known = names.first(where: { text[name].elementsEqual($0.utf8) }),
                let value = value(in: text, from: offset)
            else { continue }
            found.append((known, value))
            offset = value.upperBound + 1
        }
        return found
    }

    /// What lies between the next two quotes that no backslash hides.
    private static func string(in bytes: [UInt8], from offset: Int) -> Range<Int>? {
        guard let opening = bytes[offset...].firstIndex(of: quote) else { return nil }
        var end = opening + 1
        while end < bytes.count, bytes[end] != quote { end += bytes[end] == backslash ? 2 : 1 }
        return end < bytes.count ? opening + 1..<end : nil
    }

    /// The string behind a colon, if one follows.
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
