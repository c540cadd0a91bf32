import Foundation
import Testing

@testable import Telemetry

@Suite struct MonitorTests {
    private let monitor = Monitor(0)

    @Test func changesAndReturnsWhatTheBodyReturns() {
        #expect(
            monitor.update { value in
                value += 2
                return value * 10
            } == 20)
        #expect(monitor.withLock { $0 } == 2)
        #expect(monitor.wait { $0 == 2 ? "two" : nil } == "two")
    }

    /// Each change wakes every thread, and each thread checks again until its condition is true.
    @Test func wakesAllThreadsThatWait() {
        let ended = Monitor(0)
        for wanted in 1...4 {
            Thread.detachNewThread { [monitor] in
                monitor.wait { $0 >= wanted ? () : nil }
                ended.update { $0 += 1 }
            }
        }
        for count in 1...4 {
            monitor.update { $0 = count }
            ended.wait { $0 >= count ? () : nil }
        }
        #expect(ended.withLock { $0 } == 4)
    }

    @Test func noChangeIsLostBetweenThreads() {
        let ended = Monitor(0)
        for _ in 0..<4 {
            Thread.detachNewThread { [monitor] in
                for _ in 0..<1000 { monitor.update { $0 += 1 } }
                ended.update { $0 += 1 }
            }
        }
        ended.wait { $0 == 4 ? () : nil }
        #expect(monitor.withLock { $0 } == 4000)
    }

    @Test(arguments: [Duration.zero, .seconds(-1), .milliseconds(5)])
    func waitsNoLongerThanItsDeadline(patience: Duration) {
        let clock = SystemMonotonicClock()
        let deadline = clock.monotonicTime + patience
        #expect(monitor.wait(until: deadline) { $0 == 1 ? "one" : nil } == nil)
        #expect(clock.monotonicTime >= deadline)
        #expect(monitor.wait(until: deadline) { $0 == 0 ? "zero" : nil } == "zero")
    }

    @Test func isWokenBeforeItsDeadline() {
        let deadline = SystemMonotonicClock().monotonicTime + .seconds(60)
        Thread.detachNewThread { [monitor] in monitor.update { $0 = 1 } }
        #expect(monitor.wait(until: deadline) { $0 == 1 ? "one" : nil } == "one")
        #expect(SystemMonotonicClock().monotonicTime < deadline)
    }
}
