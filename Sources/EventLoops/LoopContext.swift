package import POSIXSockets
import Synchronization
package import Telemetry

/// The interface of a loop for handlers and channels.
///
/// A context may be passed to any thread. `spawn`, `execute`, `runAndWait`, `compute`, `now`, `index`, `isCurrent`,
/// `lag`, `computationAge`, `longestTurn` and the counters work on any thread. Everything else may be used only on the
/// loop's thread; any other use is a bug that ends the process.
package struct LoopContext: Sendable {
    let loop: EventLoop

    /// The position of the loop in its group, from 0.
    package var index: Int { loop.index }

    /// Whether the caller runs on the loop's thread.
    package var isCurrent: Bool { loop.isCurrent }

    /// The present time on the loop's clock.
    package var now: MonotonicTime { loop.clock.monotonicTime }

    /// The age of the running turn: new work has to wait until this turn has ended.
    package var lag: Duration { loop.load.lag(at: now) }

    /// The age of the computation that runs on the thread beside the loop.
    package var computationAge: Duration { loop.computeThread?.lag(at: now) ?? .zero }

    /// The longest turn of the last 30 to 60 seconds.
    package var longestTurn: Duration { loop.load.longestTurn }

    // MARK: Work

    /// Starts a task that runs on this loop, also after each `await`. The loop does not stop before the task has ended.
    ///
    /// Use this instead of `Task {}`, which would run on the global pool.
    package func spawn(_ body: @escaping @Sendable () async -> Void) {
        let loop = loop
        loop.liveTasks.add(1, ordering: .relaxed)
        _ = Task(executorPreference: loop) {
            await body()
            loop.liveTasks.subtract(1, ordering: .releasing)
        }
    }

    /// Runs a closure on the loop, after the work that is queued already. Returns `false` if the loop has stopped and
    /// will not run it.
    @discardableResult
    package func execute(_ body: @escaping @Sendable () -> Void) -> Bool {
        loop.enqueue(.call(body))
    }

    /// Runs a closure on the loop, and waits for its result; `nil` if the loop has stopped. It blocks, so it must not
    /// be called on loops and in tasks.
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

    /// Runs `body` on the thread beside the loop, after the computations that it was given before, and then `finish`
    /// with the result on the loop. For work that takes longer than a turn should, in a group that computes. If the
    /// loop has stopped by then, the result is dropped.
    package func compute<Result: Sendable>(
        _ body: @escaping @Sendable () -> Result, then finish: @escaping @Sendable (Result) -> Void
    ) {
        precondition(loop.computeThread != nil, "the group does not compute")
        _ = executeBeside {
            let result = body()
            execute { finish(result) }
        }
    }

    /// Runs a closure on the thread beside the loop. Returns `false` if no such thread will run it.
    func executeBeside(_ body: @escaping @Sendable () -> Void) -> Bool { loop.computeThread?.execute(body) ?? false }

    // MARK: Channels

    /// Watches a descriptor for a channel, which the loop keeps alive until it is unregistered.
    ///
    /// Events come in the order in which they happened, at most 256 per turn. In a turn with 256 events, channels with
    /// `comesFirst` are called before the others, even without an event. So they do not have to wait for the events of
    /// thousands of other channels.
    package func register(
        _ channel: any LoopChannel, descriptor: Int32, interest: EpollInterest, comesFirst: Bool = false
    ) throws(EventLoopError) -> RegistrationID {
        try loop.register(channel, descriptor, interest, comesFirst: comesFirst)
    }

    /// Changes the events for which a registered descriptor is watched.
    package func modify(_ id: RegistrationID, descriptor: Int32, interest: EpollInterest) throws(EventLoopError) {
        try loop.modify(id, descriptor, interest)
    }

    /// Stops watching a descriptor. It must be called before the descriptor is closed. Waiting events are dropped.
    package func unregister(_ id: RegistrationID, descriptor: Int32) {
        loop.unregister(id, descriptor)
    }

    /// Calls the channel's `resume(on:)` in the next turn, after the ready channels.
    package func resumeNextTurn(_ channel: any LoopChannel) {
        loop.resumeNextTurn(channel)
    }

    // MARK: Timers

    /// Runs `action` on the loop when `deadline` has passed: up to about a millisecond late, and never early.
    package func schedule(at deadline: MonotonicTime, _ action: @escaping () -> Void) -> TimerID {
        loop.schedule(at: deadline, action)
    }

    /// Runs `action` on the loop after a time.
    package func schedule(after delay: Duration, _ action: @escaping () -> Void) -> TimerID {
        loop.schedule(at: now + delay, action)
    }

    /// Moves a timer. Returns `false` if it has fired or was cancelled.
    @discardableResult
    package func reschedule(_ id: TimerID, at deadline: MonotonicTime) -> Bool {
        loop.reschedule(id, at: deadline)
    }

    /// Cancels a timer. Does nothing if it has fired or was cancelled.
    package func cancel(_ id: TimerID) {
        loop.cancel(id)
    }

    // MARK: Batches and loop-locals

    /// Adds a closure that runs at the end of every turn until the loop ends.
    ///
    /// A hook that delays work to fill a batch returns `.pollAgain`. After at most eight polls in a row, or when a poll
    /// brings no new work, the hook is called with `isQuiet` and must do the work.
    package func atTurnEnd(_ hook: @escaping (TurnEnd) -> TurnEndVerdict) {
        loop.addHook(hook)
    }

    /// Returns this loop's instance of a loop-local value.
    package func value<Value>(of local: LoopLocal<Value>) -> Value {
        loop.value(of: local)
    }

    // MARK: Counters

    /// The number of tasks that were spawned and have not ended.
    package var liveTaskCount: Int { loop.liveTasks.load(ordering: .relaxed) }

    /// The number of registered channels.
    package var registrationCount: Int { loop.liveRegistrations.load(ordering: .relaxed) }

    /// The number of waiting timers.
    package var timerCount: Int { loop.liveTimers.load(ordering: .relaxed) }
}

/// An object of which every loop has its own instance, such as a cipher context, a reader of the database or a buffer.
///
/// The instance is made when the loop first needs it. It is made, used and released on the loop's thread, so it needs
/// no lock and need not be `Sendable`. Read it with `LoopContext.value(of:)`.
///
/// It is an object and not any value, because each request reads several. A generic box around a value would make each
/// reading look up the type of the box.
package final class LoopLocal<Value: AnyObject>: Sendable {
    let index: Int
    let make: @Sendable (LoopContext) -> Value

    /// Describes how a loop makes its instance.
    package init(_ make: @escaping @Sendable (LoopContext) -> Value) {
        index = nextLoopLocalIndex.add(1, ordering: .relaxed).oldValue
        self.make = make
    }
}

/// The index of the next `LoopLocal`. Each one has its own index in the loops' tables.
private let nextLoopLocalIndex = Atomic<Int>(0)

/// The instances of one loop, by the index of their `LoopLocal`.
struct LoopLocalTable {
    private var instances: [AnyObject?] = []

    func value<Value>(of local: LoopLocal<Value>) -> Value? {
        guard local.index < instances.count, let instance = instances[local.index] else { return nil }
        // Safe: an index belongs to one LoopLocal, and `store` stores only objects of its Value there.
        return unsafe unsafeDowncast(instance, to: Value.self)
    }

    mutating func store<Value>(_ value: Value, for local: LoopLocal<Value>) {
        if local.index >= instances.count {
            instances.append(contentsOf: repeatElement(nil, count: local.index + 1 - instances.count))
        }
        instances[local.index] = value
    }
}

/// The facts about a turn that a turn-end hook gets.
package struct TurnEnd: Sendable {
    /// Whether the last poll found no new work, or there were enough polls. Work that was delayed to fill a batch must
    /// be done now, because the loop may sleep after this.
    package let isQuiet: Bool
}

/// What a turn-end hook asks the loop to do.
package enum TurnEndVerdict: Equatable, Sendable {
    /// No work is delayed.
    case done
    /// Work is delayed: the loop must poll once more without sleeping, then call the hook again. Ignored if the turn
    /// end was quiet.
    case pollAgain
}

/// Counts the polls that hooks ask for, so that a hook cannot delay a batch for too long.
struct PollAgainBudget: Equatable {
    /// The most polls in a row before the turn end counts as quiet.
    static let pollsMaximum = 8

    private var pollsLeft = Self.pollsMaximum

    /// Whether the turn end is quiet: the poll brought no work, or there were enough polls.
    func isQuiet(broughtWork: Bool) -> Bool {
        !broughtWork || pollsLeft == 0
    }

    /// Notes the hooks' verdict. Returns whether to poll again without sleeping.
    mutating func mustPollAgain(asked: Bool, wasQuiet: Bool) -> Bool {
        guard asked, !wasQuiet else {
            pollsLeft = Self.pollsMaximum
            return false
        }
        pollsLeft -= 1
        return true
    }
}
