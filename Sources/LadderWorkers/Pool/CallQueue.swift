import FairPlay
import Telemetry

/// The calls that wait for a worker, the oldest first.
///
/// All calls may wait for the same time, so they are also in the order of their deadlines. Calls that return from a
/// dead worker are older than all waiting calls, and go before them.
struct CallQueue {
    private let lengthMaximum: Int
    /// The calls that have returned, the oldest last.
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

    /// Adds a new call. Returns false if there is no room.
    mutating func append(_ call: PendingCall) -> Bool {
        guard count < lengthMaximum else { return false }
        waiting.append(call)
        return true
    }

    /// Puts back a call that had left the queue, even if there is no room.
    mutating func putBack(_ call: PendingCall) {
        let index = returned.firstIndex { $0.number < call.number } ?? returned.endIndex
        returned.insert(call, at: index)
    }

    /// Removes a call that was put back. Returns false if it has left the queue since.
    mutating func remove(_ call: PendingCall) -> Bool {
        guard let index = returned.firstIndex(where: { $0 === call }) else { return false }
        returned.remove(at: index)
        return true
    }

    /// Removes and returns the oldest call without an outcome.
    ///
    /// Returns nil if no call waits, or if that call is a suspect and `alsoSuspects` is false.
    mutating func popFirst(alsoSuspects: Bool = true) -> PendingCall? {
        while let call = first {
            if !call.isOver, call.isSuspect, !alsoSuspects { return nil }
            _ = popAny()
            if !call.isOver { return call }
        }
        return nil
    }

    /// Removes and returns the oldest call if its deadline has passed.
    mutating func popExpired(at now: MonotonicTime) -> PendingCall? {
        guard let first, first.queueDeadline <= now else { return nil }
        return popAny()
    }

    private mutating func popAny() -> PendingCall? {
        if let call = returned.popLast() { return call }
        guard position < waiting.count else { return nil }
        let call = waiting[position]
        position += 1
        // The places of removed calls are freed from time to time, not for each call.
        if position == waiting.count || position >= 1024 {
            waiting.removeFirst(position)
            position = 0
        }
        return call
    }
}

typealias CallOutcome = Result<WorkerAnswer, LadderModuleError>

/// What a worker is asked for: a call to a module, or an order to a library.
enum WorkerCall: Sendable {
    case module(LadderCall)
    case library(LibraryOrder)

    func write(number: UInt64, to message: inout LadderMessage) throws(LadderFrameError) {
        switch self {
        case .module(let call): try call.write(number: number, to: &message)
        case .library(let order): try order.write(number: number, to: &message)
        }
    }
}

/// The answer of a worker, of the kind of the call.
enum WorkerAnswer: Sendable {
    case module(LadderAnswer)
    case library(LibraryAnswer)

    func write(number: UInt64, to message: inout LadderMessage) throws(LadderFrameError) {
        switch self {
        case .module(let answer): try answer.write(number: number, to: &message)
        case .library(let answer): try answer.write(number: number, to: &message)
        }
    }
}

/// A call for which a caller waits.
///
/// Safe to send: only one thread at a time has it. The caller makes it, passes it to the pool's loop, and continues
/// when it is resumed.
final class PendingCall: @unchecked Sendable {
    let call: WorkerCall
    /// The index of the caller's loop; nil for callers elsewhere.
    let caller: Int?
    private let continuation: CheckedContinuation<CallOutcome, Never>
    private var outcome: CallOutcome?

    // The following properties are used only on the pool's loop.

    /// The number of the call in messages, which is used only once.
    var number: UInt64 = 0
    /// Until when the call may wait for a worker.
    var queueDeadline = MonotonicTime.distantFuture
    /// Whether this call may have caused the loss of a worker. It is then sent only to a worker without other calls.
    var isSuspect = false
    /// How many workers were lost while they had this call.
    ///
    /// Usually another call was the cause. But a module that overwrites memory may make its worker report a wrong call,
    /// and no call may end workers without a limit.
    var lossCount = 0
    static let lossCountMaximum = 8

    init(_ call: WorkerCall, caller: Int?, _ continuation: CheckedContinuation<CallOutcome, Never>) {
        self.call = call
        self.caller = caller
        self.continuation = continuation
    }

    /// Whether the call has its outcome. If two workers got the call, the first answer counts.
    var isOver: Bool { outcome != nil }

    /// Sets the outcome, once.
    func end(with outcome: CallOutcome) {
        precondition(!isOver, "a call has one outcome")
        self.outcome = outcome
    }

    /// Resumes the caller, once, after `end`.
    func resume() {
        guard let outcome else { preconditionFailure("a caller goes on with an outcome") }
        continuation.resume(returning: outcome)
    }
}
