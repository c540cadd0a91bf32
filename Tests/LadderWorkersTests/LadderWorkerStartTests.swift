import EventLoops
import FairPlay
import Foundation
import LadderWorkers
import POSIXSockets
import TestSupport
import Testing

extension LadderWorkerTests {
    /// A fault of a module is reported once.
    @Suite struct Start {
        static func options(openFault: StandInFault) -> StandInOptions {
            var options = StandInOptions(.applicationSecret(TestCall.applicationSecret))
            options.openFault = openFault
            return options
        }

        private func failure(
            openFault: StandInFault? = nil, _ configure: (inout LadderModuleConfiguration) -> Void = { _ in }
        ) async throws -> LadderStartFailure {
            let options =
                openFault.map { Self.options(openFault: $0) }
                ?? StandInOptions(.applicationSecret(TestCall.applicationSecret))
            let fixture = try PoolFixture(options: options, configure: configure)
            let failure = try #require(await fixture.events.startFailures(1).first)
            #expect(throws: failure) { try fixture.pool.waitUntilStarted() }
            return failure
        }

        @Test func namesAnUnknownVersion() async throws {
            let library = try StandInModule.build(.otherVersion)
            #expect(try await failure { $0.libraryPath = library } == .module(.versionUnknown(99)))
        }

        @Test func namesAMissingFunction() async throws {
            let library = try StandInModule.build(.withoutAnswer)
            #expect(
                try await failure { $0.libraryPath = library } == .module(.symbolMissing("latchkey_ladder_answer_call"))
            )
        }

        @Test func namesALibraryThatIsNotThere() async throws {
            #expect(
                try await failure { $0.libraryPath = "/nowhere/module.so" }
                    == .module(.libraryUnreadable(errno: ENOENT)))
        }

        @Test func namesAFileThatIsNoLibrary() async throws {
            let folder = try TemporaryDirectory()
            try folder.write(Array("not a library".utf8), to: "module.so")
            let named = try await failure { $0.libraryPath = folder.path("module.so") }
            guard case .module(.libraryNotLoadable(let text)) = named else {
                Issue.record("\(String(describing: named))")
                return
            }
            #expect(text.contains("module.so"))
        }

        @Test func namesDataThatTheModuleRefuses() async throws {
            let data = SharedData.secret("nonsense")
            #expect(try await failure { $0.kind = .module(data: data) } == .module(.notOpened(status: -7)))
        }

        @Test func namesHowAModuleEndedItsWorker() async throws {
            #expect(try await failure(openFault: .crash) == .workerEnded(.killed(signal: SIGSEGV)))
            #expect(try await failure(openFault: .exit) == .workerEnded(.exited(status: 0)))
        }

        @Test func namesAPathThatIsNotAbsolute() async throws {
            #expect(
                try await failure { $0.libraryPath = "module.so" }
                    == .configurationNotExpressible(.notExpressible("library path")))
        }

        @Test func namesAProgramThatCannotBeStarted() async throws {
            #expect(
                try await failure { $0.programPath = "/nowhere/latchkeyd" }
                    == .programNotStarted(.failed(.spawn, errno: ENOENT)))
        }

        @Test func namesAProgramThatIsNoWorker() async throws {
            #expect(
                try await failure { $0.programPath = "/bin/true" } == .workerEnded(.exited(status: 0)))
        }

        @Test func endsAModuleThatIsNotOpenInTime() async throws {
            let clock = ManualClock()
            let fixture = try PoolFixture(options: Self.options(openFault: .hang), clock: clock)
            #expect(fixture.reaches { fixture.loop.timerCount >= 1 })
            clock.advance(by: .seconds(60), fixture.group)
            #expect(await fixture.events.startFailures(1) == [.workerSilent])
        }

        /// The start is repeated at growing intervals, without further reports. When the cause is gone, workers start.
        @Test func triesAgainQuietly() async throws {
            let folder = try TemporaryDirectory()
            let clock = ManualClock()
            let fixture = try PoolFixture(clock: clock) { $0.libraryPath = folder.path("module.so") }
            let statistics = fixture.pool.statistics
            for count in 1...5 {
                if count > 1 { clock.advance(by: .seconds(30), fixture.group) }
                #expect(fixture.reaches { statistics.startFailureCount >= count })
                #expect(fixture.loop.timerCount == 1)
            }
            #expect(fixture.events.all == [.startFailed(.module(.libraryUnreadable(errno: ENOENT)))])
            try folder.write(Data(contentsOf: URL(filePath: StandInModule.build())), to: "module.so")
            clock.advance(by: .seconds(30), fixture.group)
            #expect(await fixture.events.ready(1).count == 1)
            #expect(await fixture.outcome(of: try TestCall()) == nil)
        }

        @Test func startsAllWorkers() async throws {
            let fixture = try PoolFixture(workers: 3)
            #expect(Set(await fixture.events.ready(3)).count == 3)
            #expect(throws: Never.self) { try fixture.pool.waitUntilStarted() }
            #expect(fixture.pool.statistics.aliveWorkerCount == 3)
        }
    }
}
