import ByteCoding

/// What a verified token says.
///
/// Only the verifiers of this module make one, after the signature and the times held, so whoever holds it need not check again.
package struct Claims: Equatable, Sendable {
    /// The most rights that a token may have.
    package static let rightCountMaximum = 64

    /// `iss`, which is the issuer that the key is pinned to.
    package let issuer: String
    /// `sub`: the account or viewer.
    package let subject: String?
    /// `jti`.
    package let tokenID: String?
    /// The `kid` that verified the token.
    package let keyID: String
    /// What the token grants; the first right that grants counts.
    package let rights: [Right]

    let times: TokenTimes

    /// `exp` in seconds since 1970: the first second in which the token has expired, without leeway.
    package var expiresAt: Int64 { times.expiresAt.up }
    /// `nbf` in seconds since 1970.
    package var notBefore: Int64? { times.notBefore?.up }
    /// `iat` in seconds since 1970.
    package var issuedAt: Int64? { times.issuedAt?.up }

    /// Reads the native vocabulary. Throws `claimInvalid` and `claimUnsupported`.
    init(
        native claims: ClaimObject, issuer: String, keyID: String, times: TokenTimes
    ) throws(EntitlementError) {
        try claims.refuse(UnenforcedClaims.ofToken)
        self.issuer = issuer
        self.keyID = keyID
        self.times = times
        subject = try claims.string("sub")
        tokenID = try claims.string("jti")
        rights = try Self.rights(of: claims)
    }

    private static func rights(of claims: ClaimObject) throws(EntitlementError) -> [Right] {
        let elements = try claims.required("rights", claims["rights"]?.array)
        guard elements.count <= rightCountMaximum else { throw claims.invalid("rights") }
        var rights: [Right] = []
        rights.reserveCapacity(elements.count)
        for (index, element) in elements.enumerated() {
            let object = try claims.required("rights", element.object)
            rights.append(try Right(reading: ClaimObject(object, at: .right(index: index))))
        }
        return rights
    }
}
