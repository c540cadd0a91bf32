import ByteCoding

extension TokenVerifier {
    /// The session key that a token names; nil if it is an entitlement token.
    func sessionKey(of token: Token) -> SessionTokens.Key? {
        guard let sessions, let keyID = token.keyID else { return nil }
        return sessions.key(id: keyID)
    }

    /// The claims of a session token. Throws as `verify` does, and `sessionEnded`.
    func verify(_ token: Token, signedBy key: SessionTokens.Key, now: Int64) throws(EntitlementError) -> Claims {
        guard token.algorithm == .hs256 else { throw .algorithmNotPinned }
        guard key.isValidSignature(of: token) else { throw .signatureInvalid }
        let payload = try TokenPayload.read(token)
        let times = try TokenTimes(of: payload)
        try checkSession(times, now: now)
        return try Claims(session: payload, signedBy: key, times: times, issuers: issuers)
    }

    /// An app that hears that its token has expired fetches another one; one whose session has ended must know which
    /// token that is.
    func checkSession(_ times: TokenTimes, now: Int64) throws(EntitlementError) {
        do throws(EntitlementError) {
            try times.check(now: now, leeway: leeway)
        } catch {
            if case .tokenExpired = error { throw .sessionEnded(.expired) }
            throw error
        }
    }
}

extension IssuerSet {
    /// The issuer that has this name and writes so.
    func issuer(named name: String, dialect: TokenDialect) -> Issuer? {
        issuers.first { $0.dialect == dialect && $0.name.hasSameUTF8(as: name) }
    }
}

extension Issuer {
    /// Where one of the issuer's keys stands; nil for a key that it no longer has.
    func state(ofKeyID id: String) -> KeyState? {
        keys.first { $0.id.hasSameUTF8(as: id) }?.state ?? sealingKeys.first { "\($0.id)" == id }?.state
    }
}
