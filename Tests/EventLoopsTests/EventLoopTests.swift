import POSIXSockets
import Synchronization
import Telemetry
import TestSupport
import Testing

@testable import EventLoops

@Suite struct EventLoopTests {
    @Test func runsClosuresOnItsThreadInOrder() throws {
        let group = try EventLoopGroup(count: 2)
        let log = Log<String>()
        let loop = group.loops[1]
        for number in 0..<100 { loop.execute { log.append("\(number) \(loop.isCurrent)") } }
        #expect(log.wait(for: 100) == (0..<100).map { "\($0) true" })
        #expect(group.loops.map(\.index) == [0, 1])
        #expect(group.stop(within: .seconds(10)) == StopReport(abandonedTaskCount: 0))
    }

    /// After every await, request code continues on the loop's own thread.
    @Test func tasksStayOnTheirLoop() throws {
        let group = try EventLoopGroup(count: 2)
        let loop = group.loops[0]
        let log = Log<Bool>()
        let counter = Counter()
        loop.spawn {
            log.append(loop.isCurrent)
            await Task.yield()
            log.append(loop.isCurrent)
            await counter.increment()
            log.append(loop.isCurrent)
            async let child = loop.isCurrent
            log.append(await child)
            await withTaskGroup(of: Bool.self) { group in
                for _ in 0..<3 { group.addTask { loop.isCurrent } }
                for await onLoop in group { log.append(onLoop) }
            }
            await withCheckedContinuation { continuation in
                Thread.start { continuation.resume() }
            }
            log.append(loop.isCurrent)
        }
        #expect(log.wait(for: 8) == Array(repeating: true, count: 8))
        group.stop(within: .seconds(10))
        #expect(group.liveTaskCount == 0)
    }

    @Test func countsTasks() throws {
        let group = try EventLoopGroup(count: 1)
        let gate = Gate()
        for _ in 0..<5 { group.loops[0].spawn { await gate.pass() } }
        gate.waitForTasks(5)
        #expect(group.liveTaskCount == 5)
        gate.open()
        #expect(group.stop(within: .seconds(10)).abandonedTaskCount == 0)
        #expect(group.liveTaskCount == 0)
    }

    /// The stop waits for a task that is still suspended.
    @Test func stopsAfterItsTasks() throws {
        let group = try EventLoopGroup(count: 1)
        let gate = Gate()
        let log = Log<String>()
        group.loops[0].spawn {
            await gate.pass()
            log.append("ended")
        }
        gate.waitForTasks(1)
        Thread.start { gate.open() }
        #expect(group.stop(within: .seconds(60)).abandonedTaskCount == 0)
        #expect(log.all == ["ended"])
    }

    @Test func abandonsATaskWhenTimeIsUp() throws {
        let clock = ManualClock()
        let group = try EventLoopGroup(count: 1, clock: clock)
        let gate = Gate()
        let loop = group.loops[0]
        loop.spawn { await gate.pass() }
        gate.waitForTasks(1)
        #expect(group.stop(within: .zero).abandonedTaskCount == 1)
        // The task's continuation finds a stopped loop, and nothing runs anywhere else.
        gate.open()
        #expect(loop.loop.droppedJobs.load(ordering: .relaxed) == 1)
        #expect(!loop.execute { Issue.record("a stopped loop ran something") })
        #expect(loop.runAndWait { true } == nil)
        #expect(group.stop(within: .zero).abandonedTaskCount == 1)
    }

    @Test func firesTimersByItsClockAlone() throws {
        let clock = ManualClock()
        let group = try EventLoopGroup(count: 1, clock: clock)
        let loop = group.loops[0]
        let log = Log<Int>()
        loop.runAndWait {
            for seconds in [30, 10, 20] { _ = loop.schedule(after: .seconds(seconds)) { log.append(seconds) } }
            let cancelled = loop.schedule(after: .seconds(5)) { log.append(5) }
            loop.cancel(cancelled)
        }
        #expect(loop.timerCount == 3)
        clock.advance(by: .seconds(9))
        group.wakeAll()
        loop.runAndWait {}
        #expect(log.all == [])
        clock.advance(by: .seconds(11))
        group.wakeAll()
        #expect(log.wait(for: 2) == [10, 20])
        loop.runAndWait {}
        #expect(loop.timerCount == 1)
        group.stop(within: .zero)
    }

    /// Many timers that fire at the same time, for example those of a wave of connections, do not delay other events.
    @Test func looksAtChannelsBetweenTimers() throws {
        let clock = ManualClock()
        let group = try EventLoopGroup(count: 1, clock: clock)
        let loop = group.loops[0]
        let log = Log<String>()
        let channel = CounterChannel(log)
        try #require(loop.runAndWait { channel.register(on: loop) } == true)
        loop.runAndWait {
            for number in 0..<200 {
                _ = loop.schedule(after: .seconds(1)) {
                    if number == 0 { channel.counter.wake() }
                    log.append("timer")
                }
            }
        }
        clock.advance(by: .seconds(1))
        group.wakeAll()
        let position = try #require(log.wait(for: 202).firstIndex(of: "ready"))
        #expect(position <= 32)
        loop.runAndWait { channel.unregister(on: loop) }
        group.stop(within: .zero)
    }

    /// Events before a listener's event, for example the ends of thousands of connections, do not delay the listener.
    @Test func callsFirstChannelsBeforeAllThatAFullTurnBrings() throws {
        let group = try EventLoopGroup(count: 1)
        let loop = group.loops[0]
        let log = Log<String>()
        let others = (0..<300).map { _ in NamedChannel("other", log) }
        let first = NamedChannel("first", log)
        loop.runAndWait {
            for channel in others { channel.register(on: loop) }
            first.register(on: loop, comesFirst: true)
            // Epoll reports the events in this order.
            for channel in others { channel.counter.wake() }
            first.counter.wake()
        }
        let names = log.wait(for: 301)
        #expect(names.firstIndex(of: "first") == 0)
        loop.runAndWait {}
        // It is called once in the full turn, and not a second time for its own event.
        #expect(log.all.count { $0 == "first" } == 1)
        #expect(log.all.count { $0 == "other" } == 300)
        loop.runAndWait { for channel in others + [first] { channel.unregister(on: loop) } }
        group.stop(within: .zero)
    }

    /// In a turn that is not full, a channel that comes first is called only for its own events.
    @Test func callsFirstChannelsForNothingInNoOtherTurn() throws {
        let group = try EventLoopGroup(count: 1)
        let loop = group.loops[0]
        let log = Log<String>()
        let other = NamedChannel("other", log)
        let first = NamedChannel("first", log)
        loop.runAndWait {
            other.register(on: loop)
            first.register(on: loop, comesFirst: true)
            other.counter.wake()
        }
        #expect(log.wait(for: 1) == ["other"])
        loop.runAndWait { first.counter.wake() }
        #expect(log.wait(for: 2) == ["other", "first"])
        loop.runAndWait { for channel in [other, first] { channel.unregister(on: loop) } }
        group.stop(within: .zero)
    }

    @Test func firesTimersByItselfWithTheMachinesClock() throws {
        let group = try EventLoopGroup(count: 1)
        let loop = group.loops[0]
        let log = Log<Bool>()
        loop.execute {
            let start = loop.now
            _ = loop.schedule(after: .milliseconds(3)) { log.append(loop.now - start >= .milliseconds(3)) }
        }
        #expect(log.wait(for: 1) == [true])
        group.stop(within: .zero)
    }

    @Test func callsAReadyChannelAndForgetsItAfterwards() throws {
        let group = try EventLoopGroup(count: 1)
        let loop = group.loops[0]
        let log = Log<String>()
        let channel = CounterChannel(log)
        try #require(loop.runAndWait { channel.register(on: loop) } == true)
        #expect(loop.registrationCount == 1)
        channel.counter.wake()
        #expect(log.wait(for: 2) == ["ready", "resumed"])
        loop.runAndWait { channel.unregister(on: loop) }
        #expect(loop.registrationCount == 0)
        channel.counter.wake()
        loop.runAndWait {}
        #expect(log.all.count == 2)
        group.stop(within: .zero)
    }

    @Test func tellsChannelsThatItStopsAndTakesNoNewOnes() throws {
        let group = try EventLoopGroup(count: 1)
        let loop = group.loops[0]
        let log = Log<String>()
        let channel = CounterChannel(log)
        let late = CounterChannel(log)
        let gate = Gate()
        _ = loop.runAndWait { channel.register(on: loop) }
        loop.spawn {
            await gate.pass()
            log.append("registered late: \(late.register(on: loop))")
        }
        gate.waitForTasks(1)
        channel.whenStopped { gate.open() }
        group.stop(within: .seconds(60))
        #expect(log.all == ["stopped", "registered late: false"])
        #expect(group.registrationCount == 0)
    }

    private final class Named {
        let name: String

        init(_ name: String) {
            self.name = name
        }
    }

    @Test func givesEachLoopItsOwnValue() throws {
        let group = try EventLoopGroup(count: 2)
        let made = Log<Int>()
        let local = LoopLocal { loop in
            made.append(loop.index)
            return Named("loop \(loop.index)")
        }
        let other = LoopLocal { _ in Named("other") }
        for loop in group.loops {
            for _ in 0..<2 { #expect(loop.runAndWait { loop.value(of: local).name } == "loop \(loop.index)") }
            #expect(loop.runAndWait { loop.value(of: other).name } == "other")
        }
        #expect(made.all == [0, 1])
        group.stop(within: .zero)
    }

    /// The loop releases its values when it stops, on its own thread.
    @Test func releasesLoopLocalsWhenItStops() throws {
        let group = try EventLoopGroup(count: 1)
        let loop = group.loops[0]
        let log = Log<Bool>()
        let local = LoopLocal { loop in Witness { log.append(loop.isCurrent) } }
        loop.runAndWait { _ = loop.value(of: local) }
        #expect(log.all == [])
        group.stop(within: .zero)
        #expect(log.all == [true])
    }

    /// A task that always has work does not block the loop's channels and timers.
    @Test func sharesTurnsWithABusyTask() throws {
        let group = try EventLoopGroup(count: 1)
        let loop = group.loops[0]
        let log = Log<String>()
        let stop = Gate()
        let channel = CounterChannel(log)
        _ = loop.runAndWait { channel.register(on: loop) }
        loop.spawn {
            while log.all.count < 3 { await Task.yield() }
            await stop.pass()
        }
        channel.counter.wake()
        loop.execute { _ = loop.schedule(after: .milliseconds(1)) { log.append("timer") } }
        #expect(Set(log.wait(for: 3)) == ["ready", "resumed", "timer"])
        stop.open()
        group.stop(within: .seconds(60))
    }
}

@Suite struct TurnEndHookTests {
    /// A batch that is held back waits for a poll without events. It then runs although nothing wakes the loop.
    @Test func runsAPartialBatchOnceItIsQuiet() throws {
        let group = try EventLoopGroup(count: 1)
        let loop = group.loops[0]
        let log = Log<String>()
        let batch = Batch(log)
        loop.runAndWait { loop.atTurnEnd { batch.turnEnd($0) } }
        let answers = Log<Int>()
        loop.execute {
            for number in 0..<3 {
                loop.spawn { answers.append(await batch.join(number)) }
            }
        }
        #expect(answers.wait(for: 3).sorted() == [0, 1, 2])
        #expect(log.all.last == "ran 3")
        group.stop(within: .seconds(10))
        #expect(group.liveTaskCount == 0)
    }

    /// The answers to one batch may fill the next batch immediately, and nothing else wakes the loop then.
    @Test func runsABatchThatABatchHasFilled() throws {
        let group = try EventLoopGroup(count: 1)
        let loop = group.loops[0]
        let batch = Batch(Log<String>())
        loop.runAndWait { loop.atTurnEnd { batch.turnEnd($0) } }
        let answers = Log<Int>()
        loop.spawn {
            for number in 0..<5 { answers.append(await batch.join(number)) }
        }
        #expect(answers.wait(for: 5) == [0, 1, 2, 3, 4])
        group.stop(within: .seconds(10))
    }

    /// Steady work delays a batch only for a limited number of polls.
    @Test func asksAtMostEightTimesInARow() throws {
        let group = try EventLoopGroup(count: 1)
        let loop = group.loops[0]
        let log = Log<Bool>()
        // The counter is never reset, so every poll brings an event.
        let channel = EagerChannel()
        loop.runAndWait {
            loop.atTurnEnd { turnEnd in
                log.append(turnEnd.isQuiet)
                return turnEnd.isQuiet ? .done : .pollAgain
            }
            channel.register(on: loop)
        }
        let quiet = log.wait(for: 40)
        #expect(quiet.split(separator: true, omittingEmptySubsequences: false).map(\.count).max() ?? 0 <= 8)
        #expect(quiet.contains(true))
        group.stop(within: .zero)
    }
}

private actor Counter {
    private var value = 0

    func increment() { value += 1 }
}

private final class Witness {
    private let end: () -> Void

    init(_ end: @escaping () -> Void) {
        self.end = end
    }

    deinit { end() }
}

/// Threads that belong to no loop.
enum Thread {
    static func start(_ body: @escaping @Sendable () -> Void) {
        do throws(EventLoopError) {
            let thread = JoinableThread(try NativeThread(name: "test", body))
            strays.update { $0.append(thread) }
        } catch {
            Issue.record(error)
        }
    }

    private static let strays = Monitor<[JoinableThread]>([])
}

/// Safe to send: apart from the counter, it is used on its loop only.
private final class CounterChannel: LoopChannel, @unchecked Sendable {
    let counter: WakeCounter
    private let log: Log<String>
    private var registration: RegistrationID?
    private let stopped = Monitor<(@Sendable () -> Void)?>(nil)

    init(_ log: Log<String>) {
        do {
            counter = try WakeCounter()
        } catch {
            preconditionFailure("no descriptor for a test")
        }
        self.log = log
    }

    func whenStopped(_ body: @escaping @Sendable () -> Void) {
        stopped.update { $0 = body }
    }

    func register(on loop: LoopContext) -> Bool {
        registration = try? loop.register(self, descriptor: counter.number, interest: .readable)
        return registration != nil
    }

    func unregister(on loop: LoopContext) {
        if let registration { loop.unregister(registration, descriptor: counter.number) }
    }

    func ready(_ readiness: EpollReadiness, on loop: LoopContext) {
        counter.reset()
        log.append("ready")
        loop.resumeNextTurn(self)
    }

    func resume(on loop: LoopContext) {
        log.append("resumed")
    }

    func loopStops(_ loop: LoopContext) {
        unregister(on: loop)
        log.append("stopped")
        stopped.update { $0 }?()
    }
}

/// Logs that it was called. Safe to send: apart from the counter, it is used on its loop only.
private final class NamedChannel: LoopChannel, @unchecked Sendable {
    let counter: WakeCounter
    private let name: String
    private let log: Log<String>
    private var registration: RegistrationID?

    init(_ name: String, _ log: Log<String>) {
        do {
            counter = try WakeCounter()
        } catch {
            preconditionFailure("no descriptor for a test")
        }
        self.name = name
        self.log = log
    }

    func register(on loop: LoopContext, comesFirst: Bool = false) {
        #expect(throws: Never.self) {
            registration = try loop.register(
                self, descriptor: counter.number, interest: .readable, comesFirst: comesFirst)
        }
    }

    func unregister(on loop: LoopContext) {
        if let registration { loop.unregister(registration, descriptor: counter.number) }
    }

    func ready(_ readiness: EpollReadiness, on loop: LoopContext) {
        counter.reset()
        log.append(name)
    }

    func resume(on loop: LoopContext) {}
    func loopStops(_ loop: LoopContext) {}
}

/// Safe to send: apart from the counter, it is used on its loop only.
private final class EagerChannel: LoopChannel, @unchecked Sendable {
    private let counter: WakeCounter

    init() {
        do {
            counter = try WakeCounter()
        } catch {
            preconditionFailure("no descriptor for a test")
        }
        counter.wake()
    }

    func register(on loop: LoopContext) {
        #expect(throws: Never.self) { try loop.register(self, descriptor: counter.number, interest: .readable) }
    }

    func ready(_ readiness: EpollReadiness, on loop: LoopContext) {}
    func resume(on loop: LoopContext) {}
    func loopStops(_ loop: LoopContext) {}
}

/// Safe to send: used on its loop only.
private final class Batch: @unchecked Sendable {
    private let log: Log<String>
    private var waiting: [(Int, CheckedContinuation<Int, Never>)] = []

    init(_ log: Log<String>) {
        self.log = log
    }

    func join(_ number: Int) async -> Int {
        await withCheckedContinuation { waiting.append((number, $0)) }
    }

    func turnEnd(_ turnEnd: TurnEnd) -> TurnEndVerdict {
        if waiting.isEmpty { return .done }
        guard turnEnd.isQuiet else {
            log.append("held back \(waiting.count)")
            return .pollAgain
        }
        log.append("ran \(waiting.count)")
        let batch = waiting
        waiting = []
        for (number, continuation) in batch { continuation.resume(returning: number) }
        return .done
    }
}
