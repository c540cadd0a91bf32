import ByteCoding
import KeyCrypto

/// Verifies tokens and returns their claims, for the issuers of one configuration.
///
/// The key that a token names determines its issuer, its algorithm and its dialect. The place in the request from which
/// the token comes has no effect.
///
/// It is a class, so that a verification does not count references to each part of it.
package final class TokenVerifier: Sendable {
    let issuers: IssuerSet
    let enforced: Set<Restriction>
    /// The rules of session tokens; nil if this server does not use session tokens.
    package let sessions: SessionTokens?

    /// Makes a verifier. A token that demands a restriction which is not in `enforced` is refused.
    package init(
        issuers: IssuerSet, enforced: Set<Restriction> = Restriction.enforced, sessions: SessionTokens? = nil
    ) {
        self.issuers = issuers
        self.enforced = enforced
        self.sessions = sessions
    }

    /// Verifies a compact or a sealed token at `now`, in seconds since 1970.
    ///
    /// The order of the checks is: form, key ID and state, algorithm, signature, times, issuer, audience, then the
    /// other claims. Before the signature is verified, only the key ID of an Axinom token is read from the payload, and
    /// `iss` if the token names no key or several issuers have it. A verdict about the signature is used if it is of
    /// the token's key.
    ///
    /// Throws the cases of `EntitlementError` up to `claimUnsupported`, and `sessionEnded`, `tokenOfAnotherServer`,
    /// `sessionOfAnotherServer` and `cryptoFailed`.
    package func verify(_ bytes: [UInt8], now: Int64) throws(EntitlementError) -> Claims {
        try verify(bytes, now: now, knowing: nil)
    }

    func verify(
        _ bytes: [UInt8], now: Int64, knowing verdict: SignatureVerdict?
    ) throws(EntitlementError) -> Claims {
        let claims =
            if SealedToken.looksSealed(bytes) {
                try open(SealedToken(parsing: bytes), now: now)
            } else {
                try verify(Token(parsing: bytes), now: now, knowing: verdict)
            }
        try claims.refuseUnenforced(enforced)
        return claims
    }

    /// Returns the check of a token's signature if that is the next thing to do: if the token names one key that is
    /// good now, and both have the algorithm ES256.
    func es256Check(of bytes: [UInt8], now: Int64, using crypto: CryptoContext) -> ES256Check? {
        guard let (token, key) = es256Key(of: bytes, now: now) else { return nil }
        return ES256Check(token.signature[...], for: token.signedBytes, by: key, using: crypto)
    }

    /// Returns the only key that a token with the algorithm ES256 names, if it is good now.
    func es256Key(of bytes: [UInt8], now: Int64) -> (Token, ES256PublicKey)? {
        guard !SealedToken.looksSealed(bytes), let token = try? Token(parsing: bytes), token.algorithm == .es256,
            sessionKey(of: token) == nil, let key = onlyKey(of: token),
            let publicKey = key.es256, (try? key.state.check(now: now)) != nil
        else { return nil }
        return (token, publicKey)
    }

    private func onlyKey(of token: Token) -> VerificationKey? {
        guard let keyID = token.keyID else { return try? issuerAndOnlyKey(of: token, notesUnknownKey: false).1 }
        return issuers.onlyKey(forKeyID: keyID)
    }

    /// Checks claims that were verified before. Only their times and the retirement of their key are checked, because
    /// only these depend on the time.
    func check(_ claims: Claims, now: Int64) throws(EntitlementError) {
        if let end = claims.keyEnd, now >= end { throw .keyRetired }
        if claims.renewal != nil { return try checkSession(claims.times, now: now) }
        try claims.times.check(now: now, leeway: issuers.leeway)
    }

    // MARK: Compact tokens

    private func verify(
        _ token: Token, now: Int64, knowing verdict: SignatureVerdict?
    ) throws(EntitlementError) -> Claims {
        if let key = sessionKey(of: token) { return try verify(token, signedBy: key, now: now) }
        let (issuer, key) = try issuerAndKey(of: token, notesUnknownKey: true)
        try key.state.check(now: now)
        guard token.algorithm == key.algorithm else { throw .algorithmNotPinned }
        do throws(EntitlementError) {
            try key.checkSignature(of: token, knowing: verdict)
        } catch {
            // The issuer may have replaced its only key. A token with `kid` would have named the new one.
            if error == .signatureInvalid, token.keyID == nil { issuers.unknownKeys.note(issuer.dialect) }
            throw error
        }

        let claims = try TokenPayload.read(token)
        let times = try TokenTimes(of: claims, in: issuer.dialect)
        try check(times, of: issuer, now: now)
        try TokenPayload.check(claims, against: issuer, keyID: key.id)
        let verified = Claims.Verified(issuer: issuer, keyID: key.id, keyEnd: key.state.end, times: times)
        return try Claims(claims, verified)
    }

    /// Returns the key that the header names. If the header names no key, returns the key that the payload of an Axinom
    /// token names, or the only one that the issuer in `iss` has for the algorithm. `notesUnknownKey` says that an
    /// unknown key is a reason to fetch keys.
    func issuerAndKey(
        of token: Token, notesUnknownKey: Bool = false
    ) throws(EntitlementError) -> (Issuer, VerificationKey) {
        if let keyID = token.keyID {
            guard let entry = issuers.entry(forKeyID: keyID, of: token) else {
                if notesUnknownKey { issuers.unknownKeys.note(nil) }
                throw issuers.refusalOfUnknownKey(in: nil)
            }
            return (entry.issuer, entry.key)
        }
        guard issuers.dialects.contains(.axinom), let keyID = TokenPayload.axinomKeyID(of: token) else {
            return try issuerAndOnlyKey(of: token, notesUnknownKey: notesUnknownKey)
        }
        guard let entry = issuers.entry(forKeyID: keyID, of: token, in: .axinom) else {
            if notesUnknownKey { issuers.unknownKeys.note(.axinom) }
            throw issuers.refusalOfUnknownKey(in: .axinom)
        }
        return (entry.issuer, entry.key)
    }

    /// Which of several keys has signed the token is not tried: each of them could be meant for something else.
    private func issuerAndOnlyKey(
        of token: Token, notesUnknownKey: Bool
    ) throws(EntitlementError) -> (Issuer, VerificationKey) {
        guard let name = (try? TokenPayload.read(token))?["iss"]?.string else { throw .keyUnknown }
        let entries = issuers.entries(named: name, token.algorithm)
        if entries.count == 1 { return (entries[0].issuer, entries[0].key) }
        guard entries.isEmpty else { throw .keyUnknown }
        if notesUnknownKey { issuers.unknownKeys.note(nil) }
        throw issuers.missingDialects(ofIssuer: name).isEmpty ? .keyUnknown : .keysUnavailable
    }

    private func check(_ times: TokenTimes, of issuer: Issuer, now: Int64) throws(EntitlementError) {
        try times.check(now: now, leeway: leeway)
        try checkLife(times, of: issuer, now: now)
    }

    var leeway: Int64 { issuers.leeway }

    /// Whether any issuer has a key.
    package var hasKeys: Bool { issuers.hasKeys }

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
