import ByteCoding

/// The values of a token that explanations show. If the token does not verify, the values may be forged.
extension TokenVerifier {
    func values(of token: Token, now: Int64) -> [TokenExplanation.Check: CheckedValues] {
        let claims = try? TokenPayload.read(token)
        let entry = try? issuerAndKey(of: token)
        var values: [TokenExplanation.Check: CheckedValues] = [:]
        values[.key] = keyValues(of: token)
        if let (_, key) = entry {
            values[.keyState] = CheckedValues(found: key.state.words, expected: "active")
        }
        values[.algorithm] = algorithmValues(of: token, entry?.1)
        guard let claims else { return values }
        values[.issuerAndAudience] = issuerValues(of: claims, entry?.0)
        let dialect = entry?.0.dialect ?? .jwt
        if let times = try? TokenTimes(of: claims, in: dialect) { add(times, entry?.0, now: now, to: &values) }
        return values
    }

    /// The key id that a token names, and those that are configured.
    func keyValues(of token: Token) -> CheckedValues {
        guard let named = token.keyID ?? TokenPayload.axinomKeyID(of: token) else { return unnamedKeyValues(of: token) }
        // A key without an entry for the token is one whose issuer is not known.
        let isDisputed = issuers.entry(forKeyID: named) != nil
        let words = "kid \(ExplainedText.shown(named))"
        return CheckedValues(
            found: isDisputed && (try? issuerAndKey(of: token)) == nil
                ? "\(words) of several issuers, and no iss that names one" : words,
            expected: ExplainedText.list(issuers.issuers.flatMap { $0.keys.map(\.id) }))
    }

    /// The same of a token that names no key.
    private func unnamedKeyValues(of token: Token) -> CheckedValues {
        let name = (try? TokenPayload.read(token))?["iss"]?.string
        let keys = name.map { issuers.entries(named: $0, token.algorithm).map(\.key.id) } ?? []
        let algorithm = token.algorithm.rawValue
        return CheckedValues(
            found: keys.isEmpty
                ? "no kid, and no iss that names an issuer with a key for \(algorithm)"
                : "no kid, and the issuer has for \(algorithm): \(ExplainedText.list(keys))",
            expected: "a kid, or an iss whose issuer has one key for \(algorithm)")
    }

    /// The same of a sealed token.
    func sealingKeyValues(of token: SealedToken) -> CheckedValues {
        CheckedValues(
            found: "key \(token.keyID)",
            expected: ExplainedText.list(issuers.issuers.flatMap { $0.sealingKeys.map { "\($0.id)" } }))
    }

    func algorithmValues(of token: Token, _ key: VerificationKey?) -> CheckedValues {
        CheckedValues(
            found: token.algorithm.rawValue,
            expected: sessionKey(of: token) == nil ? key?.algorithm.rawValue : SigningAlgorithm.hs256.rawValue)
    }

    /// When a token may be presented, and the time by which it was judged.
    func timeValues(of times: TokenTimes, now: Int64) -> CheckedValues {
        let named = [("from", times.notBefore), ("issued", times.issuedAt), ("until", times.expiresAt)]
        let words = named.compactMap { name, date in date.map { "\(name) \(ExplainedText.time($0.up))" } }
        return CheckedValues(
            found: words.joined(separator: ", "), expected: "\(ExplainedText.time(now)), within \(leeway) s")
    }

    func add(
        _ times: TokenTimes, _ issuer: Issuer?, now: Int64, to values: inout [TokenExplanation.Check: CheckedValues]
    ) {
        values[.time] = timeValues(of: times, now: now)
        let beginning = times.issuedAt ?? times.notBefore
        values[.life] = CheckedValues(
            found: beginning.map { "\(times.expiresAt.up - $0.down) s" } ?? "no beginning",
            expected: issuer?.maximumLife.map { "at most \($0) s" })
    }

    private func issuerValues(of claims: ClaimObject, _ issuer: Issuer?) -> CheckedValues {
        func words(_ name: String) -> String? { claims[name].map { "\(name) \(ExplainedText.shown($0))" } }
        let names = issuer?.dialect == .axinom ? ["com_key_id"] : ["iss", "aud"]
        let found = names.compactMap(words)
        let expected = issuer.flatMap { issuer in
            issuer.dialect == .axinom
                ? nil : "iss \"\(ExplainedText.shown(issuer.name))\", aud \"\(ExplainedText.shown(issuer.audience))\""
        }
        return CheckedValues(
            found: found.isEmpty ? "neither iss nor aud" : found.joined(separator: ", "), expected: expected)
    }
}

extension KeyState {
    var words: String {
        switch self {
        case .next: "next"
        case .active: "active"
        case .retiring(let end): "retiring until \(ExplainedText.time(end))"
        case .revoked: "revoked"
        }
    }
}

extension EntitlementError {
    /// The claim because of which a token is refused; nil if the refusal is not about one claim.
    var claimName: String? {
        switch self {
        case .claimInvalid(let name), .claimUnsupported(let name): name
        default: nil  // Only the two cases above name a claim.
        }
    }
}
