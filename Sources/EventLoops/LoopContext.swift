package import POSIXSockets
import Synchronization
package import Telemetry

/// A loop as handlers and channels see it.
///
/// A context may be passed anywhere. `spawn`, `execute`, `now`, `index`, `lag`, `longestTurn` and the counters work
/// from any thread. Everything else belongs to the loop's thread, and using it elsewhere is a bug that stops the
/// process.
package struct LoopContext: Sendable {
    let loop: EventLoop

    /// The position of the loop in its group, from 0.
    package var index: Int { loop.index }

    /// Whether the caller runs on the loop's thread.
    package var isCurrent: Bool { loop.isCurrent }

    /// The time on the loop's clock, read afresh.
    package var now: MonotonicTime { loop.clock.monotonicTime }

    /// For how long work that comes now waits already: the age of the turn that is running.
    package var lag: Duration { loop.load.lag(at: now) }

    /// The longest turn of the last 30 to 60 seconds.
    package var longestTurn: Duration { loop.load.longestTurn }

    // MARK: Work

    /// Starts a task that runs on this loop, awaits included; the loop does not stop before it has ended.
    ///
    /// Use this instead of `Task {}`, which would leave the loop for the global pool.
    package func spawn(_ body: @escaping @Sendable () async -> Void) {
        let loop = loop
        loop.liveTasks.add(1, ordering: .relaxed)
        _ = Task(executorPreference: loop) {
            await body()
            loop.liveTasks.subtract(1, ordering: .releasing)
        }
    }

    /// Runs a closure on the loop, after what is queued already; `false` when the loop has stopped and will not run it.
    @discardableResult
    package func execute(_ body: @escaping @Sendable () -> Void) -> Bool {
        loop.enqueue(.call(body))
    }

    /// Runs a closure on the loop and waits for its result; `nil` when the loop has stopped. Blocks, so not for loops
    /// and tasks.
    package func runAndWait<Result: Sendable>(_ body: @escaping @Sendable () -> Result) -> Result? {
        precondition(!isCurrent, "a loop cannot wait for itself")
        let answer = Monitor<Result?>(nil)
        let isAccepted = loop.enqueue(
            .call {
                let result = body()
                answer.update { $0 = result }
            })
        return isAccepted ? answer.wait { $0 } : nil
    }

    // MARK: Channels

    /// Watches a descriptor for a channel, which the loop keeps alive until it is unregistered.
    ///
    /// Events come in the order in which they happened, at most 256 per turn. A channel that `comesFirst` is called in
    /// each turn that has so many, before the others and without an event of its own: it does not wait until thousands
    /// of others had theirs.
    package func register(
        _ channel: any LoopChannel, descriptor: Int32, interest: EpollInterest, comesFirst: Bool = false
    ) throws(EventLoopError) -> RegistrationID {
        try loop.register(channel, descriptor, interest, comesFirst: comesFirst)
    }

    /// Changes what a registered descriptor is watched for.
    package func modify(_ id: RegistrationID, descriptor: Int32, interest: EpollInterest) throws(EventLoopError) {
        try loop.modify(id, descriptor, interest)
    }

    /// Stops watching; call it before the descriptor is closed. Events that wait already are dropped.
    package func unregister(_ id: RegistrationID, descriptor: Int32) {
        loop.unregister(id, descriptor)
    }

    /// Calls the channel's `resume(on:)` in the next turn, after the other channels had their go.
    package func resumeNextTurn(_ channel: any LoopChannel) {
        loop.resumeNextTurn(channel)
    }

    // MARK: Timers

    /// Runs `action` on the loop once `deadline` has come; deadlines are met to the millisecond, never early.
    package func schedule(at deadline: MonotonicTime, _ action: @escaping () -> Void) -> TimerID {
        loop.schedule(at: deadline, action)
    }

    /// Runs `action` on the loop after a time.
    package func schedule(after delay: Duration, _ action: @escaping () -> Void) -> TimerID {
        loop.schedule(at: now + delay, action)
    }

    /// Moves a timer; `false` when it has fired or was cancelled.
    @discardableResult
    package func reschedule(_ id: TimerID, at deadline: MonotonicTime) -> Bool {
        loop.reschedule(id, at: deadline)
    }

    /// Forgets a timer; nothing happens when it has fired or was cancelled.
    package func cancel(_ id: TimerID) {
        loop.cancel(id)
    }

    // MARK: Batches and loop-locals

    /// Adds a closure that runs at the end of every turn, for as long as the loop lives.
    ///
    /// A hook that holds work back to fill a batch answers `.pollAgain`; after at most eight polls in a row, or as soon
    /// as one brings nothing new, it is called with `isQuiet` and must do the work.
    package func atTurnEnd(_ hook: @escaping (TurnEnd) -> TurnEndVerdict) {
        loop.addHook(hook)
    }

    /// This loop's own instance of a loop-local value.
    package func value<Value>(of local: LoopLocal<Value>) -> Value {
        loop.value(of: local)
    }

    // MARK: Counters

    /// Tasks that were spawned and have not ended.
    package var liveTaskCount: Int { loop.liveTasks.load(ordering: .relaxed) }

    /// Channels that are registered.
    package var registrationCount: Int { loop.liveRegistrations.load(ordering: .relaxed) }

    /// Timers that wait.
    package var timerCount: Int { loop.liveTimers.load(ordering: .relaxed) }
}

/// A value that every loop has its own instance of, made when the loop first asks for it.
///
/// The instance is made, used and released on the loop's thread, so it needs no lock and need not be `Sendable`: a
/// reused cipher context, a reader of the database, a scratch buffer. Read it with `LoopContext.value(of:)`.
package final class LoopLocal<Value>: Sendable {
    let index: Int
    let make: @Sendable (LoopContext) -> Value

    /// Describes how a loop makes its instance.
    package init(_ make: @escaping @Sendable (LoopContext) -> Value) {
        index = nextLoopLocalIndex.add(1, ordering: .relaxed).oldValue
        self.make = make
    }
}

/// Every `LoopLocal` of the process has a place of its own in the loops' tables.
private let nextLoopLocalIndex = Atomic<Int>(0)

/// The instances of one loop, by the index of their `LoopLocal`.
struct LoopLocalTable {
    private final class Box<Value> {
        let value: Value

        init(_ value: Value) {
            self.value = value
        }
    }

    private var boxes: [AnyObject?] = []

    func value<Value>(of local: LoopLocal<Value>) -> Value? {
        guard local.index < boxes.count, let box = boxes[local.index] else { return nil }
        // Safe: an index belongs to one LoopLocal, and `store` puts only boxes of its Value there.
        return unsafe unsafeDowncast(box, to: Box<Value>.self).value
    }

    mutating func store<Value>(_ value: Value, for local: LoopLocal<Value>) {
        if local.index >= boxes.count {
            boxes.append(contentsOf: repeatElement(nil, count: local.index + 1 - boxes.count))
        }
        boxes[local.index] = Box(value)
    }
}

/// What a turn-end hook learns about the turn.
package struct TurnEnd: Sendable {
    /// Whether the loop has looked for new work and found none (or has looked often enough): work that was held back to
    /// fill a batch must be done now, because the loop may sleep after this.
    package let isQuiet: Bool

    package init(isQuiet: Bool) {
        self.isQuiet = isQuiet
    }
}

/// What a turn-end hook wants.
package enum TurnEndVerdict: Equatable, Sendable {
    /// Nothing is held back.
    case done
    /// Something is held back: poll once more without sleeping, then call again. Ignored when the turn end was quiet.
    case pollAgain
    /// A group of work has been done and more is left: look at the sockets without sleeping, then call again, however
    /// often it takes.
    case workLeft
}

/// Counts the polls that hooks ask for, so that a hook can put a batch off only for so long.
struct PollAgainBudget: Equatable {
    /// At most so many polls in a row before the turn end counts as quiet.
    static let pollsMaximum = 8

    private var pollsLeft = Self.pollsMaximum

    /// Whether the turn end is quiet: the poll brought nothing, or there were enough polls.
    func isQuiet(broughtWork: Bool) -> Bool {
        !broughtWork || pollsLeft == 0
    }

    /// Notes the hooks' verdict and tells whether to poll again without sleeping.
    mutating func mustPollAgain(asked: Bool, wasQuiet: Bool) -> Bool {
        guard asked, !wasQuiet else {
            pollsLeft = Self.pollsMaximum
            return false
        }
        pollsLeft -= 1
        return true
    }
}
