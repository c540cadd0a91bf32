import Foundation
import TestSupport
import Testing

@testable import EventLoops

@Suite struct LoopWatchTests {
    /// Waits until everything that a loop was asked for before has run.
    private func settle(_ loops: [LoopContext]) {
        for loop in loops { _ = loop.runAndWait {} }
    }

    @Test func seesLoopsThatMakeProgress() throws {
        let group = try EventLoopGroup(count: 3)
        let watch = LoopWatch(group.loops)
        for _ in 0..<5 {
            #expect(watch.look())
            settle(group.loops)
        }
        group.stop(within: .seconds(10))
    }

    /// One loop of three is stuck in a turn; the others go on.
    @Test func seesALoopThatIsStuck() throws {
        let group = try EventLoopGroup(count: 3)
        let watch = LoopWatch(group.loops)
        let (entered, release) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        group.loops[1].execute {
            entered.signal()
            release.wait()
        }
        entered.wait()
        #expect(watch.look(), "nothing was asked before")
        settle([group.loops[0], group.loops[2]])
        for _ in 0..<3 { #expect(!watch.look()) }
        release.signal()
        settle(group.loops)
        #expect(watch.look())
        group.stop(within: .seconds(10))
    }

    /// A thread for computations is stuck; its loop goes on.
    @Test func seesAComputationThatIsStuck() throws {
        let group = try EventLoopGroup(count: 2, computing: true)
        let watch = LoopWatch(group.loops)
        let (entered, release) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        group.loops[1].compute {
            entered.signal()
            release.wait()
        } then: { _ in
        }
        entered.wait()
        #expect(watch.look(), "nothing was asked before")
        settle(group.loops)
        for _ in 0..<3 { #expect(!watch.look()) }
        release.signal()
        for loop in group.loops { settleBeside(loop) }
        #expect(watch.look())
        group.stop(within: .seconds(10))
    }

    /// Waits until the thread beside a loop has run everything that it was asked for before.
    private func settleBeside(_ loop: LoopContext) {
        let done = DispatchSemaphore(value: 0)
        _ = loop.executeBeside { done.signal() }
        done.wait()
    }

    @Test func asksNothingOfALoopThatHasStopped() throws {
        let group = try EventLoopGroup(count: 1)
        let other = try EventLoopGroup(count: 1, computing: true, firstIndex: 1)
        let watch = LoopWatch(group.loops + other.loops)
        other.stop(within: .seconds(10))
        for _ in 0..<3 {
            #expect(watch.look())
            settle(group.loops)
        }
        group.stop(within: .seconds(10))
    }
}
