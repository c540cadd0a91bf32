/// Arithmetic on limits, in seconds; each limit is at least 1.
///
/// Nil means no limit. Zero never occurs, because a device takes it for "no limit".
package enum LimitSeconds {
    /// The most seconds that a license can carry. 0xFFFFFFFF is left out, because it has a special meaning to some
    /// devices.
    package static let maximum: UInt32 = 0xFFFF_FFFE

    /// The smaller of two limits; nil means no limit.
    static func least(_ one: Int64?, _ other: Int64?) -> Int64? {
        guard let one, let other else { return one ?? other }
        return min(one, other)
    }

    static func least(_ one: Int64?, _ second: Int64?, _ third: Int64?) -> Int64? {
        least(least(one, second), third)
    }

    /// The sum, or the largest number if the sum overflows.
    static func sum(_ one: Int64, _ other: Int64) -> Int64 {
        let (sum, overflows) = one.addingReportingOverflow(other)
        return overflows ? .max : sum
    }

    package static func clamped(_ seconds: Int64) -> UInt32 {
        UInt32(clamping: min(seconds, Int64(maximum)))
    }
}
