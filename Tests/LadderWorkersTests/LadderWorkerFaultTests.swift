import EventLoops
import FairPlay
import Glibc
import KeyCrypto
import LadderWorkers
import TestSupport
import Testing

extension LadderWorkerTests {
    /// A module's fault can only fail the call in which it happens.
    @Suite struct Faults {
        @Test func answersGenuineCalls() async throws {
            let fixture = try PoolFixture(workers: 2)
            for _ in 0..<20 { #expect(await fixture.outcome(of: try TestCall()) == nil) }
            #expect(fixture.pool.statistics.answerCount == 20)
        }

        @Test func refusesCallsWhoseIntegrityFails() async throws {
            let fixture = try PoolFixture()
            #expect(await fixture.outcome(of: try TestCall(isGenuine: false)) == .refused(status: -42589))
            #expect(fixture.pool.statistics.refusalCount == 1)
        }

        @Test func answersForTheVideoSessionKey() async throws {
            var options = StandInOptions(.applicationSecret(TestCall.applicationSecret))
            options.usesVideo = true
            let fixture = try PoolFixture(options: options)
            let call = try TestCall(wanted: .video)
            let answer = try await fixture.pool.answer(call.call)
            #expect(answer.r1Version == .video)
            #expect(answer.sessionKeyVersion == .video)
            #expect(answer.r1.bytes.revealed() == call.videoR1)
            #expect(answer.contentKeyValue == call.videoValue)
        }

        struct Expected: Sendable {
            let fault: StandInFault
            let error: LadderModuleError?
            /// The number of workers that may end because of the fault.
            let deaths: ClosedRange<UInt64>
        }

        static let faults: [Expected] = [
            Expected(fault: .crash, error: .workerLost, deaths: 1...1),
            Expected(fault: .abort, error: .workerLost, deaths: 1...1),
            Expected(fault: .exit, error: .workerLost, deaths: 1...1),
            Expected(fault: .overrunAnswer, error: .workerLost, deaths: 1...1),
            Expected(fault: .overrunHeap, error: .workerLost, deaths: 1...1),
            Expected(fault: .valueTooSmall, error: .answerMalformed, deaths: 0...0),
            Expected(fault: .valueTooLarge, error: .answerMalformed, deaths: 0...0),
            Expected(fault: .garbageKeys, error: .answerMalformed, deaths: 0...0),
            Expected(fault: .garbageAnswer, error: .answerMalformed, deaths: 0...0),
            Expected(fault: .errorStatus, error: .failed(status: -42601), deaths: 0...0),
            Expected(fault: .refuse, error: .refused(status: -42589), deaths: 0...0),
            Expected(fault: .exhaustMemory, error: .failed(status: ENOMEM), deaths: 0...0),
            Expected(fault: .exhaustDescriptors, error: .failed(status: EMFILE), deaths: 0...0),
        ]

        /// These faults damage the stream, but the worker continues for a while. The faulty call is found when all
        /// calls are repeated one by one.
        static let streamFaults: [Expected] = [
            Expected(fault: .closeDescriptors, error: .workerLost, deaths: 1...2),
            Expected(fault: .garbageOnStream, error: .answerMalformed, deaths: 1...2),
            Expected(fault: .forgedFrame, error: .answerMalformed, deaths: 1...2),
        ]

        /// The clock stands still, so no call is given to a second worker, however busy the machine is.
        @Test(arguments: faults)
        func harmsOnlyItsOwnCall(_ expected: Expected) async throws {
            let clock = ManualClock()
            let fixture = try PoolFixture(workers: 2, clock: clock)
            #expect(await fixture.events.ready(2).count == 2)
            try await expect(expected, in: fixture)
            #expect(expected.deaths.contains(fixture.pool.statistics.deathCount))
            guard fixture.pool.statistics.deathCount > 0 else { return }
            #expect(await fixture.events.ends(1).count == 1)
            fixture.loop.runAndWait {}
            clock.advance(by: .seconds(1), fixture.group)
            #expect(await fixture.events.ready(3).count == 3)
        }

        @Test(arguments: streamFaults)
        func harmsOnlyItsOwnCallWhereverItWrites(_ expected: Expected) async throws {
            let fixture = try PoolFixture(workers: 2)
            try await expect(expected, in: fixture)
            #expect(fixture.pool.statistics.deathCount >= expected.deaths.lowerBound)
        }

        /// Makes calls before, after and at the same time as the call with the fault. Only that call fails, and later
        /// calls succeed.
        private func expect(_ expected: Expected, in fixture: PoolFixture) async throws {
            let outcomes = try await withThrowingTaskGroup(of: (isFault: Bool, LadderModuleError?).self) { group in
                for index in 0..<40 {
                    let call = try TestCall(fault: index == 10 ? expected.fault : nil)
                    group.addTask { (index == 10, await fixture.outcome(of: call)) }
                }
                return try await group.reduce(into: [(isFault: Bool, LadderModuleError?)]()) { $0.append($1) }
            }
            #expect(outcomes.filter(\.isFault).map(\.1) == [expected.error])
            #expect(outcomes.filter { !$0.isFault }.map(\.1) == Array(repeating: nil, count: 39))
            #expect(await fixture.outcome(of: try TestCall()) == nil)
        }

        /// The buffer for an answer is empty at each call, even if the previous call has left something there.
        @Test func wipesTheRoomForAnswers() async throws {
            let fixture = try PoolFixture()
            #expect(await fixture.outcome(of: try TestCall()) == nil)
            #expect(await fixture.outcome(of: try TestCall(fault: .probeLeftovers)) == .failed(status: 1000))
        }
    }
}
