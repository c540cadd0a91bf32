/// A line of JSON from which the texts of certain members were removed before it is parsed.
///
/// In `bytes`, each such text is overwritten with the digit 0, so that the positions of all other bytes stay the same.
/// A member whose name has escapes is not found. Readers must refuse such a name.
package struct HiddenMembers: ~Copyable {
    package private(set) var bytes: [UInt8]
    /// The removed texts as they are in the line, by the names of their members.
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

/// Finds members of a JSON text whose values are strings, without making strings of them.
package enum JSONMemberScanner {
    private static let quote = UInt8(ascii: "\"")
    private static let backslash = UInt8(ascii: "\\")

    /// Returns the members with these names, in the order of the text. A value is the range between its quotes.
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

    /// Returns the range between the next two quotes that are not escaped.
    private static func string(in bytes: [UInt8], from offset: Int) -> Range<Int>? {
        guard let opening = bytes[offset...].firstIndex(of: quote) else { return nil }
        var end = opening + 1
        while end < bytes.count, bytes[end] != quote { end += bytes[end] == backslash ? 2 : 1 }
        return end < bytes.count ? opening + 1..<end : nil
    }

    /// Returns the string after a colon; nil if no colon and string follow.
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
