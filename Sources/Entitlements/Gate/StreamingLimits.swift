/// What a streaming licence must not exceed, in the units of the content key duration block.
///
/// Each number is seconds from 1 to `LimitSeconds.maximum`; nil is no limit.
package struct StreamingLimits: Equatable, Sendable {
    /// How long playback may go on before it must be renewed or stop.
    package let lease: UInt32?
    /// How long from now playback may begin.
    package let rental: UInt32?

    /// The limits that a right sets at `now`.
    ///
    /// An `end` bounds everything; without a `lease` it becomes one, because FairPlay knows no other way to stop
    /// playback. A `duration` is a rental: playback that began within it may finish, unless a lease stops it. A `life`
    /// is a lease. Throws `streamingNotGranted`, `rightNotStarted`, `rightEnded`.
    ///
    /// A `rental` that is remembered bounds both. If its right has no lease, the rest of it is one: otherwise no
    /// device would tell of a play.
    init(of right: Right, rental: RentalRemainder? = nil, now: Int64) throws(EntitlementError) {
        switch right.mode {
        case .stream, .both: break
        case .offline: throw .streamingNotGranted
        }
        let untilEnd = try right.secondsUntilEnd(now: now)
        let asked = LimitSeconds.least(right.lease, right.life)
        if let rental {
            let begin = LimitSeconds.least(rental.toBegin, right.duration, untilEnd)
            lease = LimitSeconds.least(asked, rental.toPlay, untilEnd).map(LimitSeconds.clamped)
            self.rental = rental.toBegin == nil ? nil : begin.map(LimitSeconds.clamped)
            return
        }
        let window = LimitSeconds.least(right.duration, untilEnd)
        lease = (asked == nil ? untilEnd : LimitSeconds.least(asked, window)).map(LimitSeconds.clamped)
        self.rental = (right.duration == nil ? nil : window).map(LimitSeconds.clamped)
    }
}
