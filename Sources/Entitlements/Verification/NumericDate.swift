import ByteCoding

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
