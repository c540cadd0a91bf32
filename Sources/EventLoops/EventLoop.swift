import Glibc
import POSIXSockets
import Synchronization
import Telemetry

/// One thread with its own epoll set, on which channels, timers and the tasks of requests run.
///
/// # A turn
///
/// 1. **Poll.** `epoll_wait`. It does not sleep if work of the steps below is left over; otherwise it sleeps until the
///    next timer.
/// 2. **Channels.** Each ready channel is called once; at most 256 per turn. If 256 are ready, the channels with
///    `comesFirst` are called before the others. Then the channels that asked for a turn are resumed.
/// 3. **Timers** whose deadline has passed, at most 32 per turn, because the work of a timer can cost as much as a
///    request.
/// 4. **Jobs** of tasks, and closures from other threads, in the order in which they were enqueued; at most 512 per
///    turn.
/// 5. **Turn-end hooks**, which run batches or hand them to the thread beside the loop. Jobs that they make ready run
///    immediately, before the next poll, within the limit of step 4.
///
/// Work beyond a limit runs in the next turn, after a poll. So a busy connection or a busy task does not block others.
///
/// # Executor
///
/// The loop is a `TaskExecutor` and not a `SerialExecutor`: if it were both, `enqueue` could not distinguish the jobs.
/// A job from the loop's own thread goes to the run queue. Any other job goes to an inbox with a lock, and wakes the
/// loop if the inbox was empty.
///
/// Safe to share between threads: `inbox`, `wake`, the counters, `clock` and the thread for computations may be used on
/// any thread. Everything else belongs to the loop's thread, and the methods that use it check the thread.
final class EventLoop: TaskExecutor, @unchecked Sendable {
    static let eventsPerTurnMaximum = 256
    static let timersPerTurnMaximum = 32
    static let jobsPerTurnMaximum = 512

    let index: Int
    let clock: any MonotonicClock

    private let inbox = Mutex(Inbox())
    private let wakeCounter: WakeCounter
    private let threadHandle = Atomic<UInt>(0)
    let liveTasks = Atomic<Int>(0)
    let liveRegistrations = Atomic<Int>(0)
    let liveTimers = Atomic<Int>(0)
    let droppedJobs = Atomic<Int>(0)
    let load = LoopLoad()
    /// Set before the loop's thread starts.
    private(set) var computeThread: ComputeThread?

    // The following properties are used only on the loop's thread.
    private var epoll: EpollSet
    private var registrations = RegistrationTable()
    /// The channels with `comesFirst`. They are listeners, so there are only a few.
    private var firstChannels: [RegistrationID] = []
    private var resumingChannels: [any LoopChannel] = []
    private var spareResumingChannels: [any LoopChannel] = []
    private var timers = TimerQueue()
    private var runQueue = RunQueue()
    private var hooks: [(TurnEnd) -> TurnEndVerdict] = []
    private var pollBudget = PollAgainBudget()
    private var mustPollAgain = false
    private var locals = LoopLocalTable()
    private var stopDeadline: MonotonicTime?

    init(index: Int, clock: any MonotonicClock) throws(EventLoopError) {
        self.index = index
        self.clock = clock
        do throws(SocketError) {
            epoll = try EpollSet(eventsMaximum: Self.eventsPerTurnMaximum)
            wakeCounter = try WakeCounter()
            try epoll.add(wakeCounter.number, .readable, token: Self.wakeToken)
        } catch {
            throw .socket(error)
        }
    }

    /// The token of the wake counter. No registration can have it, because its slot would be the last of four billion.
    private static let wakeToken = UInt64.max

    var context: LoopContext { LoopContext(loop: self) }

    func startComputeThread() throws(EventLoopError) {
        computeThread = try ComputeThread(index: index, clock: clock)
    }

    // MARK: Methods for any thread

    /// Whether the caller runs on this loop's thread.
    var isCurrent: Bool { threadHandle.load(ordering: .relaxed) == UInt(pthread_self()) }

    func enqueue(_ job: consuming ExecutorJob) {
        // A job that is enqueued after the loop's thread has ended never runs, and the memory of its task is not freed.
        if !enqueue(.job(UnownedJob(job))) { droppedJobs.add(1, ordering: .relaxed) }
    }

    /// Queues work. Returns `false` if the loop has stopped and will not do it.
    func enqueue(_ work: LoopWork) -> Bool {
        guard isCurrent else { return post(work) }
        runQueue.append(work)
        return true
    }

    /// Wakes a sleeping loop, so that it checks its clock and inbox.
    func wake() {
        wakeCounter.wake()
    }

    private func post(_ work: LoopWork) -> Bool {
        let (isOpen, wasEmpty) = inbox.withLock { inbox in
            guard inbox.isOpen else { return (false, false) }
            inbox.work.append(work)
            return (true, inbox.work.count == 1)
        }
        if wasEmpty { wakeCounter.wake() }
        return isOpen
    }

    // MARK: The thread's body

    /// Runs turns until the loop has stopped.
    func run() {
        threadHandle.store(UInt(pthread_self()), ordering: .relaxed)
        while !hasFinished { turn() }
        close()
        threadHandle.store(0, ordering: .relaxed)
    }

    private func turn() {
        let timeout = pollTimeout()
        load.turnEnded(at: clock.monotonicTime)
        let eventCount = epoll.wait(milliseconds: timeout)
        load.turnBegan(at: clock.monotonicTime)
        var broughtWork = handleEvents(eventCount)
        resumeChannels()
        runTimers()
        var budget = Self.jobsPerTurnMaximum
        if runJobs(&budget) { broughtWork = true }
        runHooks(afterWork: broughtWork)
        // Resumed jobs may have added work to the next batch, so the hooks must run again before the loop sleeps.
        if runJobs(&budget) && !hooks.isEmpty { mustPollAgain = true }
    }

    private func pollTimeout() -> Int32 {
        if mustPollAgain || !runQueue.isEmpty || !resumingChannels.isEmpty { return 0 }
        var deadline = timers.earliest ?? .distantFuture
        if let stopDeadline { deadline = min(deadline, stopDeadline) }
        if deadline == .distantFuture { return -1 }
        let wait = deadline.nanoseconds.subtractingReportingOverflow(clock.monotonicTime.nanoseconds)
        guard !wait.overflow, wait.partialValue > 0 else { return 0 }
        // The time is rounded up: a loop that woke a fraction of a millisecond too early would poll without a pause.
        return Int32(min((wait.partialValue - 1) / 1_000_000 + 1, 3_600_000))
    }

    private func handleEvents(_ count: Int) -> Bool {
        var broughtWork = false
        let isFull = count == Self.eventsPerTurnMaximum
        if isFull { callFirstChannels() }
        for position in 0..<count {
            let (token, readiness) = epoll.event(at: position)
            if token == Self.wakeToken {
                wakeCounter.reset()
            } else if isFull && firstChannels.contains(where: { $0.token == token }) {
                broughtWork = true
            } else if let channel = registrations[token] {
                broughtWork = true
                channel.ready(readiness, on: context)
            }
        }
        return broughtWork
    }

    private func callFirstChannels() {
        for id in firstChannels { registrations[id.token]?.ready(.readable, on: context) }
    }

    private func resumeChannels() {
        guard !resumingChannels.isEmpty else { return }
        swap(&resumingChannels, &spareResumingChannels)
        for channel in spareResumingChannels { channel.resume(on: context) }
        spareResumingChannels.removeAll(keepingCapacity: true)
    }

    private func runTimers() {
        guard let earliest = timers.earliest else { return }
        let now = clock.monotonicTime
        guard earliest <= now else { return }
        for _ in 0..<Self.timersPerTurnMaximum {
            guard let action = timers.popExpired(at: now) else { break }
            liveTimers.store(timers.count, ordering: .relaxed)
            action()
        }
    }

    /// Runs queued work within a budget. Returns whether there was any.
    private func runJobs(_ budget: inout Int) -> Bool {
        inbox.withLock { inbox in
            if !inbox.work.isEmpty { runQueue.takeAll(from: &inbox.work) }
        }
        guard !runQueue.isEmpty else { return false }
        while budget > 0, let work = runQueue.next() {
            budget -= 1
            switch work {
            case .job(let job): unsafe job.runSynchronously(on: asUnownedTaskExecutor())
            case .call(let body): body()
            }
        }
        return true
    }

    private func runHooks(afterWork broughtWork: Bool) {
        guard !hooks.isEmpty else { return }
        let turnEnd = TurnEnd(isQuiet: pollBudget.isQuiet(broughtWork: broughtWork))
        var asked = false
        for hook in hooks where hook(turnEnd) == .pollAgain { asked = true }
        mustPollAgain = pollBudget.mustPollAgain(asked: asked, wasQuiet: turnEnd.isQuiet)
    }

    // MARK: Stopping

    private var hasFinished: Bool {
        guard let stopDeadline else { return false }
        let isIdle = liveTasks.load(ordering: .acquiring) == 0 && runQueue.isEmpty && resumingChannels.isEmpty
        return isIdle || clock.monotonicTime >= stopDeadline
    }

    /// Ends all channels, and accepts no new ones. Tasks may continue until `deadline`.
    func beginStop(deadline: MonotonicTime) {
        checkThread()
        guard stopDeadline == nil else { return }
        stopDeadline = deadline
        for channel in registrations.channels { channel.loopStops(context) }
    }

    private func close() {
        inbox.withLock { inbox in
            inbox.isOpen = false
            runQueue.takeAll(from: &inbox.work)
        }
        // Accepted closures still run, because their callers may wait for them. Jobs of tasks do not run any more.
        while let work = runQueue.next() {
            switch work {
            case .job: droppedJobs.add(1, ordering: .relaxed)
            case .call(let body): body()
            }
        }
        registrations = RegistrationTable()
        firstChannels = []
        liveRegistrations.store(0, ordering: .relaxed)
        resumingChannels = []
        timers = TimerQueue()
        liveTimers.store(0, ordering: .relaxed)
        hooks = []
        locals = LoopLocalTable()
    }

    private func checkThread() {
        precondition(isCurrent, "what belongs to an event loop was used on another thread")
    }
}

// MARK: Implementation of LoopContext

extension EventLoop {
    func register(
        _ channel: any LoopChannel, _ number: Int32, _ interest: EpollInterest, comesFirst: Bool
    ) throws(EventLoopError) -> RegistrationID {
        checkThread()
        guard stopDeadline == nil else { throw .stopping }
        let id = registrations.insert(channel)
        do throws(SocketError) {
            try epoll.add(number, interest, token: id.token)
        } catch {
            _ = registrations.remove(id)
            throw .socket(error)
        }
        if comesFirst { firstChannels.append(id) }
        liveRegistrations.store(registrations.count, ordering: .relaxed)
        return id
    }

    func modify(_ id: RegistrationID, _ number: Int32, _ interest: EpollInterest) throws(EventLoopError) {
        checkThread()
        do throws(SocketError) {
            try epoll.modify(number, interest, token: id.token)
        } catch {
            throw .socket(error)
        }
    }

    func unregister(_ id: RegistrationID, _ number: Int32) {
        checkThread()
        guard registrations.remove(id) else { return }
        if firstChannels.contains(id) { firstChannels.removeAll { $0 == id } }
        epoll.remove(number)
        liveRegistrations.store(registrations.count, ordering: .relaxed)
    }

    func resumeNextTurn(_ channel: any LoopChannel) {
        checkThread()
        resumingChannels.append(channel)
    }

    func schedule(at deadline: MonotonicTime, _ action: @escaping () -> Void) -> TimerID {
        checkThread()
        let id = timers.schedule(at: deadline, action)
        liveTimers.store(timers.count, ordering: .relaxed)
        return id
    }

    func reschedule(_ id: TimerID, at deadline: MonotonicTime) -> Bool {
        checkThread()
        return timers.reschedule(id, at: deadline)
    }

    func cancel(_ id: TimerID) {
        checkThread()
        timers.cancel(id)
        liveTimers.store(timers.count, ordering: .relaxed)
    }

    func addHook(_ hook: @escaping (TurnEnd) -> TurnEndVerdict) {
        checkThread()
        hooks.append(hook)
    }

    func value<Value>(of local: LoopLocal<Value>) -> Value {
        checkThread()
        if let value = locals.value(of: local) { return value }
        let value = local.make(context)
        locals.store(value, for: local)
        return value
    }
}

/// The work that other threads have enqueued for a loop.
private struct Inbox {
    var work: [LoopWork] = []
    var isOpen = true
}
