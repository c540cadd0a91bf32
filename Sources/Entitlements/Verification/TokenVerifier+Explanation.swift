extension TokenVerifier {
    /// Explains the result that `verify` would have for a token at `now`. Nothing is stored.
    package func explain(_ bytes: [UInt8], now: Int64) -> TokenExplanation {
        SealedToken.looksSealed(bytes) ? explainSealed(bytes, now: now) : explainCompact(bytes, now: now)
    }

    private func explainCompact(_ bytes: [UInt8], now: Int64) -> TokenExplanation {
        var builder = TokenExplanationBuilder()
        builder.valuesOfRefusal = { Self.values(ofUnparsed: bytes, refusedFor: $0) }
        guard let token = builder.step(.form, { () throws(EntitlementError) in try Token(parsing: bytes) }) else {
            return builder.finish()
        }
        builder.values = values(of: token, now: now)
        builder.valuesOfRefusal = { [self] error in
            values(of: token, refusedFor: error) { node, _ in ExplainedText.shown(node) }
        }
        if let key = sessionKey(of: token) { return explainSession(token, key, now: now, &builder) }
        guard
            let (issuer, key) = builder.step(.key, { () throws(EntitlementError) in try issuerAndKey(of: token) })
        else { return builder.finish() }
        _ = builder.step(.keyState) { () throws(EntitlementError) in try key.state.check(now: now) }
        let isPinned: Void? = builder.step(.algorithm) { () throws(EntitlementError) in
            guard token.algorithm == key.algorithm else { throw .algorithmNotPinned }
        }
        guard isPinned != nil else { return builder.finish() }
        let isSigned: Void? = builder.step(.signature) { () throws(EntitlementError) in
            guard key.isValidSignature(of: token) else { throw .signatureInvalid }
        }
        guard isSigned != nil else { return builder.finish() }
        return explainPayload(of: token, by: issuer, key, now: now, &builder)
    }

    /// Explains a session token. Its key determines the issuer and the audience, and this server has chosen its life,
    /// so these checks always pass.
    private func explainSession(
        _ token: Token, _ key: SessionTokens.Key, now: Int64, _ builder: inout TokenExplanationBuilder
    ) -> TokenExplanation {
        _ = builder.step(.key) {}
        _ = builder.step(.keyState) {}
        let isPinned: Void? = builder.step(.algorithm) { () throws(EntitlementError) in
            guard token.algorithm == .hs256 else { throw .algorithmNotPinned }
        }
        guard isPinned != nil else { return builder.finish() }
        let isSigned: Void? = builder.step(.signature) { () throws(EntitlementError) in
            guard key.isValidSignature(of: token) else { throw .signatureInvalid }
        }
        guard isSigned != nil else { return builder.finish() }
        var payload: ClaimObject?
        let times = builder.step(.time) { () throws(EntitlementError) in
            let claims = try TokenPayload.read(token)
            payload = claims
            let times = try TokenTimes(of: claims)
            try checkSession(times, now: now)
            return times
        }
        guard let payload, let times = times ?? (try? TokenTimes(of: payload)) else { return builder.finish() }
        _ = builder.step(.life) {}
        _ = builder.step(.issuerAndAudience) {}
        return explainClaims(&builder) { () throws(EntitlementError) in
            try Claims(session: payload, signedBy: key.id, times: times, issuers: issuers)
        }
    }

    /// Explains a payload whose signature is valid. From here on, each check runs even if an earlier one has failed.
    private func explainPayload(
        of token: Token, by issuer: Issuer, _ key: VerificationKey, now: Int64, _ builder: inout TokenExplanationBuilder
    ) -> TokenExplanation {
        var payload: ClaimObject?
        let times = builder.step(.time) { () throws(EntitlementError) in
            let claims = try TokenPayload.read(token)
            payload = claims
            let times = try TokenTimes(of: claims, in: issuer.dialect)
            try times.check(now: now, leeway: leeway)
            return times
        }
        guard let payload, let times = times ?? (try? TokenTimes(of: payload, in: issuer.dialect)) else {
            return builder.finish()
        }
        _ = builder.step(.life) { () throws(EntitlementError) in try checkLife(times, of: issuer, now: now) }
        _ = builder.step(.issuerAndAudience) { () throws(EntitlementError) in
            try TokenPayload.check(payload, against: issuer, keyID: key.id)
        }
        let verified = Claims.Verified(issuer: issuer, keyID: key.id, keyEnd: key.state.end, times: times)
        var explanation = explainClaims(&builder) { () throws(EntitlementError) in try Claims(payload, verified) }
        // The other dialects refuse claims that they do not know.
        if issuer.dialect == .jwt { explanation.ignored = IgnoredClaim.all(in: payload) }
        return explanation
    }

    private func explainSealed(_ bytes: [UInt8], now: Int64) -> TokenExplanation {
        var builder = TokenExplanationBuilder()
        guard let token = builder.step(.form, { () throws(EntitlementError) in try SealedToken(parsing: bytes) }) else {
            return builder.finish()
        }
        builder.values[.key] = sealingKeyValues(of: token)
        guard
            let entry = builder.step(.key, { () throws(EntitlementError) in try sealingEntry(of: token) })
        else { return builder.finish() }
        _ = builder.step(.keyState) { () throws(EntitlementError) in try entry.key.state.check(now: now) }
        _ = builder.step(.algorithm) {}
        guard
            let contents = builder.step(.signature, { () throws(EntitlementError) in try token.open(with: entry.key) })
        else { return builder.finish() }
        if let times = try? contents.times() { add(times, entry.issuer, now: now, to: &builder.values) }
        let checkedTimes = builder.step(.time) { () throws(EntitlementError) in
            let times = try contents.times()
            try times.check(now: now, leeway: leeway)
            return times
        }
        guard let times = checkedTimes ?? (try? contents.times()) else { return builder.finish() }
        _ = builder.step(.life) { () throws(EntitlementError) in try checkLife(times, of: entry.issuer, now: now) }
        // The sealing key determines both.
        _ = builder.step(.issuerAndAudience) {}
        let verified = Claims.Verified(
            issuer: entry.issuer, keyID: "\(token.keyID)", keyEnd: entry.key.state.end, times: times)
        return explainClaims(&builder) { () throws(EntitlementError) in try Claims(sealed: contents, verified) }
    }

    private func explainClaims(
        _ builder: inout TokenExplanationBuilder, _ read: () throws(EntitlementError) -> Claims
    ) -> TokenExplanation {
        guard let claims = builder.step(.claims, read) else { return builder.finish() }
        _ = builder.step(.restrictions) { () throws(EntitlementError) in try claims.refuseUnenforced(enforced) }
        return builder.finish(claims)
    }
}
