import ByteCoding

/// Finds the one token of a request.
package struct TokenFinder: Equatable, Sendable {
    /// The most tokens of one list.
    package static let listCountMaximum = 8

    private let ignored: Set<TokenSource>
    private let headerNames: [String]
    /// Whether a token within the body of a request counts, so that a request without a token in its head is not
    /// refused before its body has come.
    package let readsBody: Bool

    /// `headerNames` are further headers whose whole value is a token; `ignored` sources are not looked at.
    package init(ignoring ignored: Set<TokenSource> = [], headerNames: [String] = [], readsBody: Bool = false) {
        self.ignored = ignored
        self.headerNames = headerNames
        self.readsBody = readsBody && !ignored.contains(.body)
    }

    /// The names of all header fields in which a token may come.
    package var fieldNames: Set<String> {
        let sources = TokenSource.allCases.filter { !ignored.contains($0) }
        return Set(sources.flatMap { $0 == .headers ? headerNames : $0.header.map { [$0] } ?? [] })
    }

    /// The token that the request presents; nil if it presents no token.
    ///
    /// The same token in several places is one, found in the first of them. Throws `tokenAmbiguous` for two that
    /// differ, because it is not clear which one was meant, and `tokenMalformed` for a list that is too long.
    package func token(in carriers: TokenCarriers) throws(EntitlementError) -> PresentedToken? {
        let pairs = QueryPairs(carriers.query)
        var found: PresentedToken?
        for source in TokenSource.allCases where !ignored.contains(source) {
            for tokens in try presented(by: source, in: carriers, pairs) {
                let presented = PresentedToken(source: source, tokens: tokens)
                found =
                    try found.map { (first) throws(EntitlementError) in try first.joined(with: presented) } ?? presented
            }
        }
        return found
    }

    /// The places in which the request presents tokens, for people: names of headers and of members of the query.
    package func places(in carriers: TokenCarriers) -> [String] {
        let pairs = QueryPairs(carriers.query)
        var places: [String] = []
        for source in TokenSource.allCases where !ignored.contains(source) {
            let headers = source == .headers ? headerNames : source.header.map { [$0] } ?? []
            places += headers.filter { !carriers.fieldValues($0).isEmpty }
            places += source.queryNames.filter { !pairs.values($0).isEmpty }.map { "?\($0)=" }
            if source == .body, carriers.bodyToken != nil { places.append("token in the body") }
        }
        return places
    }

    /// Whether a value of a header in which no token is looked for looks like a token: a JWT, with or without a scheme.
    package static func looksLikeToken(_ value: String) -> Bool {
        let last = value.utf8.split(separator: UInt8(ascii: " ")).last ?? []
        return last.starts(with: "eyJ".utf8) && last.count { $0 == UInt8(ascii: ".") } == 2
    }

    /// Every token, or list of them, that a source presents; none of them is empty.
    private func presented(
        by source: TokenSource, in carriers: TokenCarriers, _ pairs: QueryPairs
    ) throws(EntitlementError) -> [[[UInt8]]] {
        let single: [[UInt8]]
        switch source {
        case .bearer: single = fields(of: source, in: carriers).compactMap(Self.bearerToken)
        case .nvAuthorizations: return try Self.list(fields(of: source, in: carriers))
        case .axinomMessage, .drmToday, .drmCloud, .expressPlay:
            single = fields(of: source, in: carriers).map { Array($0.utf8) } + source.queryNames.flatMap(pairs.values)
        case .headers: single = headerNames.flatMap(carriers.fieldValues).map { Array($0.utf8) }
        case .query: single = source.queryNames.flatMap(pairs.values)
        case .body: single = carriers.bodyToken.map { [$0] } ?? []
        }
        return single.filter { !$0.isEmpty }.map { [$0] }
    }

    private func fields(of source: TokenSource, in carriers: TokenCarriers) -> [String] {
        source.header.map(carriers.fieldValues) ?? []
    }

    /// The scheme in any case, spaces, the token (RFC 6750, section 2.1).
    private static func bearerToken(of value: String) -> [UInt8]? {
        let scheme = "bearer".utf8
        // Bit 5 is what tells the cases of a letter apart.
        guard value.utf8.count > scheme.count, zip(value.utf8, scheme).allSatisfy({ $0 | 0x20 == $1 }) else {
            return nil
        }
        let rest = value.utf8.dropFirst(scheme.count)
        guard rest.first == UInt8(ascii: " ") else { return nil }
        return Array(rest.drop { $0 == UInt8(ascii: " ") })
    }

    /// All fields of the name as one list (RFC 9110, section 5.3). Some clients write commas as %2C.
    private static func list(_ values: [String]) throws(EntitlementError) -> [[[UInt8]]] {
        var tokens: [[UInt8]] = []
        for value in values {
            for part in PercentEncoding.decodeLeniently(Array(value.utf8)).split(separator: UInt8(ascii: ",")) {
                let token = Array(part.trimmingSpaces())
                if !token.isEmpty, !tokens.contains(token) { tokens.append(token) }
                guard tokens.count <= listCountMaximum else { throw .tokenMalformed(.notThreeParts) }
            }
        }
        return tokens.isEmpty ? [] : [tokens]
    }
}

extension PresentedToken {
    /// One of two that are the same, or of which one is a list that has the other in it. Throws `tokenAmbiguous` for
    /// any others.
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

/// The pairs of a query, decoded. "+" is no space: it may be a letter of a token. Names are compared byte for byte.
package struct QueryPairs {
    private let pairs: [(name: [UInt8], value: [UInt8])]

    package init(_ query: String?) {
        pairs = (query ?? "").utf8.split(separator: UInt8(ascii: "&")).compactMap { pair in
            let parts = pair.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2 else { return nil }
            return (PercentEncoding.decodeLeniently(Array(parts[0])), PercentEncoding.decodeLeniently(Array(parts[1])))
        }
    }

    /// How many pairs there are.
    package var count: Int { pairs.count }

    /// The values of all pairs of a name.
    package func values(_ name: String) -> [[UInt8]] {
        pairs.filter { $0.name.elementsEqual(name.utf8) }.map(\.value)
    }
}
