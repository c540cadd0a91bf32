import FairPlay
import Foundation
import LadderWorkers
import Synchronization
import Telemetry
import TestSupport

@testable import EventLoops

/// A pool of real worker processes of `latchkeyd`, on its own loop and with the stand-in module. Calls can be started
/// on another loop.
final class PoolFixture: Sendable {
    let group: EventLoopGroup
    let pool: LadderWorkerPool
    let events = EventLog()

    var loop: LoopContext { group.loops[0] }

    /// Makes the pool. The deadlines are so long that only tests that move the clock reach them.
    init(
        workers: Int = 1, options: StandInOptions = StandInOptions(.applicationSecret(TestCall.applicationSecret)),
        clock: any MonotonicClock = SystemMonotonicClock(),
        configure: (inout LadderModuleConfiguration) -> Void = { _ in }
    ) throws {
        var configuration = LadderModuleConfiguration(
            libraryPath: try StandInModule.build(), kind: .module(data: options.data))
        configuration.workerCount = workers
        configuration.callDeadline = .seconds(60)
        configuration.processorTimeMaximum = .seconds(60)
        configuration.queueDeadline = .seconds(120)
        configuration.startDeadline = .seconds(60)
        configuration.programPath = try BuiltProgram.path("latchkeyd")
        configure(&configuration)
        group = try EventLoopGroup(count: 2, clock: clock)
        pool = LadderWorkerPool(configuration, on: group.loops[0], observer: { [events] in events.append($0) })
    }

    deinit {
        group.stop(within: .seconds(10))
    }

    /// The error of a call, or nil if the answer is right. A wrong answer is reported as a malformed one.
    func outcome(of call: TestCall) async -> LadderModuleError? {
        do throws(LadderModuleError) {
            return call.isAnswered(by: try await pool.answer(call.call)) ? nil : .answerMalformed
        } catch {
            return error
        }
    }

    /// Starts a call immediately, even if other work waits for Swift's own threads. The calling test may block one of
    /// them.
    func begin(_ call: TestCall) -> Task<LadderModuleError?, Never> {
        Task(executorPreference: group.loops[1].loop) { await self.outcome(of: call) }
    }

    /// Waits until the condition is true. Returns false if it is not true after some minutes.
    func reaches(_ condition: () -> Bool) -> Bool {
        let end = ContinuousClock.now + .seconds(300)
        while !condition() {
            if ContinuousClock.now > end { return false }
            loop.runAndWait {}
        }
        return true
    }

    /// Whether one of these workers hangs in its call.
    func hangs(_ processes: [Int32]) -> Bool {
        processes.contains { (try? TextFile.read("/proc/\($0)/comm")) == "hanging\n" }
    }
}

/// The events of a pool, in order. A test can wait for them.
final class EventLog: Sendable {
    private struct State {
        var events: [LadderWorkerEvent] = []
        var waiters: [Waiter] = []
    }

    private struct Waiter {
        let id: UUID
        let isEnough: @Sendable ([LadderWorkerEvent]) -> Bool
        let continuation: CheckedContinuation<[LadderWorkerEvent], Never>
    }

    private static let patience: DispatchTimeInterval = .seconds(60)
    private let state = Mutex(State())

    func append(_ event: LadderWorkerEvent) {
        let (events, ready) = state.withLock { state in
            state.events.append(event)
            let events = state.events
            let ready = state.waiters.filter { $0.isEnough(events) }
            state.waiters.removeAll { $0.isEnough(events) }
            return (events, ready)
        }
        for waiter in ready { waiter.continuation.resume(returning: events) }
    }

    var all: [LadderWorkerEvent] { state.withLock { $0.events } }

    /// Waits until there are enough events, and returns all. After a minute it returns the existing events, so that a
    /// test fails instead of hanging.
    func wait(_ isEnough: @escaping @Sendable ([LadderWorkerEvent]) -> Bool) async -> [LadderWorkerEvent] {
        await withCheckedContinuation { continuation in
            let waiter = Waiter(id: UUID(), isEnough: isEnough, continuation: continuation)
            let events = state.withLock { state in
                if !isEnough(state.events) { state.waiters.append(waiter) }
                return isEnough(state.events) ? state.events : nil
            }
            if let events { return continuation.resume(returning: events) }
            DispatchQueue.global().asyncAfter(deadline: .now() + Self.patience) { [weak self] in self?.giveUp(waiter.id)
            }
        }
    }

    private func giveUp(_ id: UUID) {
        let (events, waiter) = state.withLock { state in
            let waiter = state.waiters.first { $0.id == id }
            state.waiters.removeAll { $0.id == id }
            return (state.events, waiter)
        }
        waiter?.continuation.resume(returning: events)
    }

    /// The process ids of the first `count` workers that became ready.
    func ready(_ count: Int) async -> [Int32] {
        await wait { $0.compactMap(\.readyProcessID).count >= count }.compactMap(\.readyProcessID)
    }

    /// The first `count` events of workers that ended.
    func ends(_ count: Int) async -> [LadderWorkerEvent] {
        await wait { $0.filter(\.isEnd).count >= count }.filter(\.isEnd)
    }

    /// The reasons why no worker became ready, when there are `count` of them.
    func startFailures(_ count: Int) async -> [LadderStartFailure] {
        await wait { $0.compactMap(\.startFailure).count >= count }.compactMap(\.startFailure)
    }
}

extension LadderWorkerEvent {
    var readyProcessID: Int32? {
        switch self {
        case .ready(let processID): processID
        case .ended, .startFailed: nil
        }
    }

    var isEnd: Bool {
        switch self {
        case .ended: true
        case .ready, .startFailed: false
        }
    }

    var startFailure: LadderStartFailure? {
        switch self {
        case .startFailed(let failure): failure
        case .ready, .ended: nil
        }
    }

    var loss: LadderWorkerLoss? {
        switch self {
        case .ended(_, let loss, _, _): loss
        case .ready, .startFailed: nil
        }
    }
}

extension ManualClock {
    /// Moves the clock, and lets the loops of a group see the new time.
    func advance(by duration: Duration, _ group: EventLoopGroup) {
        advance(by: duration)
        group.wakeAll()
    }
}
