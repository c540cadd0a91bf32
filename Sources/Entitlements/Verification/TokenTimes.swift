import ByteCoding

/// When a token may be presented (RFC 7519, sections 4.1.4 to 4.1.6).
///
/// All arithmetic is on dates of `NumericDate` and a leeway of at most a minute.
struct TokenTimes: Equatable, Sendable {
    let expiresAt: NumericDate
    let notBefore: NumericDate?
    let issuedAt: NumericDate?

    /// Throws `claimInvalid` if `exp` is missing, or a date is no number or out of range.
    init(of claims: ClaimObject) throws(EntitlementError) {
        expiresAt = try claims.required("exp", try claims.numericDate("exp"))
        notBefore = try claims.numericDate("nbf")
        issuedAt = try claims.numericDate("iat")
    }

    init(expiresAt: NumericDate, notBefore: NumericDate?, issuedAt: NumericDate?) {
        self.expiresAt = expiresAt
        self.notBefore = notBefore
        self.issuedAt = issuedAt
    }

    /// Throws `tokenExpired` from `exp` + leeway on, and `tokenNotYetValid` before `nbf` - leeway or `iat` - leeway.
    func check(now: Int64, leeway: Int64) throws(EntitlementError) {
        guard now < expiresAt.up + leeway else { throw .tokenExpired(agoSeconds: now - expiresAt.up) }
        try Self.checkBeginning(notBefore, now: now, leeway: leeway)
        try Self.checkBeginning(issuedAt, now: now, leeway: leeway)
    }

    /// Throws `lifeTooLong` unless the token says when its life began and it is no longer than `maximum` seconds.
    func checkLife(maximum: Int64) throws(EntitlementError) {
        guard let beginning = issuedAt ?? notBefore, expiresAt.up - beginning.down <= maximum else {
            throw .lifeTooLong
        }
    }

    /// The same for a dialect whose tokens need not say when their life began: they have at most `maximum` seconds
    /// left.
    func checkRemainingLife(maximum: Int64, now: Int64) throws(EntitlementError) {
        guard expiresAt.up - (issuedAt ?? notBefore ?? NumericDate(now) ?? expiresAt).down <= maximum else {
            throw .lifeTooLong
        }
    }

    private static func checkBeginning(_ date: NumericDate?, now: Int64, leeway: Int64) throws(EntitlementError) {
        guard let date, now < date.up - leeway else { return }
        throw .tokenNotYetValid(inSeconds: date.up - leeway - now)
    }
}
