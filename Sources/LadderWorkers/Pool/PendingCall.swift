import EventLoops
import FairPlay

typealias CallOutcome = Result<LadderAnswer, LadderModuleError>

/// A call that somebody waits for. Belongs to the pool's loop.
final class PendingCall {
    /// Names the call in messages; never used again.
    let number: UInt64
    let call: LadderCall
    /// Until when the call may wait for a worker.
    let queueDeadline: LoopInstant
    /// Whether a worker was lost that may have been this call's doing: it is sent only to a worker that has no other.
    var isSuspect = false
    /// How many workers were lost while the call lay at them. As a rule another call was to blame; but a module that overwrites everything
    /// may make its worker name a wrong one, and nobody may go on killing for ever.
    var lossCount = 0
    static let lossCountMaximum = 8
    private var continuation: CheckedContinuation<CallOutcome, Never>?

    init(
        number: UInt64, _ call: LadderCall, queueDeadline: LoopInstant,
        _ continuation: CheckedContinuation<CallOutcome, Never>?
    ) {
        self.number = number
        self.call = call
        self.queueDeadline = queueDeadline
        self.continuation = continuation
    }

    /// Whether the caller has its outcome: a call that two workers got is over with the first one's answer.
    var isOver: Bool { continuation == nil }

    /// Gives the caller its outcome, unless it has one.
    func end(with outcome: CallOutcome) {
        continuation.take()?.resume(returning: outcome)
    }
}
