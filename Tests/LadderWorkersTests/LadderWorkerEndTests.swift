import EventLoops
import FairPlay
import Foundation
import POSIXSockets
import Telemetry
import TestSupport
import Testing

@testable import LadderWorkers

extension LadderWorkerTests {
    /// The ends of pools and workers, which must leave nothing behind.
    @Suite struct Ends {
        /// The number of open descriptors for these processes. A descriptor of an ended process reports -1 (proc(5),
        /// `fdinfo`).
        private static func processDescriptorCount(of processes: [Int32]) throws -> Int {
            try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").filter { number in
                // The descriptor of the folder itself is already closed.
                let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(number)")
                guard target == "anon_inode:[pidfd]" else { return false }
                let information = (try? TextFile.read("/proc/self/fdinfo/\(number)")) ?? ""
                return processes.contains { information.contains("Pid:\t\($0)\n") }
            }.count
        }

        private static func isGone(_ processID: Int32) -> Bool {
            kill(processID, 0) == -1 && errno == ESRCH
        }

        @Test func finishesWhatWaitsBeforeItStops() async throws {
            var options = StandInOptions(.applicationSecret(TestCall.applicationSecret))
            options.sleepMicroseconds = 2_000
            let fixture = try PoolFixture(workers: 2, options: options)
            let processes = await fixture.events.ready(2)
            let calls = try (0..<30).map { _ in fixture.begin(try TestCall()) }
            let statistics = fixture.pool.statistics
            #expect(
                fixture.reaches {
                    fixture.loop.runAndWait {
                        Int(statistics.answerCount) + statistics.sentCallCount + statistics.queueLength
                    } == 30
                })
            fixture.pool.stop(within: .seconds(60))
            for call in calls { #expect(await call.value == nil) }
            #expect(processes.allSatisfy(Self.isGone))
            #expect(await fixture.outcome(of: try TestCall()) == .unavailable)
            #expect(fixture.pool.statistics.deathCount == 0)
            #expect(fixture.loop.registrationCount == 0)
            #expect(fixture.loop.timerCount == 0)
        }

        @Test func stopsInTimeAlthoughAWorkerHangs() async throws {
            let fixture = try PoolFixture()
            let processes = await fixture.events.ready(1)
            let call = try TestCall(fault: .hang)
            let hangs = fixture.begin(call)
            #expect(fixture.reaches { fixture.pool.statistics.sentCallCount >= 1 })
            fixture.pool.stop(within: .milliseconds(20))
            #expect(await hangs.value == .unavailable)
            #expect(processes.allSatisfy(Self.isGone))
        }

        /// If a call ends the last worker, calls after it are refused when the time to stop is up. No worker is left
        /// for them, and nothing hangs.
        @Test func refusesWhatWaitsForAWorkerThatIsGone() async throws {
            let clock = ManualClock()
            var options = StandInOptions(.applicationSecret(TestCall.applicationSecret))
            // This is long enough for the other calls to follow.
            options.sleepMicroseconds = 3_000_000
            let fixture = try PoolFixture(options: options, clock: clock)
            let process = try #require(await fixture.events.ready(1).first)
            let statistics = fixture.pool.statistics
            let calls = (try TestCall(), try TestCall(fault: .exit), try TestCall())
            let isSlow = fixture.begin(calls.0)
            #expect(fixture.reaches { statistics.sentCallCount >= 1 })
            let exits = fixture.begin(calls.1)
            #expect(fixture.reaches { statistics.sentCallCount >= 2 })
            let waits = fixture.begin(calls.2)
            #expect(fixture.reaches { statistics.sentCallCount >= 3 })
            let isStopped = Monitor(false)
            Thread.detachNewThread {
                fixture.pool.stop(within: .seconds(60))
                isStopped.update { $0 = true }
            }
            // The timers are those of the worker, of the processor time and of the stop.
            #expect(fixture.reaches { fixture.loop.timerCount >= 3 })
            // The loop sees the answer to the slow call only after the next call has ended the worker.
            fixture.loop.runAndWait {
                while !Self.hasEnded(process) {}
            }
            #expect(await isSlow.value == nil)
            #expect(await exits.value == .workerLost)
            // The timers are those of the next worker, of the waiting call, of the processor time and of the stop.
            #expect(fixture.reaches { statistics.queueLength == 1 && fixture.loop.timerCount == 4 })
            clock.advance(by: .seconds(60), fixture.group)
            #expect(await waits.value == .unavailable)
            isStopped.wait { $0 ? () : nil }
            #expect(statistics.queueLength == 0)
            #expect(fixture.loop.timerCount == 0)
        }

        /// Whether the process has ended and only its entry is left, which its parent has yet to reap.
        private static func hasEnded(_ processID: Int32) -> Bool {
            let status = (try? TextFile.read("/proc/\(processID)/stat")) ?? ") Z"
            return status.contains(") Z")
        }

        /// No child and no descriptor is left, in either order of the ends.
        @Test(arguments: [true, false])
        func leavesNothingBehind(stopsPool: Bool) async throws {
            let waiter = try PoolFixture(workers: 1)
            var fixture: PoolFixture? = try PoolFixture(workers: 2)
            for faults in 1...6 {
                let call = try TestCall(fault: faults % 2 == 0 ? .crash : .garbageOnStream)
                #expect(await fixture?.outcome(of: call) != nil)
                #expect(await fixture?.events.ready(2 + faults).count == 2 + faults)
            }
            let processes = await fixture?.events.ready(8) ?? []
            #expect(processes.count == 8)
            #expect(try Self.processDescriptorCount(of: processes) == 2)
            #expect(fixture?.loop.registrationCount == 4)
            if stopsPool { fixture?.pool.stop(within: .seconds(60)) }
            fixture = nil
            #expect(processes.allSatisfy(Self.isGone))
            // Other tests may have such descriptors for a moment, but a leaked one stays open.
            #expect(waiter.reaches { (try? Self.processDescriptorCount(of: [-1])) == 0 })
        }

        private static func startedWorker(
            path: String? = nil, arguments: [String] = WorkerHandle.usualArguments
        ) throws -> WorkerHandle {
            let options = StandInOptions(.applicationSecret(TestCall.applicationSecret))
            let configuration = LadderModuleConfiguration(
                libraryPath: try StandInModule.build(), kind: .module(data: options.data))
            let worker = try WorkerHandle(path: path ?? BuiltProgram.path("latchkeyd"), arguments: arguments)
            try worker.send(configuration.startMessage())
            return worker
        }

        /// If the daemon dies, its end of the stream closes, and the worker ends.
        @Test func endsWithItsStream() throws {
            let worker = try Self.startedWorker()
            #expect(worker.readByte() == 1)
            worker.closeStream()
            #expect(worker.waitForEnd() == .exited(status: 0))
        }

        /// The end of the thread that started a worker also ends the worker, because a worker that hangs would not
        /// notice the end of its stream.
        @Test func endsWithTheThreadThatStartedIt() throws {
            let worker = Monitor<Result<WorkerHandle, any Error>?>(nil)
            Thread.detachNewThread {
                let started = Result { try Self.startedWorker() }
                // The worker has requested the signal before it sends its first byte.
                if case .success(let handle) = started { _ = handle.readByte() }
                worker.update { $0 = started }
            }
            let handle = try worker.wait { $0 }.get()
            #expect(handle.waitForEnd() == .killed(signal: SIGKILL))
        }

        /// A shell is between the worker and the process that made the stream, as if that process had ended.
        @Test func endsWithoutThePoolThatStartedIt() throws {
            let program = try BuiltProgram.path("latchkeyd")
            let worker = try Self.startedWorker(
                path: "/bin/sh", arguments: ["sh", "-c", "\"$0\" \"$1\"; exit $?", program, LadderWorkerRole.argument])
            #expect(worker.waitForEnd() == .exited(status: WorkerExit.poolGone.rawValue))
        }

        /// The kernel makes root the owner of such a process's files in /proc, even if the process runs as another
        /// user.
        @Test func isUnreadableBeforeItGetsSecrets() throws {
            let command = [try BuiltProgram.path("latchkeyd"), LadderWorkerRole.argument]
            // If this process is root, the worker runs as another user.
            let wrapper = getuid() == 0 ? ["/usr/bin/setpriv", "--reuid=65534", "--clear-groups"] : []
            let worker = try WorkerHandle(path: (wrapper + command)[0], arguments: wrapper + command)
            // The wrapper is unreadable too, so the test first waits until the program is the worker.
            let isUnreadable = { try Self.isWorker(worker.processID) && Self.owner(ofProcess: worker.processID) == 0 }
            let end = ContinuousClock.now + .seconds(30)
            while try !isUnreadable(), ContinuousClock.now < end { usleep(1_000) }
            #expect(try isUnreadable())
            worker.closeStream()
            #expect(worker.waitForEnd() == .exited(status: 0))
        }

        private static func owner(ofProcess processID: Int32) throws -> Int? {
            let attributes = try FileManager.default.attributesOfItem(atPath: "/proc/\(processID)/status")
            return attributes[.ownerAccountID] as? Int
        }

        /// Whether a process runs the daemon's program as a user other than root.
        private static func isWorker(_ processID: Int32) throws -> Bool {
            let lines = try TextFile.read("/proc/\(processID)/status").split(separator: "\n")
            let isOther = lines.contains { $0.hasPrefix("Uid:") && $0.split(separator: "\t")[1] != "0" }
            return isOther && lines.contains("Name:\tlatchkeyd")
        }

        @Test func refusesToBeStartedByHand() throws {
            let program = try ChildProcess(
                program: BuiltProgram.path("latchkeyd"), arguments: [LadderWorkerRole.argument])
            #expect(program.waitForExit() == 2)
        }

        /// Bytes that are not a start message end the worker, which reports that if it can.
        @Test func endsOverNonsense() throws {
            let worker = try WorkerHandle(path: BuiltProgram.path("latchkeyd"))
            try worker.send(LadderMessage([UInt8](repeating: 0xA5, count: 64)))
            #expect(worker.waitForEnd() == .exited(status: 3))
        }
    }
}

/// A worker process without a pool, which a thread can wait for.
///
/// Safe to send: only one thread at a time uses it.
final class WorkerHandle: @unchecked Sendable {
    private var program: SpawnedProgram

    static let usualArguments = ["latchkeyd", LadderWorkerRole.argument]

    init(path: String, arguments: [String] = usualArguments) throws {
        program = try SpawnedProgram(path: path, arguments: arguments, environment: [])
    }

    var processID: Int32 { program.processID }

    func send(_ message: consuming LadderMessage) throws {
        guard case .written = message.send({ (program.write($0), count: $0.count) }) else { throw WorkerNotStarted() }
    }

    func closeStream() {
        program.closeStream()
    }

    /// The first byte that the worker sends, or nil at the end.
    func readByte() -> UInt8? {
        var byte: [UInt8] = [0]
        wait(for: program.streamNumber)
        guard case .bytes = program.read(into: &byte, from: 0) else { return nil }
        return byte[0]
    }

    func waitForEnd() -> ProgramEnd? {
        wait(for: program.processNumber)
        return program.reap()
    }

    /// Waits at most half a minute, so that a test fails instead of hanging.
    private func wait(for descriptor: Int32) {
        var event = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        // Safe: one structure, which stays valid during the call.
        _ = unsafe poll(&event, 1, 30_000)
    }
}

struct WorkerNotStarted: Error {}
