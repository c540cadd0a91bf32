import ByteCoding

/// The times between which a token is valid (RFC 7519, sections 4.1.4 to 4.1.6).
///
/// Dates are bounded by `NumericDate` and the leeway is at most a minute, so the arithmetic cannot overflow.
struct TokenTimes: Equatable, Sendable {
    let expiresAt: NumericDate
    let notBefore: NumericDate?
    let issuedAt: NumericDate?

    /// Throws `claimInvalid` if `exp` is missing, or if a date is not a number or is out of range.
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

    /// Throws `lifeTooLong` if the life of the token is longer than `maximum` seconds, or if the token has no time at
    /// which its life begins.
    func checkLife(maximum: Int64) throws(EntitlementError) {
        guard let beginning = issuedAt ?? notBefore, expiresAt.up - beginning.down <= maximum else {
            throw .lifeTooLong
        }
    }

    /// Throws `lifeTooLong` if the life of the token is longer than `maximum` seconds.
    ///
    /// It is for dialects whose tokens need not have a time at which their life begins. The life of such a token is
    /// counted from `now`.
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

/// A date in a token, in seconds since 1970, with or without a fraction (RFC 7519, section 2).
///
/// The clocks of this server count whole seconds. `up` is the date rounded up to a whole second, `down` is the date
/// rounded down. Each use takes the one that never grants more. Dates are limited to the years 0000 to 9999, as in RFC
/// 3339: arithmetic on them cannot overflow, and a date in milliseconds is refused.
struct NumericDate: Equatable, Sendable {
    private static let range = UnixTime.secondsMinimum...UnixTime.secondsMaximum

    let down: Int64
    let up: Int64

    init?(_ seconds: Int64) {
        self.init(down: seconds, up: seconds)
    }

    init?(_ number: JSONNumber) {
        if let seconds = number.signed {
            self.init(seconds)
        } else {
            guard let seconds = number.double, let down = Int64(exactly: seconds.rounded(.down)),
                let up = Int64(exactly: seconds.rounded(.up))
            else { return nil }
            self.init(down: down, up: up)
        }
    }

    /// Reads a time in RFC 3339, with or without a fraction.
    init?(rfc3339 text: String) {
        guard let time = try? RFC3339.parse(text) else { return nil }
        self.init(down: time.seconds, up: time.nanoseconds == 0 ? time.seconds : time.seconds + 1)
    }

    private init?(down: Int64, up: Int64) {
        guard Self.range.contains(down), Self.range.contains(up) else { return nil }
        self.down = down
        self.up = up
    }
}
