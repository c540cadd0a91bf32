import FairPlay
import Telemetry

/// Calls that wait for a worker, the oldest first.
///
/// All may wait equally long, so the order is also the order of their deadlines. Calls that come back from a dead
/// worker are older than all that wait, and go before them.
struct CallQueue {
    private let lengthMaximum: Int
    /// Calls that came back, the oldest last.
    private var returned: [PendingCall] = []
    private var waiting: [PendingCall] = []
    private var position = 0

    init(lengthMaximum: Int) {
        self.lengthMaximum = lengthMaximum
    }

    var count: Int { returned.count + waiting.count - position }

    var isEmpty: Bool { count == 0 }

    /// The oldest call.
    var first: PendingCall? { returned.last ?? (position < waiting.count ? waiting[position] : nil) }

    /// Adds a new call; false when there is no room.
    mutating func append(_ call: PendingCall) -> Bool {
        guard count < lengthMaximum else { return false }
        waiting.append(call)
        return true
    }

    /// Puts a call back that had left the queue, room or not.
    mutating func putBack(_ call: PendingCall) {
        let index = returned.firstIndex { $0.number < call.number } ?? returned.endIndex
        returned.insert(call, at: index)
    }

    /// Takes out a call that was put back; false when it is not there any more.
    mutating func remove(_ call: PendingCall) -> Bool {
        guard let index = returned.firstIndex(where: { $0 === call }) else { return false }
        returned.remove(at: index)
        return true
    }

    /// Takes the oldest call that is not over; nil if no call waits, or if it is a suspect and suspects are not
    /// wanted.
    mutating func popFirst(alsoSuspects: Bool = true) -> PendingCall? {
        while let call = first {
            if !call.isOver, call.isSuspect, !alsoSuspects { return nil }
            _ = popAny()
            if !call.isOver { return call }
        }
        return nil
    }

    /// Takes the oldest call if its time to wait is over.
    mutating func popExpired(at now: MonotonicTime) -> PendingCall? {
        guard let first, first.queueDeadline <= now else { return nil }
        return popAny()
    }

    private mutating func popAny() -> PendingCall? {
        if let call = returned.popLast() { return call }
        guard position < waiting.count else { return nil }
        let call = waiting[position]
        position += 1
        // The places of calls that have left are given back now and then, not each time.
        if position == waiting.count || position >= 1024 {
            waiting.removeFirst(position)
            position = 0
        }
        return call
    }
}

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
