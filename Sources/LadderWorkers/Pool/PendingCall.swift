import FairPlay
import Telemetry

typealias CallOutcome = Result<LadderAnswer, LadderModuleError>

/// A call that its caller waits for, from the caller to the pool and back.
///
/// Safe to send: one thread at a time has it. The caller makes it, hands it to the pool's loop, and goes on when it has
/// been resumed.
final class PendingCall: @unchecked Sendable {
    let call: LadderCall
    /// The index of the caller's loop; nil for callers elsewhere.
    let caller: Int?
    private let continuation: CheckedContinuation<CallOutcome, Never>
    private var outcome: CallOutcome?

    // From here on: the pool's loop's own.

    /// Names the call in messages; never used again.
    var number: UInt64 = 0
    /// Until when the call may wait for a worker.
    var queueDeadline = MonotonicTime.distantFuture
    /// Whether a worker was lost that may have been this call's doing: it is sent only to a worker that has no other.
    var isSuspect = false
    /// How many workers were lost while the call lay at them. As a rule another call was to blame; but a module that
    /// overwrites everything may make its worker name a wrong one, and no call may end workers without limit.
    var lossCount = 0
    static let lossCountMaximum = 8

    init(_ call: LadderCall, caller: Int?, _ continuation: CheckedContinuation<CallOutcome, Never>) {
        self.call = call
        self.caller = caller
        self.continuation = continuation
    }

    /// Whether the call has its outcome: one that two workers got is over with the first one's answer.
    var isOver: Bool { outcome != nil }

    /// Sets the outcome, once.
    func end(with outcome: CallOutcome) {
        precondition(!isOver, "a call has one outcome")
        self.outcome = outcome
    }

    /// Lets the caller go on, once, after `end`.
    func resume() {
        guard let outcome else { preconditionFailure("a caller goes on with an outcome") }
        continuation.resume(returning: outcome)
    }
}
