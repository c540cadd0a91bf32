import ByteCoding

/// Turns tokens into claims, for the issuers of one configuration.
///
/// The key that a token names decides everything else: its issuer, its algorithm, and the dialect in which it is read.
/// Where a token was presented decides nothing.
package struct TokenVerifier: Sendable {
    let issuers: IssuerSet
    let enforced: Set<Restriction>
    /// Nil if this server gives no session tokens, and takes none.
    package let sessions: SessionTokens?

    /// A token that demands what is not `enforced` is refused.
    package init(
        issuers: IssuerSet, enforced: Set<Restriction> = Restriction.enforced, sessions: SessionTokens? = nil
    ) {
        self.issuers = issuers
        self.enforced = enforced
        self.sessions = sessions
    }

    /// Verifies a compact or a sealed token at `now`, in seconds since 1970.
    ///
    /// Checks in this order: form, key id and state, algorithm, signature, times, issuer, audience, then the rest of
    /// the claims. Nothing of the payload is read before the signature holds, but the key id of an Axinom token. Throws
    /// every case of `EntitlementError` up to `claimUnsupported`.
    package func verify(_ bytes: [UInt8], now: Int64) throws(EntitlementError) -> Claims {
        let claims =
            if SealedToken.looksSealed(bytes) {
                try open(SealedToken(parsing: bytes), now: now)
            } else {
                try verify(Token(parsing: bytes), now: now)
            }
        try claims.refuseUnenforced(enforced)
        return claims
    }

    /// Checks what time alone can change of claims that were verified before: their own times, and the retirement of
    /// their key.
    func check(_ claims: Claims, now: Int64) throws(EntitlementError) {
        if let end = claims.keyEnd, now >= end { throw .keyRetired }
        if claims.renewal != nil { return try checkSession(claims.times, now: now) }
        try claims.times.check(now: now, leeway: issuers.leeway)
    }

    // MARK: Compact tokens

    private func verify(_ token: Token, now: Int64) throws(EntitlementError) -> Claims {
        if let key = sessionKey(of: token) { return try verify(token, signedBy: key, now: now) }
        let (issuer, key) = try issuerAndKey(of: token)
        try key.state.check(now: now)
        guard token.algorithm == key.algorithm else { throw .algorithmNotPinned }
        guard key.isValidSignature(of: token) else { throw .signatureInvalid }

        let claims = try TokenPayload.read(token)
        let times = try TokenTimes(of: claims, in: issuer.dialect)
        try check(times, of: issuer, now: now)
        try TokenPayload.check(claims, against: issuer, keyID: key.id)
        let verified = Claims.Verified(issuer: issuer, keyID: key.id, keyEnd: key.state.end, times: times)
        return try Claims(claims, verified)
    }

    /// The key that the header names; or, without a name there, the one that the payload of an Axinom token names.
    func issuerAndKey(of token: Token) throws(EntitlementError) -> (Issuer, VerificationKey) {
        if let keyID = token.keyID {
            guard let entry = issuers.entry(forKeyID: keyID) else { throw .keyUnknown }
            return (entry.issuer, entry.key)
        }
        guard issuers.dialects.contains(.axinom), let keyID = TokenPayload.axinomKeyID(of: token),
            let entry = issuers.entry(forKeyID: keyID), entry.issuer.dialect == .axinom
        else { throw .keyUnknown }
        return (entry.issuer, entry.key)
    }

    private func check(_ times: TokenTimes, of issuer: Issuer, now: Int64) throws(EntitlementError) {
        try times.check(now: now, leeway: leeway)
        try checkLife(times, of: issuer, now: now)
    }

    /// By how many seconds times may be missed.
    var leeway: Int64 { issuers.leeway }

    func checkLife(_ times: TokenTimes, of issuer: Issuer, now: Int64) throws(EntitlementError) {
        guard let maximum = issuer.maximumLife else { return }
        switch issuer.dialect {
        case .jwt, .expressPlay: try times.checkLife(maximum: maximum)
        case .nagra, .axinom: try times.checkRemainingLife(maximum: maximum, now: now)
        }
    }

    // MARK: Sealed tokens

    private func open(_ token: SealedToken, now: Int64) throws(EntitlementError) -> Claims {
        let entry = try sealingEntry(of: token)
        try entry.key.state.check(now: now)
        let contents = try token.open(with: entry.key)
        let times = try contents.times()
        try check(times, of: entry.issuer, now: now)
        let verified = Claims.Verified(
            issuer: entry.issuer, keyID: "\(token.keyID)", keyEnd: entry.key.state.end, times: times)
        return try Claims(sealed: contents, verified)
    }

    func sealingEntry(of token: SealedToken) throws(EntitlementError) -> IssuerSet.SealingEntry {
        guard let entry = issuers.sealingEntry(forKeyID: token.keyID) else { throw .keyUnknown }
        return entry
    }
}
