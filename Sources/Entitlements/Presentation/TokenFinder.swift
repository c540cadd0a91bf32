import ByteCoding

/// Finds the one token of a request.
package struct TokenFinder: Equatable, Sendable {
    /// The most tokens in one list.
    package static let listCountMaximum = 8
    /// The most fields of one name. No client sends as many.
    package static let fieldCountMaximum = 8

    /// The sources that are searched, in their order.
    private let sources: [TokenSource]
    private let headerNames: [String]
    /// Whether a token in the body of a request counts.
    ///
    /// If so, a request without a token in its head is not refused until its body has arrived.
    package let readsBody: Bool

    /// `headerNames` are additional headers whose whole value is a token. Sources in `ignored` are not searched.
    package init(ignoring ignored: Set<TokenSource> = [], headerNames: [String] = [], readsBody: Bool = false) {
        sources = TokenSource.allCases.filter { !ignored.contains($0) }
        self.headerNames = headerNames
        self.readsBody = readsBody && !ignored.contains(.body)
    }

    /// The names of all header fields that can carry a token.
    package var fieldNames: Set<String> {
        Set(sources.flatMap { $0 == .headers ? headerNames : $0.header.map { [$0] } ?? [] })
    }

    /// The names of all parameters of the query that can carry a token.
    package var queryNames: [String] { sources.flatMap(\.queryNames) }

    /// Returns the token of a request; nil if the request has no token.
    ///
    /// If several places carry the same token, the first place is returned as its source. Throws `tokenAmbiguous` for
    /// two different tokens, because it is unclear which one counts, and `tokenMalformed` for a list that is too long
    /// or for too many fields of one name.
    package func token(in carriers: TokenCarriers) throws(EntitlementError) -> PresentedToken? {
        var found = FoundToken()
        for source in sources { try collect(from: source, in: carriers, into: &found) }
        return found.token
    }

    /// Returns the places in which the request carries tokens, as text for people: names of headers and of query
    /// parameters.
    package func places(in carriers: TokenCarriers) -> [String] {
        let pairs = carriers.query
        var places: [String] = []
        for source in sources {
            let headers = source == .headers ? headerNames : source.header.map { [$0] } ?? []
            places += headers.filter { !carriers.fieldValues($0).isEmpty }
            places += source.queryNames.filter { !pairs.values($0).isEmpty }.map { "?\($0)=" }
            if source == .body, carriers.bodyToken != nil { places.append("token in the body") }
        }
        return places
    }

    /// Adds the tokens and lists of tokens in a source.
    private func collect(
        from source: TokenSource, in carriers: TokenCarriers, into found: inout FoundToken
    ) throws(EntitlementError) {
        let fields = fields(of: source, in: carriers)
        guard fields.count <= Self.fieldCountMaximum else { throw .tokenMalformed(.notThreeParts) }
        switch source {
        case .bearer:
            for field in fields {
                if let token = Self.bearerToken(of: field) { try found.add(token, from: source) }
            }
        case .nvAuthorizations: try found.add(list: try Self.list(fields), from: source)
        case .headers:
            for name in headerNames {
                for field in carriers.fieldValues(name) { try found.add(Array(field.utf8), from: source) }
            }
        case .body:
            if let token = carriers.bodyToken { try found.add(token, from: source) }
        case .axinomMessage, .drmToday, .drmCloud, .expressPlay, .query:
            for field in fields { try found.add(Array(field.utf8), from: source) }
            for name in source.queryNames {
                for token in carriers.query.values(name) { try found.add(token, from: source) }
            }
        }
    }

    private func fields(of source: TokenSource, in carriers: TokenCarriers) -> [String] {
        source.header.map(carriers.fieldValues) ?? []
    }

    /// Returns the token after the scheme `Bearer`, which is compared without regard to case (RFC 6750, section 2.1).
    private static func bearerToken(of value: String) -> [UInt8]? {
        var value = value
        return value.withUTF8 { utf8 in
            // Safe: the bytes are read and copied while the text is borrowed.
            var rest = unsafe utf8[...]
            // Upper-case and lower-case letters differ in bit 5 only.
            for letter in "bearer".utf8 {
                guard let byte = unsafe rest.popFirst(), byte | 0x20 == letter else { return nil }
            }
            guard unsafe rest.first == UInt8(ascii: " ") else { return nil }
            return unsafe Array(rest.drop { $0 == UInt8(ascii: " ") })
        }
    }

    /// Reads all fields of a name as one list (RFC 9110, section 5.3). Some clients write commas as %2C.
    ///
    /// A token can be repeated, but a list of very many elements is refused, because a stranger may have sent it.
    private static func list(_ values: [String]) throws(EntitlementError) -> [[UInt8]] {
        var tokens: [[UInt8]] = []
        var rest = 8 * listCountMaximum
        for value in values {
            let bytes = PercentEncoding.decodeLeniently(Array(value.utf8))
            for part in bytes.split(separator: UInt8(ascii: ","), maxSplits: rest) {
                rest -= 1
                guard rest >= 0 else { throw .tokenMalformed(.notThreeParts) }
                let token = Array(part.trimmingSpaces())
                if !token.isEmpty, !tokens.contains(token) { tokens.append(token) }
                guard tokens.count <= listCountMaximum else { throw .tokenMalformed(.notThreeParts) }
            }
        }
        return tokens
    }
}

/// The token that the places looked at so far carry.
private struct FoundToken {
    private(set) var token: PresentedToken?

    /// Adds a token. An empty one counts as none.
    mutating func add(_ token: [UInt8], from source: TokenSource) throws(EntitlementError) {
        if !token.isEmpty { try add(list: [token], from: source) }
    }

    /// Adds a list of tokens. An empty one counts as none.
    mutating func add(list: [[UInt8]], from source: TokenSource) throws(EntitlementError) {
        guard !list.isEmpty else { return }
        let presented = PresentedToken(source: source, tokens: list)
        if let first = token { token = try first.joined(with: presented) } else { token = presented }
    }
}

extension PresentedToken {
    /// Returns the one that contains the other: both are equal, or one is a list that contains the other. Throws
    /// `tokenAmbiguous` otherwise.
    fileprivate func joined(with other: PresentedToken) throws(EntitlementError) -> PresentedToken {
        if tokens == other.tokens || (other.tokens.count == 1 && tokens.contains(other.tokens[0])) { return self }
        guard tokens.count == 1, other.tokens.contains(tokens[0]) else { throw .tokenAmbiguous }
        return other
    }
}

extension ArraySlice<UInt8> {
    fileprivate func trimmingSpaces() -> ArraySlice<UInt8> {
        func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }
        guard let end = lastIndex(where: { !isSpace($0) }) else { return [] }
        return self[...end].drop(while: isSpace)
    }
}
