package import ByteCoding

/// Something like a token in a place, or in a form, in which the server reads none.
package struct StrayToken: Equatable, Sendable {
    /// The raw values are words for messages.
    package enum Place: String, Sendable {
        case header
        case parameter
    }

    package let place: Place
    /// The name of the header or parameter as the client has sent it, of at most `nameSizeMaximum` bytes.
    package let name: String
    /// Whether tokens are read there, so that only the form is wrong.
    package let isRead: Bool
    package let isQuoted: Bool
    /// The parameter that is read, if its name differs from `name` only in case.
    package let rightName: String?

    static let nameSizeMaximum = 64
}

extension TokenFinder {
    /// Returns the first header or parameter with something like a token that explains a refusal.
    ///
    /// Without a token, that is any place. If the request has a token that cannot be read (`isFound`), it is a place
    /// that is read, with more than a token in it, such as quotes.
    package func stray(
        in fields: some Sequence<(String, String)>, query: QueryPairs, isFound: Bool
    ) -> StrayToken? {
        let names = Set(fieldNames.map { $0.lowercased() })
        for (name, value) in fields where name.utf8.count <= StrayToken.nameSizeMaximum {
            let lowercased = name.lowercased()
            // Cookies belong to the web page, which may have tokens for other services.
            guard lowercased != "cookie", let form = TokenForm(value) else { continue }
            let isRead = names.contains(lowercased)
            guard !isFound || (isRead && !form.isReadable(after: lowercased == "authorization" ? 1 : 0)) else {
                continue
            }
            return StrayToken(place: .header, name: name, isRead: isRead, isQuoted: form.isQuoted, rightName: nil)
        }
        return strayParameter(of: query, isFound: isFound)
    }

    private func strayParameter(of query: QueryPairs, isFound: Bool) -> StrayToken? {
        let names = queryNames
        for pair in query.all where pair.name.count <= StrayToken.nameSizeMaximum {
            guard !pair.value.isEmpty, let name = String(validating: pair.name, as: UTF8.self) else { continue }
            let form = TokenForm(String(decoding: pair.value, as: UTF8.self))
            let isRead = names.contains(name)
            let rightName = isRead ? nil : names.first { $0.lowercased() == name.lowercased() }
            guard isFound ? isRead && form?.isReadable(after: 0) == false : form != nil || rightName != nil else {
                continue
            }
            return StrayToken(
                place: .parameter, name: name, isRead: isRead, isQuoted: form?.isQuoted ?? false, rightName: rightName)
        }
        return nil
    }
}

/// How a JWT stands in a value: alone, in quotes, or after words such as an authentication scheme.
private struct TokenForm {
    private static let wordsSizeMaximum = 64

    let isQuoted: Bool
    private let wordCount: Int

    /// Nil if the value does not end with a JWT, or has anything but a few words before it. So an address with a token
    /// in its query is none.
    init?(_ value: String) {
        guard let end = value.utf8.lastIndex(where: { !Self.isMark($0) }) else { return nil }
        let rest = value.utf8[...end]
        let dot = UInt8(ascii: ".")
        let mark = rest.lastIndex { !Self.isLetter($0) && $0 != dot }
        let token = rest[(mark.map { rest.index(after: $0) } ?? rest.startIndex)...]
        let words = rest[..<token.startIndex]
        guard token.starts(with: "eyJ".utf8), token.count(where: { $0 == dot }) == 2,
            words.count <= Self.wordsSizeMaximum, words.allSatisfy({ Self.isLetter($0) || Self.isMark($0) })
        else { return nil }
        isQuoted = words.last.map(Self.isQuote) ?? false || value.utf8.last.map(Self.isQuote) ?? false
        wordCount = words.split(whereSeparator: Self.isMark).count
    }

    /// Whether the token is read after so many words.
    func isReadable(after count: Int) -> Bool {
        !isQuoted && wordCount == count
    }

    /// The letters of words, and of base64url.
    private static func isLetter(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
            true
        default: false
        }
    }

    /// What stands between words and around tokens.
    private static func isMark(_ byte: UInt8) -> Bool {
        isQuote(byte) || byte == UInt8(ascii: " ") || byte == UInt8(ascii: "=") || byte == UInt8(ascii: ":")
    }

    private static func isQuote(_ byte: UInt8) -> Bool { byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") }
}
