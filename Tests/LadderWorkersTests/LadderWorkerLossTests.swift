import EventLoops
import FairPlay
import Foundation
import POSIXSockets
import Telemetry
import TestSupport
import Testing

@testable import LadderWorkers

extension LadderWorkerTests {
    /// The effects of lost workers, and how workers are replaced.
    @Suite struct Losses {
        /// Workers are killed repeatedly under load. Each kill loses at most one call, and every other call gets the
        /// right answer.
        @Test func losesOneCallPerKillAtMost() async throws {
            var options = StandInOptions(.applicationSecret(TestCall.applicationSecret))
            options.busyMicroseconds = 100
            let fixture = try PoolFixture(workers: 2, options: options)
            let killCount = 12
            let isOver = Flag()
            let outcomes = try await withThrowingTaskGroup(of: [LadderModuleError?].self) { group in
                for _ in 0..<16 {
                    let calls = try (0..<8).map { _ in try TestCall() }
                    group.addTask {
                        var outcomes: [LadderModuleError?] = []
                        while !isOver.isSet {
                            for call in calls { outcomes.append(await fixture.outcome(of: call)) }
                        }
                        return outcomes
                    }
                }
                for kills in 0..<killCount {
                    // This kills the oldest worker, usually in the middle of its calls.
                    let processes = await fixture.events.ready(2 + kills)
                    kill(try #require(processes.count == 2 + kills ? processes[kills] : nil), SIGKILL)
                    #expect(await fixture.events.ends(kills + 1).count == kills + 1)
                }
                isOver.set()
                return try await group.reduce(into: []) { $0 += $1 }
            }
            let lost = outcomes.filter { $0 != nil }
            #expect(lost.allSatisfy { $0 == .workerLost })
            #expect(lost.count <= killCount)
            #expect(fixture.pool.statistics.lossCount == UInt64(lost.count))
            #expect(fixture.pool.statistics.deathCount == UInt64(killCount))
            #expect(outcomes.count > 10 * killCount)
        }

        /// A call that takes too long is ended together with its worker. The call after it goes to the next worker.
        @Test func endsAWorkerThatHangs() async throws {
            let clock = ManualClock()
            let fixture = try PoolFixture(clock: clock)
            let processID = try #require(await fixture.events.ready(1).first)
            let hanging = try TestCall(fault: .hang)
            let behind = try TestCall()
            let hangs = fixture.begin(hanging)
            #expect(fixture.reaches { fixture.hangs([processID]) })
            let waits = fixture.begin(behind)
            // The second call is first queued after the one that hangs, then in the pool's queue again.
            #expect(fixture.reaches { fixture.pool.statistics.sentCallCount >= 2 })
            clock.advance(by: WorkerCalls.patience, fixture.group)
            #expect(fixture.reaches { fixture.pool.statistics.queueLength >= 1 })
            clock.advance(by: .seconds(60), fixture.group)
            #expect(await hangs.value == .workerLost)
            let ends = await fixture.events.ends(1)
            #expect(ends.map(\.loss) == [.hung])
            fixture.loop.runAndWait {}
            clock.advance(by: .seconds(1), fixture.group)
            #expect(await waits.value == nil)
            #expect(await fixture.events.ready(2).count == 2)
        }

        /// If there is another worker, the call after the one that hangs does not wait for the deadline.
        @Test func answersWhatLiesBehindAHangingCall() async throws {
            let clock = ManualClock()
            let fixture = try PoolFixture(workers: 2, clock: clock)
            let processes = await fixture.events.ready(2)
            let calls = (try TestCall(fault: .hang), try TestCall(fault: .slow), try TestCall())
            let hangs = fixture.begin(calls.0)
            #expect(fixture.reaches { fixture.hangs(processes) })
            let isSlow = fixture.begin(calls.1)
            #expect(fixture.reaches { fixture.pool.statistics.sentCallCount >= 2 })
            let waits = fixture.begin(calls.2)
            #expect(fixture.reaches { fixture.pool.statistics.sentCallCount >= 3 })
            #expect(await isSlow.value == nil)
            // Now one worker is idle, and the third call is queued after the one that hangs.
            #expect(fixture.pool.statistics.sentCallCount == 2)
            clock.advance(by: WorkerCalls.patience, fixture.group)
            #expect(await waits.value == nil)
            #expect(fixture.pool.statistics.deathCount == 0)
            clock.advance(by: .seconds(60), fixture.group)
            #expect(await hangs.value == .workerLost)
        }

        /// The processor time of all threads of a process.
        private static func processorTime(of process: Int32) -> Duration? {
            var clock = clockid_t()
            var time = timespec()
            // Safe: local variables.
            guard unsafe clock_getcpuclockid(process, &clock) == 0, unsafe clock_gettime(clock, &time) == 0 else {
                return nil
            }
            return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
        }

        /// Waits until a process has used this additional processor time.
        private func hasUsed(_ more: Duration, of process: Int32, in fixture: PoolFixture) throws -> Bool {
            let before = try #require(Self.processorTime(of: process))
            return fixture.reaches { Self.processorTime(of: process).map { $0 - before >= more } ?? false }
        }

        /// A call that computes without end is ended long before its deadline, and the next worker answers the call
        /// after it.
        @Test func endsAWorkerThatComputesForEver() async throws {
            let clock = ManualClock()
            let fixture = try PoolFixture(clock: clock) { $0.processorTimeMaximum = .milliseconds(100) }
            let process = try #require(await fixture.events.ready(1).first)
            let calls = (try TestCall(fault: .burn), try TestCall())
            let burns = fixture.begin(calls.0)
            #expect(try hasUsed(.milliseconds(200), of: process, in: fixture))
            let waits = fixture.begin(calls.1)
            #expect(fixture.reaches { fixture.pool.statistics.sentCallCount >= 2 })
            clock.advance(by: WorkerSupervisor.accountInterval, fixture.group)
            #expect(await burns.value == .workerLost)
            #expect(await fixture.events.ends(1).map(\.loss) == [.overspent])
            fixture.loop.runAndWait {}
            clock.advance(by: .seconds(1), fixture.group)
            #expect(await waits.value == nil)
            #expect(fixture.pool.statistics.lossCount == 1)
        }

        /// If a module computes without a call, its worker is ended, but no call is lost.
        @Test func endsAWorkerThatComputesWithoutACall() async throws {
            let clock = ManualClock()
            let fixture = try PoolFixture(clock: clock) { $0.processorTimeMaximum = .milliseconds(100) }
            let process = try #require(await fixture.events.ready(1).first)
            #expect(await fixture.outcome(of: try TestCall(fault: .burnBehind)) == nil)
            #expect(try hasUsed(.milliseconds(200), of: process, in: fixture))
            clock.advance(by: WorkerSupervisor.accountInterval, fixture.group)
            #expect(
                await fixture.events.ends(1)
                    == [.ended(processID: process, .overspent, .killed(signal: SIGKILL), lostCall: false)])
            fixture.loop.runAndWait {}
            clock.advance(by: .seconds(1), fixture.group)
            #expect(await fixture.outcome(of: try TestCall()) == nil)
        }

        /// Processor time for answered calls does not add up against a worker.
        @Test(.tags(.slow)) func keepsAWorkerThatHasAnsweredForLong() async throws {
            var options = StandInOptions(.applicationSecret(TestCall.applicationSecret))
            options.busyMicroseconds = 50_000
            let fixture = try PoolFixture(options: options) { $0.processorTimeMaximum = .milliseconds(500) }
            let process = try #require(await fixture.events.ready(1).first)
            for _ in 0..<40 { #expect(await fixture.outcome(of: try TestCall()) == nil) }
            #expect(try #require(Self.processorTime(of: process)) >= .seconds(2))
            #expect(fixture.pool.statistics.deathCount == 0)
        }

        @Test func refusesMoreCallsThanMayWait() async throws {
            let clock = ManualClock()
            let fixture = try PoolFixture(clock: clock) { $0.queueLengthMaximum = 2 }
            let processID = try #require(await fixture.events.ready(1).first)
            let statistics = fixture.pool.statistics
            let hanging = try TestCall(fault: .hang)
            let calls = try (0..<3).map { _ in try TestCall() }
            let hangs = fixture.begin(hanging)
            #expect(fixture.reaches { fixture.hangs([processID]) })
            let first = fixture.begin(calls[0])
            #expect(fixture.reaches { statistics.sentCallCount >= 2 })
            // The worker now counts as slow: the calls after this one go back to the queue, and no more are sent to it.
            clock.advance(by: WorkerCalls.patience, fixture.group)
            #expect(fixture.reaches { statistics.queueLength >= 1 })
            let second = fixture.begin(calls[1])
            #expect(fixture.reaches { statistics.queueLength >= 2 })
            #expect(await fixture.outcome(of: calls[2]) == .overloaded)
            // Waiting calls are refused when their time is up, and the one that hangs is ended.
            clock.advance(by: .seconds(120), fixture.group)
            #expect(await hangs.value == .workerLost)
            let others = await [first.value, second.value]
            // Whether the worker has ended by then depends on the order within one moment.
            #expect(others.allSatisfy { $0 == .overloaded || $0 == .unavailable })
            #expect(statistics.unavailableCount == 3)
        }

        /// A module that is always slow gets its calls one by one, and each call once.
        @Test func sendsNoCallTwiceToSlowWorkers() async throws {
            var options = StandInOptions(.applicationSecret(TestCall.applicationSecret))
            options.sleepMicroseconds = 15_000
            let fixture = try PoolFixture(workers: 2, options: options)
            let outcomes = try await withThrowingTaskGroup(of: LadderModuleError?.self) { group in
                for _ in 0..<20 {
                    let call = try TestCall()
                    group.addTask { await fixture.outcome(of: call) }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(outcomes.allSatisfy { $0 == nil })
            #expect(fixture.pool.statistics.answerCount == 20)
            #expect(fixture.reaches { fixture.pool.statistics.sentCallCount == 0 })
        }
    }
}

/// A flag that one task sets once, and other tasks read.
final class Flag: Sendable {
    private let state = Monitor(false)

    var isSet: Bool { state.update { $0 } }

    func set() { state.update { $0 = true } }
}
