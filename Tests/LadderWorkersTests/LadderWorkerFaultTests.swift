import FairPlay
import Glibc
import KeyCrypto
import LadderWorkers
import TestSupport
import Testing

extension LadderWorkerTests {
    /// A module may do what it likes: it costs the call that it does it in, and nothing else.
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
            /// Whether the worker is no more afterwards.
            let endsWorker: Bool
        }

        static let faults: [Expected] = [
            Expected(fault: .crash, error: .workerLost, endsWorker: true),
            Expected(fault: .abort, error: .workerLost, endsWorker: true),
            Expected(fault: .exit, error: .workerLost, endsWorker: true),
            Expected(fault: .overrunAnswer, error: .workerLost, endsWorker: true),
            Expected(fault: .overrunHeap, error: .workerLost, endsWorker: true),
            Expected(fault: .closeDescriptors, error: .workerLost, endsWorker: true),
            Expected(fault: .garbageOnStream, error: .answerMalformed, endsWorker: true),
            Expected(fault: .forgedFrame, error: .answerMalformed, endsWorker: true),
            Expected(fault: .valueTooSmall, error: .answerMalformed, endsWorker: false),
            Expected(fault: .valueTooLarge, error: .answerMalformed, endsWorker: false),
            Expected(fault: .garbageKeys, error: .answerMalformed, endsWorker: false),
            Expected(fault: .garbageAnswer, error: .answerMalformed, endsWorker: false),
            Expected(fault: .errorStatus, error: .failed(status: -42601), endsWorker: false),
            Expected(fault: .refuse, error: .refused(status: -42589), endsWorker: false),
            Expected(fault: .exhaustMemory, error: .failed(status: ENOMEM), endsWorker: false),
            Expected(fault: .exhaustDescriptors, error: .failed(status: EMFILE), endsWorker: false),
        ]

        /// With calls before, behind and beside the one with the fault.
        @Test(arguments: faults)
        func harmsOnlyItsOwnCall(_ expected: Expected) async throws {
            let fixture = try PoolFixture(workers: 2)
            let outcomes = try await withThrowingTaskGroup(of: (isFault: Bool, LadderModuleError?).self) { group in
                for index in 0..<40 {
                    let call = try TestCall(fault: index == 10 ? expected.fault : nil)
                    group.addTask { (index == 10, await fixture.outcome(of: call)) }
                }
                return try await group.reduce(into: [(isFault: Bool, LadderModuleError?)]()) { $0.append($1) }
            }
            #expect(outcomes.filter(\.isFault).map(\.1) == [expected.error])
            #expect(outcomes.filter { !$0.isFault }.allSatisfy { $0.1 == nil })
            if expected.endsWorker {
                #expect(await fixture.events.ends(1).count == 1)
                #expect(await fixture.events.ready(3).count == 3)
            }
            #expect(fixture.pool.statistics.deathCount == (expected.endsWorker ? 1 : 0))
            #expect(await fixture.outcome(of: try TestCall()) == nil)
        }

        /// The room for an answer is empty at each call, whatever the one before has left there.
        @Test func wipesTheRoomForAnswers() async throws {
            let fixture = try PoolFixture()
            #expect(await fixture.outcome(of: try TestCall()) == nil)
            #expect(await fixture.outcome(of: try TestCall(fault: .probeLeftovers)) == .failed(status: 1000))
        }
    }
}
