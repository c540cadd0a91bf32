/// The elements of a `Forwarded` field (RFC 7239 section 4): `for=192.0.2.1;proto=https, for="[2001:db8::1]:4711"`.
struct ForwardedElements: Equatable {
    /// Of each element the value of `for`, without quotation marks; nil if it has none, has two, or is malformed.
    let clients: [Substring?]

    init(_ field: String) {
        clients = Self.split(field[...], at: ",").map { element in
            var client: Substring?
            for pair in Self.split(element, at: ";") {
                let parts = Self.trim(pair).split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                guard parts.count == 2 else { return nil }
                guard parts[0].lowercased() == "for" else { continue }
                guard client == nil, let value = Self.unquoted(parts[1]) else { return nil }
                client = value
            }
            return client
        }
    }

    /// The parts between separators that do not stand in quotation marks.
    private static func split(_ text: Substring, at separator: Character) -> [Substring] {
        var parts: [Substring] = []
        var (start, isQuoted, isEscaped) = (text.startIndex, false, false)
        for index in text.indices {
            switch text[index] {
            case _ where isEscaped: isEscaped = false
            case "\\" where isQuoted: isEscaped = true
            case "\"": isQuoted.toggle()
            case separator where !isQuoted:
                parts.append(text[start..<index])
                start = text.index(after: index)
            default: break  // A character of a part.
            }
        }
        return parts + [text[start...]]
    }

    /// A token as it is, or what quotation marks enclose. No address needs a backslash.
    private static func unquoted(_ value: Substring) -> Substring? {
        guard value.first == "\"" else { return value.contains("\"") ? nil : value }
        guard value.count >= 2, value.last == "\"" else { return nil }
        let text = value.dropFirst().dropLast()
        return text.contains { $0 == "\\" || $0 == "\"" } ? nil : text
    }

    private static func trim(_ text: Substring) -> Substring {
        var rest = text.drop { $0 == " " || $0 == "\t" }
        while let last = rest.last, last == " " || last == "\t" { rest.removeLast() }
        return rest
    }
}
