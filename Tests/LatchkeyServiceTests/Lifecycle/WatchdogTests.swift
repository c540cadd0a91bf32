import EventLoops
import Foundation
import POSIXSockets
import Telemetry
import TestSupport
import Testing

@testable import LatchkeyService

@Suite struct WatchdogTests {
    private let clock = ManualClock()
    private let group: EventLoopGroup
    private let folder: TemporaryDirectory
    private let socket: NotifySocket
    private let sink = MemoryLogSink()
    private let logger: Logger

    init() throws {
        group = try EventLoopGroup(count: 2, clock: clock)
        folder = try TemporaryDirectory()
        socket = try NotifySocket(path: folder.path("notify"))
        logger = Logger(level: .info, sink: sink)
        Watchdog(
            group.loops, timer: group.loops[0], within: .seconds(40),
            notifier: try ServiceNotifier(socketName: socket.path), logger: logger
        ).start()
        settle()
    }

    /// Timers of a turn run before what it was asked for, so what is due has happened then.
    private func settle(_ count: Int = 2) {
        for loop in group.loops.prefix(count) { _ = loop.runAndWait {} }
    }

    private func pass(_ seconds: Int64, loops: Int = 2) {
        clock.advance(by: .seconds(seconds))
        group.wakeAll()
        settle(loops)
    }

    @Test func tellsProgressFourTimesWithinTheLimit() {
        #expect(socket.pending == nil)
        for _ in 0..<4 {
            pass(9)
            #expect(socket.pending == nil)
            pass(1)
            #expect(socket.pending == "WATCHDOG=1")
        }
        group.stop(within: .seconds(10))
    }

    @Test func tellsNothingWhileALoopIsStuck() {
        let (entered, release) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        group.loops[1].execute {
            entered.signal()
            release.wait()
        }
        entered.wait()
        // What was asked before was answered before.
        pass(10, loops: 1)
        #expect(socket.pending == "WATCHDOG=1")
        for _ in 0..<5 {
            pass(10, loops: 1)
            #expect(socket.pending == nil)
        }
        logger.flush()
        #expect(sink.lines.filter { $0.contains(#""event":"loop_stuck","loops":"1""#) }.count == 1)
        release.signal()
        settle()
        pass(10)
        #expect(socket.pending == "WATCHDOG=1")
        group.stop(within: .seconds(10))
    }
}
