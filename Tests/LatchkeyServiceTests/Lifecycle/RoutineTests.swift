import EventLoops
import Synchronization
import Telemetry
import Testing

@testable import Upkeep

@Suite struct RoutineTests {
    private let upkeep: UpkeepLoop
    /// What passes and last works have done, in order.
    private let steps = Monitor<[String]>([])

    init() throws {
        upkeep = try UpkeepLoop()
    }

    private func wait(for count: Int) -> [String] {
        steps.wait { $0.count >= count ? $0 : nil }
    }

    @Test func passesAgainAndAgain() {
        let routine = Routine(on: upkeep.context)
        routine.start(every: .milliseconds(1)) { [steps] in steps.update { $0.append("pass") } }
        defer { routine.stop(within: .seconds(5)) }
        #expect(wait(for: 3).count >= 3)
    }

    /// A pause is asked for after each pass.
    @Test func asksForEachPause() {
        let routine = Routine(on: upkeep.context)
        let pause: @Sendable () -> Duration = { [steps] in
            steps.update { $0.append("pause") }
            return .milliseconds(1)
        }
        routine.start(every: pause, pass: { [steps] in steps.update { $0.append("pass") } })
        defer { routine.stop(within: .seconds(5)) }
        #expect(wait(for: 4).prefix(4) == ["pass", "pause", "pass", "pause"])
    }

    @Test func passesOfOneRoutineNeverOverlap() {
        let routine = Routine(on: upkeep.context)
        let running = Atomic<Int>(0)
        let overlaps = Atomic<Int>(0)
        let body: @Sendable () async -> Void = { [steps] in
            if running.add(1, ordering: .relaxed).oldValue > 0 { overlaps.add(1, ordering: .relaxed) }
            await Task.yield()
            running.add(-1, ordering: .relaxed)
            steps.update { $0.append("pass") }
        }
        routine.start(every: .zero, body)
        for _ in 0..<100 { routine.passSoon() }
        _ = wait(for: 50)
        routine.stop(within: .seconds(5))
        #expect(overlaps.load(ordering: .relaxed) == 0)
    }

    /// A pass that waits does not hold up the routines beside it.
    @Test func aPassThatWaitsHoldsUpNoOther() async {
        let waiting = Routine(on: upkeep.context)
        let (gate, opening) = AsyncStream<Void>.makeStream()
        waiting.start(every: .seconds(3600)) { for await _ in gate {} }
        let other = Routine(on: upkeep.context)
        other.start(every: .milliseconds(1)) { [steps] in steps.update { $0.append("pass") } }
        #expect(wait(for: 3).count >= 3)
        opening.finish()
        waiting.stop(within: .seconds(5))
        other.stop(within: .seconds(5))
    }

    @Test func passesSoonWithoutItsPause() {
        let routine = Routine(on: upkeep.context)
        routine.start(every: .seconds(3600)) { [steps] in steps.update { $0.append("pass") } }
        defer { routine.stop(within: .seconds(5)) }
        for count in 1...5 {
            #expect(wait(for: count).count == count)
            routine.passSoon()
        }
        #expect(wait(for: 6).count == 6)
    }

    /// What is wanted during a pass comes after it, once.
    @Test func passesOnceMoreForWhatIsWantedDuringAPass() {
        let routine = Routine(on: upkeep.context)
        routine.start(every: .seconds(3600)) { [steps] in
            let count = steps.update { steps in
                steps.append("pass")
                return steps.count
            }
            if count == 1 { for _ in 0..<3 { routine.passSoon() } }
        }
        #expect(wait(for: 2).count == 2)
        routine.stop(within: .seconds(5))
        #expect(steps.withLock { $0.count } == 2)
    }

    @Test func waitsForThePassAndTheLastWorkWhenItStops() {
        let routine = Routine(on: upkeep.context)
        routine.start(every: .zero) { [steps] in
            steps.update { $0.append("begin") }
            for _ in 0..<20 { await Task.yield() }
            steps.update { $0.append("end") }
        }
        _ = wait(for: 1)
        routine.stop(within: .seconds(5)) { [steps] in steps.update { $0.append("last") } }
        let done = steps.withLock { $0 }
        #expect(done.count { $0 == "begin" } == done.count { $0 == "end" })
        #expect(done.count { $0 == "last" } == 1)
        routine.passSoon()
        routine.stop(within: .seconds(5)) { [steps] in steps.update { $0.append("last") } }
        _ = upkeep.context.runAndWait {}
        #expect(steps.withLock { $0 } == done)
    }

    /// A pass that hangs does not hold up the end of the daemon.
    @Test func stopsWaitingAtTheLimit() async {
        let routine = Routine(on: upkeep.context)
        let (gate, opening) = AsyncStream<Void>.makeStream()
        routine.start(every: .zero) { [steps] in
            steps.update { $0.append("begin") }
            for await _ in gate {}
        }
        _ = wait(for: 1)
        routine.stop(within: .milliseconds(1))
        opening.finish()
    }

    @Test func doesTheLastWorkAlsoBeforeTheFirstPass() {
        let routine = Routine(on: upkeep.context)
        routine.start(after: .seconds(3600), every: .seconds(3600)) { [steps] in steps.update { $0.append("pass") } }
        routine.stop(within: .seconds(5)) { [steps] in steps.update { $0.append("last") } }
        #expect(steps.withLock { $0 } == ["last"])
    }
}
