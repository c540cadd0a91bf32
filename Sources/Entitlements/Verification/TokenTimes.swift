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

/// Seconds since 1970 as a token says them, with or without a fraction (RFC 7519, section 2).
///
/// Clocks here count whole seconds. `up` is the first whole second that is not before the date, `down` the last that is
/// not after it: each use takes the one that never grants more. Dates lie in the years 0000 to 9999, those of RFC 3339,
/// so that arithmetic on them cannot overflow and milliseconds taken for seconds are noticed.
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

    /// A time as RFC 3339 writes it, with a fraction or without.
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
