import ByteCoding

/// Turns tokens into claims, for the issuers of one configuration.
package struct TokenVerifier: Sendable {
    private static let payloadLimits = JSONLimits(sizeMaximum: Token.sizeMaximum, depthMaximum: 16)

    private let issuers: IssuerSet

    package init(issuers: IssuerSet) {
        self.issuers = issuers
    }

    /// Verifies a compact token at `now`, in seconds since 1970.
    ///
    /// Checks in this order: form, key id, algorithm, signature, times, issuer, audience, then the rest of the claims. Nothing of the
    /// payload is read before the signature holds. Throws every case of `EntitlementError` up to `claimUnsupported`.
    package func verify(_ bytes: [UInt8], now: Int64) throws(EntitlementError) -> Claims {
        let token = try Token(parsing: bytes)
        guard let (issuer, key) = issuers.entry(forKeyID: token.keyID).map({ ($0.issuer, $0.key) }) else {
            throw .keyUnknown
        }
        guard token.algorithm == key.algorithm else { throw .algorithmNotPinned }
        guard key.isValidSignature(of: token) else { throw .signatureInvalid }

        let claims = ClaimObject(try StrictJSON.object(token.payload, limits: Self.payloadLimits))
        let times = try TokenTimes(of: claims)
        try check(times, now: now)
        if let maximumLife = issuer.maximumLife { try times.checkLife(maximum: maximumLife) }
        try Self.check(claims, against: issuer)
        return try Claims(native: claims, issuer: issuer.name, keyID: key.id, times: times)
    }

    /// Checks the times of claims that were verified before.
    func check(_ times: TokenTimes, now: Int64) throws(EntitlementError) {
        try times.check(now: now, leeway: issuers.leeway)
    }

    /// `iss` is one text (RFC 7519, section 4.1.1), `aud` a text or an array of texts (section 4.1.3).
    private static func check(_ claims: ClaimObject, against issuer: Issuer) throws(EntitlementError) {
        guard let name = claims["iss"]?.string, name.hasSameUTF8(as: issuer.name) else { throw .issuerMismatch }
        guard let member = claims["aud"] else { throw .audienceMismatch }
        let audiences = try claims.required("aud", member.array ?? (member.string == nil ? nil : [member]))
        var isMeant = false
        for audience in audiences {
            let text = try claims.required("aud", audience.string)
            if text.hasSameUTF8(as: issuer.audience) { isMeant = true }
        }
        guard isMeant else { throw .audienceMismatch }
    }
}
