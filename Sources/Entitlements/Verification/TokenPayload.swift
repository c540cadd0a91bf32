import ByteCoding

/// Reads the members of a payload that are checked before the rights are read.
enum TokenPayload {
    private static let limits = JSONLimits(sizeMaximum: Token.sizeMaximum, depthMaximum: 16)

    /// Reads the claims of a token whose signature was verified. Throws `tokenMalformed`.
    static func read(
        _ token: Token, noting stranger: ClaimObject.Stranger? = nil
    ) throws(EntitlementError) -> ClaimObject {
        ClaimObject(try StrictJSON.object(token.payload, limits: limits), noting: stranger)
    }

    /// Returns the member `com_key_id` of a payload that is not verified. It must be used only to find a key.
    static func axinomKeyID(of token: Token) -> String? {
        guard let object = try? StrictJSON.object(token.payload, limits: limits) else { return nil }
        return object["com_key_id"]?.string
    }

    /// Throws `issuerMismatch` and `audienceMismatch`, and `claimInvalid` for claims of another type.
    static func check(_ claims: ClaimObject, against issuer: Issuer, keyID: String) throws(EntitlementError) {
        switch issuer.dialect {
        case .jwt, .expressPlay:
            try checkIssuer(claims, against: issuer)
            try checkAudience(claims, against: issuer)
        case .nagra:
            // ContentAuthZ does not define these claims. If a token has one of them, it is checked.
            if claims["iss"] != nil { try checkIssuer(claims, against: issuer) }
            if claims["aud"] != nil { try checkAudience(claims, against: issuer) }
        case .axinom:
            guard let named = claims["com_key_id"]?.string, named.hasSameUTF8(as: keyID) else {
                throw claims.invalid("com_key_id")
            }
        }
    }

    /// `iss` is one text (RFC 7519, section 4.1.1).
    private static func checkIssuer(_ claims: ClaimObject, against issuer: Issuer) throws(EntitlementError) {
        guard let name = claims["iss"]?.string, name.hasSameUTF8(as: issuer.name) else { throw .issuerMismatch }
    }

    /// `aud` is a text or an array of texts (RFC 7519, section 4.1.3).
    private static func checkAudience(_ claims: ClaimObject, against issuer: Issuer) throws(EntitlementError) {
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

extension TokenTimes {
    /// The times of a compact token as its dialect writes them. Throws `claimInvalid`.
    init(of claims: ClaimObject, in dialect: TokenDialect) throws(EntitlementError) {
        switch dialect {
        case .jwt, .expressPlay, .nagra: try self.init(of: claims)
        case .axinom:
            self.init(
                expiresAt: try claims.required("expiration_date", try claims.time("expiration_date")),
                notBefore: try claims.time("begin_date"), issuedAt: nil)
        }
    }
}
