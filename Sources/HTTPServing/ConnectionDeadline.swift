import EventLoops

/// The one deadline of a connection, and the timer that watches it.
struct ConnectionDeadline {
    /// What a limit is measured from the beginning of.
    enum Phase: Equatable {
        case head
        case body
    }

    /// When the connection's patience ends.
    var instant = LoopInstant.distantFuture
    /// When the timer fires: never later than `instant`, often earlier.
    var timerInstant = LoopInstant.distantFuture
    var timer: TimerID?
    private var phase: (Phase, start: LoopInstant)?

    /// When this phase began: now, unless it had begun before.
    mutating func phaseStart(_ wanted: Phase, now: LoopInstant) -> LoopInstant {
        if let phase, phase.0 == wanted { return phase.start }
        phase = (wanted, now)
        return now
    }

    /// The next phase of any kind begins anew.
    mutating func endPhase() {
        phase = nil
    }
}
