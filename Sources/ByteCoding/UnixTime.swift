/// A moment in UTC: POSIX seconds since 1970-01-01T00:00:00Z, which do not count leap seconds, and a fraction.
///
/// Its year is always from 0000 to 9999, so that RFC 3339 can express every value.
package struct UnixTime: Hashable, Sendable {
    /// 0000-01-01T00:00:00Z.
    package static let secondsMinimum: Int64 = -62_167_219_200

    /// 9999-12-31T23:59:59Z.
    package static let secondsMaximum: Int64 = 253_402_300_799

    /// Seconds since the epoch, rounded down.
    package let seconds: Int64

    /// The fraction of the second in nanoseconds, from 0 to 999,999,999.
    package let nanoseconds: UInt32

    /// Nil if the year is outside of 0000 to 9999, or if there are 1,000,000,000 nanoseconds or more.
    package init?(seconds: Int64, nanoseconds: UInt32 = 0) {
        guard (Self.secondsMinimum...Self.secondsMaximum).contains(seconds), nanoseconds < 1_000_000_000 else {
            return nil
        }
        self.seconds = seconds
        self.nanoseconds = nanoseconds
    }
}

extension UnixTime: Comparable {
    /// Orders moments by time.
    package static func < (left: UnixTime, right: UnixTime) -> Bool {
        (left.seconds, left.nanoseconds) < (right.seconds, right.nanoseconds)
    }
}

extension UnixTime: CustomStringConvertible {
    /// The moment in the format of RFC 3339, in UTC, to the second.
    package var description: String { RFC3339.format(self) }

    /// Any number of seconds since 1970, for people: a year that RFC 3339 cannot express stays a number.
    package static func text(_ seconds: Int64) -> String {
        UnixTime(seconds: seconds)?.description ?? "\(seconds) seconds since 1970"
    }
}
