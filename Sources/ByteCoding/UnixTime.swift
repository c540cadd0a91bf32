/// A moment in UTC: POSIX seconds since 1970-01-01T00:00:00Z, which do not count leap seconds, and a fraction.
///
/// Only moments that RFC 3339 can name exist, years 0000 to 9999, so that every one can be printed.
package struct UnixTime: Hashable, Sendable {
    /// 0000-01-01T00:00:00Z.
    package static let secondsMinimum: Int64 = -62_167_219_200

    /// 9999-12-31T23:59:59Z.
    package static let secondsMaximum: Int64 = 253_402_300_799

    /// Seconds since the epoch, rounded down.
    package let seconds: Int64

    /// What has passed of the next second, from 0 to 999,999,999.
    package let nanoseconds: UInt32

    /// Nil for a second outside of the years 0000 to 9999, and for a whole second or more of nanoseconds.
    package init?(seconds: Int64, nanoseconds: UInt32 = 0) {
        guard (Self.secondsMinimum...Self.secondsMaximum).contains(seconds), nanoseconds < 1_000_000_000 else {
            return nil
        }
        self.seconds = seconds
        self.nanoseconds = nanoseconds
    }
}

extension UnixTime: Comparable {
    /// Orders moments as they follow one another.
    package static func < (left: UnixTime, right: UnixTime) -> Bool {
        (left.seconds, left.nanoseconds) < (right.seconds, right.nanoseconds)
    }
}

extension UnixTime: CustomStringConvertible {
    /// The moment as RFC 3339 in UTC, to the second.
    package var description: String { RFC3339.format(self) }
}
