package import ByteCoding

extension Claims {
    /// What a service's policy may say besides `rights`. Times are the server's own: an answer is for now.
    private static let policyVocabulary: Set = [
        "rights", "sub", "jti", "cnf", "device", "session", "limits", "cookie",
    ]

    /// Reads a service's policy as the payload of a token of the issuer `name` that lives for `life` seconds from `now`
    /// on.
    ///
    /// Throws `claimInvalid` and `claimUnsupported`.
    package static func decided(
        by name: String, policy: JSONObject, now: Int64, life: Int64, enforced: Set<Restriction> = Restriction.enforced
    ) throws(EntitlementError) -> Claims {
        let object = ClaimObject(policy)
        try object.refuseStrangers(to: policyVocabulary)
        let claims = try Claims(native: object, try verified(by: name, now: now, life: life))
        try claims.refuseUnenforced(enforced)
        return claims
    }

    /// A right to stream one content, for a service that allows it and says no more.
    package static func decided(
        by name: String, allowing content: CallbackQuestion.Content, now: Int64, life: Int64
    ) throws(EntitlementError) -> Claims {
        Claims(
            try verified(by: name, now: now, life: life), subject: nil, tokenID: nil,
            rights: [Right(.keyIDs([content.keyID]))])
    }

    private static func verified(by name: String, now: Int64, life: Int64) throws(EntitlementError) -> Verified {
        guard let issuedAt = NumericDate(now), let expiresAt = NumericDate(now + life) else {
            throw .claimInvalid("exp")
        }
        return Verified(
            issuer: Issuer(name: name, audience: "", keys: []), keyID: name, keyEnd: nil,
            times: TokenTimes(expiresAt: expiresAt, notBefore: nil, issuedAt: issuedAt))
    }
}
