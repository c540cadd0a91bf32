import EventLoops
import FairPlay
import Foundation
import POSIXSockets
import Telemetry
import TestSupport
import Testing

@testable import LadderWorkers

extension LadderWorkerTests {
    /// What the loss of workers costs, and how it is made good.
    @Suite struct Losses {
        /// Killed again and again under load: each kill loses one call at most, and every other one is answered
        /// rightly.
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
                    // The worker that has lived longest, in the middle of its calls as a rule.
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

        /// A call that takes too long is ended with its worker; the one behind it goes to the next worker.
        @Test func endsAWorkerThatHangs() async throws {
            let clock = ManualClock()
            let fixture = try PoolFixture(clock: clock)
            let processID = try #require(await fixture.events.ready(1).first)
            let hanging = try TestCall(fault: .hang)
            let behind = try TestCall()
            let hangs = fixture.begin(hanging)
            #expect(fixture.reaches { fixture.hangs([processID]) })
            let waits = fixture.begin(behind)
            // The second call first lies behind the one that hangs, then in the queue again.
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

        /// With another worker alive, the call behind the one that hangs does not wait for the deadline.
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
            // Now one worker is idle, and the third call lies behind the one that hangs.
            #expect(fixture.pool.statistics.sentCallCount == 2)
            clock.advance(by: WorkerCalls.patience, fixture.group)
            #expect(await waits.value == nil)
            #expect(fixture.pool.statistics.deathCount == 0)
            clock.advance(by: .seconds(60), fixture.group)
            #expect(await hangs.value == .workerLost)
        }

        /// How much processor time the threads of a process have used.
        private static func processorTime(of process: Int32) -> Duration? {
            var clock = clockid_t()
            var time = timespec()
            // Safe: local variables.
            guard unsafe clock_getcpuclockid(process, &clock) == 0, unsafe clock_gettime(clock, &time) == 0 else {
                return nil
            }
            return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
        }

        /// Waits until a process has used so much more processor time than it has now.
        private func hasUsed(_ more: Duration, of process: Int32, in fixture: PoolFixture) throws -> Bool {
            let before = try #require(Self.processorTime(of: process))
            return fixture.reaches { Self.processorTime(of: process).map { $0 - before >= more } ?? false }
        }

        /// A call that computes for ever is ended long before its deadline, and the one behind it is answered by the
        /// next worker.
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

        /// A module that computes although it has no call loses its worker, and no call.
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

        /// What a worker uses for calls that it answers does not add up.
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
            // The worker is slow now: what lay behind the call goes back, and nothing more is sent there.
            clock.advance(by: WorkerCalls.patience, fixture.group)
            #expect(fixture.reaches { statistics.queueLength >= 1 })
            let second = fixture.begin(calls[1])
            #expect(fixture.reaches { statistics.queueLength >= 2 })
            #expect(await fixture.outcome(of: calls[2]) == .overloaded)
            // Those that wait are refused when their time is up, and the one that hangs is ended.
            clock.advance(by: .seconds(120), fixture.group)
            #expect(await hangs.value == .workerLost)
            let others = await [first.value, second.value]
            // Whether the worker is gone by then is a matter of order within one moment.
            #expect(others.allSatisfy { $0 == .overloaded || $0 == .unavailable })
            #expect(statistics.unavailableCount == 3)
        }

        /// A module that is slow by nature gets its calls one by one, and each of them once.
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

/// Set once, by one task for others to see.
final class Flag: Sendable {
    private let state = Monitor(false)

    var isSet: Bool { state.update { $0 } }

    func set() { state.update { $0 = true } }
}
