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
    /// The text that stands there instead of a token, such as `undefined`; nil if something like a token does.
    package var placeholder: String?

    static let nameSizeMaximum = 64
}

extension TokenFinder {
    /// How many values that may be a token, or stand for one, are read. An honest request has one or two.
    private static let triesMaximum = 16

    /// Returns the header or parameter with something like a token that explains a refusal.
    ///
    /// Places that are read come first, then other parameters, then other headers, because gateways add headers with
    /// tokens of their own. If the request has a token that cannot be read (`isFound`), only places that are read
    /// count, with more than a token in them, such as quotes.
    package func stray(
        in fields: some Sequence<(name: ArraySlice<UInt8>, value: ArraySlice<UInt8>)>, query: QueryPairs, isFound: Bool
    ) -> StrayToken? {
        let names = fieldNames.map { Array($0.lowercased().utf8) }
        var other: StrayToken?
        var triesLeft = Self.triesMaximum
        for (name, value) in fields where name.count <= StrayToken.nameSizeMaximum {
            guard triesLeft > 0 else { break }
            let mayBegin = TokenForm.mayBegin(value)
            guard mayBegin || value.count <= StrayToken.placeholderSizeMaximum else { continue }
            let lowercased = { name.lazy.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 } }
            let isRead = names.contains { $0.count == name.count && lowercased().elementsEqual($0) }
            guard isRead || (mayBegin && !isFound && other == nil) else { continue }
            triesLeft -= 1
            let wordCount = isRead && lowercased().elementsEqual("authorization".utf8) ? 1 : 0
            if isRead, let text = StrayToken.placeholder(in: value, after: wordCount) {
                return StrayToken(.header, name, isRead: true, placeholder: text)
            }
            guard mayBegin else { continue }
            // Cookies belong to the web page, which may have tokens for other services.
            guard let form = TokenForm(value), !lowercased().elementsEqual("cookie".utf8) else { continue }
            guard isRead else {
                other = StrayToken(.header, name, isRead: false, isQuoted: form.isQuoted)
                continue
            }
            guard isFound && form.isReadable(after: wordCount) else {
                return StrayToken(.header, name, isRead: true, isQuoted: form.isQuoted)
            }
        }
        return strayParameter(of: query, isFound: isFound) ?? other
    }

    private func strayParameter(of query: QueryPairs, isFound: Bool) -> StrayToken? {
        let names = queryNames
        var triesLeft = Self.triesMaximum
        for pair in query.all where pair.name.count <= StrayToken.nameSizeMaximum && !pair.value.isEmpty {
            guard let name = String(validating: pair.name, as: UTF8.self) else { continue }
            let isRead = names.contains(name)
            if isRead, let text = StrayToken.placeholder(in: pair.value, after: 0) {
                return StrayToken(.parameter, pair.name, isRead: true, placeholder: text)
            }
            let rightName = isRead ? nil : names.first { $0.lowercased() == name.lowercased() }
            var form: TokenForm?
            if triesLeft > 0, TokenForm.mayBegin(pair.value) {
                triesLeft -= 1
                form = TokenForm(pair.value)
            }
            guard isFound ? isRead && form?.isReadable(after: 0) == false : form != nil || rightName != nil else {
                continue
            }
            return StrayToken(
                .parameter, pair.name, isRead: isRead, isQuoted: form?.isQuoted ?? false, rightName: rightName)
        }
        return nil
    }
}

extension StrayToken {
    /// The texts that programs write for a token that they do not have.
    private static let placeholders = ["undefined", "null", "(null)", "nil", "None", "[object Object]"]
    fileprivate static let placeholderSizeMaximum = 32

    fileprivate init(
        _ place: Place, _ name: ArraySlice<UInt8>, isRead: Bool, isQuoted: Bool = false, rightName: String? = nil,
        placeholder: String? = nil
    ) {
        self.init(
            place: place, name: String(decoding: name, as: UTF8.self), isRead: isRead, isQuoted: isQuoted,
            rightName: rightName, placeholder: placeholder)
    }

    /// The placeholder that a value is, alone or after this number of words; nil for other values.
    fileprivate static func placeholder(in value: ArraySlice<UInt8>, after wordCount: Int) -> String? {
        guard value.count <= placeholderSizeMaximum else { return nil }
        let rest = wordCount == 0 ? value : value.drop { $0 != 0x20 }.drop { $0 == 0x20 }
        return placeholders.first { value.elementsEqual($0.utf8) || rest.elementsEqual($0.utf8) }
    }
}

/// How a JWT stands in a value: alone, in quotes, or after words such as an authentication scheme.
private struct TokenForm {
    private static let wordsSizeMaximum = 64

    let isQuoted: Bool
    private let wordCount: Int

    /// Whether a token may begin in the value, after few words. It looks at few bytes.
    static func mayBegin(_ value: ArraySlice<UInt8>) -> Bool {
        // How many letters of `eyJ` stand before the next byte.
        var count = 0
        for byte in value.prefix(wordsSizeMaximum + 3) {
            switch (count, byte) {
            case (2, UInt8(ascii: "J")): return true
            case (1, UInt8(ascii: "y")): count = 2
            default: count = byte == UInt8(ascii: "e") ? 1 : 0
            }
        }
        return false
    }

    /// Nil if the value does not end with a JWT, or has anything but a few words before it. So an address with a token
    /// in its query is none.
    init?(_ value: ArraySlice<UInt8>) {
        guard let end = value.lastIndex(where: { !Self.isMark($0) }) else { return nil }
        let rest = value[...end]
        let dot = UInt8(ascii: ".")
        let mark = rest.lastIndex { !Self.isLetter($0) && $0 != dot }
        var token = rest[(mark.map { rest.index(after: $0) } ?? rest.startIndex)...]
        // Some clients encode the space.
        if let mark, rest[mark] == UInt8(ascii: "%"), token.starts(with: "20".utf8) { token = token.dropFirst(2) }
        let words = rest[..<token.startIndex]
        guard token.starts(with: "eyJ".utf8), token.count(where: { $0 == dot }) == 2,
            words.count <= Self.wordsSizeMaximum, words.allSatisfy({ Self.isLetter($0) || Self.isMark($0) })
        else { return nil }
        isQuoted = words.last.map(Self.isQuote) ?? false || value.last.map(Self.isQuote) ?? false
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
        isQuote(byte) || " \t=:%".utf8.contains(byte)
    }

    private static func isQuote(_ byte: UInt8) -> Bool { byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") }
}
