import Telemetry
import TestSupport
import Testing

@testable import EventLoops

@Suite struct BlockingWorkerPoolTests {
    @Test func runsElsewhereAndReturnsToTheLoop() throws {
        let group = try EventLoopGroup(count: 1)
        let pool = try BlockingWorkerPool(threadCount: 2, queueLengthMaximum: 8)
        let loop = group.loops[0]
        let log = Log<[Bool]>()
        loop.spawn {
            let wasOnLoop = try? await pool.run(on: loop, within: .seconds(60)) { loop.isCurrent }
            log.append([wasOnLoop == false, loop.isCurrent])
        }
        #expect(log.wait(for: 1) == [[true, true]])
        group.stop(within: .seconds(10))
        #expect(loop.timerCount == 0)
        pool.stop()
    }

    @Test func refusesMoreThanItsQueueHolds() throws {
        let group = try EventLoopGroup(count: 1)
        let pool = try BlockingWorkerPool(threadCount: 1, queueLengthMaximum: 2)
        let loop = group.loops[0]
        let (running, release) = (Log<Int>(), Monitor(false))
        let log = Log<WorkerPoolError?>()
        let call: @Sendable (Int) async -> WorkerPoolError? = { number in
            do throws(WorkerPoolError) {
                try await pool.run(on: loop, within: .seconds(60)) {
                    running.append(number)
                    release.wait { $0 ? () : nil }
                }
                return nil
            } catch {
                return error
            }
        }
        loop.spawn { log.append(await call(0)) }
        #expect(running.wait(for: 1) == [0])
        for number in 1...3 { loop.spawn { log.append(await call(number)) } }
        #expect(log.wait(for: 1) == [.queueFull])
        #expect(pool.queueLength == 2)
        release.update { $0 = true }
        #expect(log.wait(for: 4) == [.queueFull, nil, nil, nil])
        pool.stop()
        group.stop(within: .seconds(10))
    }

    /// A caller that waits too long gets an answer although every thread is stuck, and its call never runs.
    @Test func answersAtTheDeadline() throws {
        let clock = ManualClock()
        let group = try EventLoopGroup(count: 1, clock: clock)
        let pool = try BlockingWorkerPool(threadCount: 1, queueLengthMaximum: 1)
        let loop = group.loops[0]
        let (running, release) = (Log<Int>(), Monitor(false))
        let log = Log<String>()
        let call: @Sendable (Int, Duration) async -> Void = { number, limit in
            do throws(WorkerPoolError) {
                try await pool.run(on: loop, within: limit) {
                    running.append(number)
                    release.wait { $0 ? () : nil }
                }
                log.append("\(number) done")
            } catch {
                log.append("\(number) \(error)")
            }
        }
        loop.spawn { await call(0, .seconds(20)) }
        #expect(running.wait(for: 1) == [0])
        loop.spawn { await call(1, .seconds(10)) }
        while loop.timerCount < 2 { loop.runAndWait {} }
        clock.advance(by: .seconds(11))
        group.wakeAll()
        #expect(log.wait(for: 1) == ["1 deadlineExceeded"])
        // A call whose caller no longer waits has given up its place.
        loop.spawn { await call(2, .seconds(60)) }
        clock.advance(by: .seconds(11))
        while log.all.count < 2 {
            group.wakeAll()
            loop.runAndWait {}
        }
        #expect(log.all == ["1 deadlineExceeded", "0 deadlineExceeded"])
        release.update { $0 = true }
        #expect(log.wait(for: 3).last == "2 done")
        #expect(running.all == [0, 2])
        pool.stop()
        group.stop(within: .zero)
    }

    @Test func endsWaitingCallsWhenItStops() throws {
        let group = try EventLoopGroup(count: 1)
        let pool = try BlockingWorkerPool(threadCount: 1, queueLengthMaximum: 4)
        let loop = group.loops[0]
        let (running, release) = (Log<Int>(), Monitor(false))
        let log = Log<WorkerPoolError?>()
        for number in 0..<2 {
            loop.spawn {
                do throws(WorkerPoolError) {
                    try await pool.run(on: loop, within: .seconds(60)) {
                        running.append(number)
                        release.wait { $0 ? () : nil }
                    }
                    log.append(nil)
                } catch {
                    log.append(error)
                }
            }
            if number == 0 { _ = running.wait(for: 1) }
        }
        while pool.queueLength < 1 { loop.runAndWait {} }
        Thread.start { pool.stop() }
        #expect(log.wait(for: 1) == [.stopped])
        release.update { $0 = true }
        #expect(log.wait(for: 2) == [.stopped, nil])
        loop.spawn {
            do throws(WorkerPoolError) {
                try await pool.run(on: loop, within: .seconds(60)) { running.append(9) }
            } catch {
                log.append(error)
            }
        }
        #expect(log.wait(for: 3).last == .stopped)
        #expect(running.all == [0])
        group.stop(within: .seconds(10))
    }
}
