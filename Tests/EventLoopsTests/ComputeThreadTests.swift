import Foundation
import Synchronization
import TestSupport
import Testing

@testable import EventLoops

@Suite struct ComputeThreadTests {
    /// Computations run one after the other on a thread of their own, and their results come back to the loop.
    @Test func bringsResultsBackInOrder() throws {
        let group = try EventLoopGroup(count: 1, computing: true)
        let loop = group.loops[0]
        let results = Mutex<[Int]>([])
        let strays = Atomic<Int>(0)
        let done = DispatchSemaphore(value: 0)
        for number in 0..<100 {
            loop.compute {
                if loop.isCurrent { strays.add(1, ordering: .relaxed) }
                return number
            } then: { result in
                if !loop.isCurrent { strays.add(1, ordering: .relaxed) }
                results.withLock { $0.append(result) }
                if result == 99 { done.signal() }
            }
        }
        done.wait()
        #expect(results.withLock { $0 } == Array(0..<100))
        #expect(strays.load(ordering: .relaxed) == 0)
        group.stop(within: .seconds(10))
    }

    /// A computation holds up its thread alone, and other threads can see its age.
    @Test func leavesTheLoopFree() throws {
        let clock = ManualClock()
        let group = try EventLoopGroup(count: 2, computing: true, clock: clock)
        let loop = group.loops[0]
        let (entered, release) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        #expect(loop.computationAge == .zero)
        loop.compute {
            entered.signal()
            release.wait()
        } then: { _ in
        }
        entered.wait()
        clock.advance(by: .seconds(3))
        #expect(loop.runAndWait { true } == true)
        #expect(loop.computationAge == .seconds(3))
        #expect(group.loops[1].computationAge == .zero)
        release.signal()
        group.stop(within: .seconds(10))
        #expect(loop.computationAge == .zero)
    }

    /// A group stops only when its computations have ended. A result for a loop that has stopped is dropped.
    @Test func endsWithItsGroup() throws {
        let group = try EventLoopGroup(count: 1, computing: true)
        let (entered, release) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let steps = Mutex<[String]>([])
        group.loops[0].compute {
            entered.signal()
            release.wait()
            steps.withLock { $0.append("computed") }
        } then: { _ in
            steps.withLock { $0.append("finished") }
        }
        entered.wait()
        let stopped = DispatchSemaphore(value: 0)
        let stopper = JoinableThread(
            try NativeThread(name: "stopper") {
                group.stop(within: .zero)
                stopped.signal()
            })
        while group.loops[0].execute({}) {}
        #expect(stopped.wait(timeout: .now()) == .timedOut)
        release.signal()
        stopper.join()
        #expect(steps.withLock { $0 } == ["computed"])
        #expect(!group.loops[0].executeBeside {})
    }
}
