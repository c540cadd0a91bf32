/// What a streaming licence must not exceed, in the units of the content key duration block.
///
/// Each number is seconds from 1 to `secondsMaximum`; nil is no limit. Zero never occurs, because a device takes it for none.
package struct StreamingLimits: Equatable, Sendable {
    /// The most seconds that a device can be told; all ones means something else to some.
    package static let secondsMaximum: UInt32 = 0xFFFF_FFFE

    /// How long playback may go on before it must be renewed or stop.
    package let lease: UInt32?
    /// How long from now playback may begin.
    package let rental: UInt32?
    /// The protection that a digital output must have, where the right says.
    package let hdcp: Right.HDCP?

    /// The limits that a right sets at `now`.
    ///
    /// An `end` bounds everything; without a `lease` it becomes one, because FairPlay knows no other way to stop playback. A `duration` is
    /// a rental: playback that began within it may finish, unless a lease stops it. Throws `streamingNotGranted`, `rightNotStarted`,
    /// `rightEnded`.
    init(of right: Right, now: Int64) throws(EntitlementError) {
        switch right.mode {
        case .stream, .both: break
        case .offline: throw .streamingNotGranted
        }
        if let start = right.start, now < start { throw .rightNotStarted(retryAfterSeconds: start - now) }
        if let end = right.end, now >= end { throw .rightEnded }

        let untilEnd = right.end.map { $0 - now }
        let window = Self.least(right.duration, untilEnd)
        lease = Self.clamped(right.lease == nil ? untilEnd : Self.least(right.lease, window))
        rental = Self.clamped(right.duration == nil ? nil : window)
        hdcp = right.hdcp
    }

    private static func least(_ one: Int64?, _ other: Int64?) -> Int64? {
        guard let one, let other else { return one ?? other }
        return min(one, other)
    }

    private static func clamped(_ seconds: Int64?) -> UInt32? {
        seconds.map { UInt32(clamping: min($0, Int64(secondsMaximum))) }
    }
}
