import EventLoops
import Foundation
import POSIXSockets
import Telemetry
import TestSupport
import Testing

@testable import AdminRoutes
@testable import LatchkeyService
@testable import PackagerRoutes
@testable import PlayerRoutes
@testable import RouteKit
@testable import Upkeep

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

    /// Waits until each loop has run the timers that are due now.
    ///
    /// A call alone does not show that: it may run at the end of a turn whose timers ran before the clock was changed.
    /// A new timer runs in a later turn than its call, and a call of that timer runs after all timers of its turn.
    private func settle(_ count: Int = 2) {
        for loop in group.loops.prefix(count) {
            let done = DispatchSemaphore(value: 0)
            loop.execute {
                _ = loop.schedule(after: .zero) { loop.execute { done.signal() } }
            }
            done.wait()
        }
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
