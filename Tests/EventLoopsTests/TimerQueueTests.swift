import Telemetry
import Testing

@testable import EventLoops

@Suite struct TimerQueueTests {
    @Test func firesInOrderOfDeadlinesAndThenOfScheduling() {
        var queue = TimerQueue()
        var fired: [String] = []
        for (name, deadline) in [("c", 30), ("a", 10), ("b1", 20), ("b2", 20)] {
            _ = queue.schedule(at: at(deadline)) { fired.append(name) }
        }
        #expect(queue.earliest == at(10))
        while let action = queue.popExpired(at: at(20)) { action() }
        #expect(fired == ["a", "b1", "b2"])
        #expect(queue.count == 1)
    }

    @Test func forgetsACancelledTimer() {
        var queue = TimerQueue()
        let id = queue.schedule(at: at(1)) { Issue.record("a cancelled timer fired") }
        queue.cancel(id)
        queue.cancel(id)
        #expect(queue.count == 0)
        #expect(queue.earliest == nil)
        let expired = queue.popExpired(at: .distantFuture)
        #expect(expired == nil)
    }

    @Test func doesNotTakeAnOldNameForANewTimer() {
        var queue = TimerQueue()
        let old = queue.schedule(at: at(1)) {}
        _ = queue.popExpired(at: at(1))
        let new = queue.schedule(at: at(2)) {}
        #expect(old.slot == new.slot)
        queue.cancel(old)
        #expect(queue.count == 1)
        #expect(queue.reschedule(old, at: at(9)) == false)
        #expect(queue.reschedule(new, at: at(9)) == true)
        #expect(queue.earliest == at(9))
    }

    /// Random operations give the same results as a list that is searched.
    @Test(arguments: [1, 2, 3, UInt64.random(in: 4...(.max))])
    func agreesWithASimpleList(seed: UInt64) {
        print("TimerQueueTests seed \(seed)")
        var random = SplitMix(state: seed)
        var queue = TimerQueue()
        var model: [(id: TimerID, deadline: Int, order: Int, number: Int)] = []
        var fired: [Int] = []
        for step in 0..<4000 {
            switch Int.random(in: 0..<10, using: &random) {
            case 0..<5:
                let deadline = Int.random(in: 0..<500, using: &random)
                let id = queue.schedule(at: at(deadline)) { fired.append(step) }
                model.append((id, deadline, step, step))
            case 5..<7:
                guard let victim = model.indices.randomElement(using: &random) else { continue }
                queue.cancel(model.remove(at: victim).id)
            case 7..<9:
                guard let chosen = model.indices.randomElement(using: &random) else { continue }
                let deadline = Int.random(in: 0..<500, using: &random)
                #expect(queue.reschedule(model[chosen].id, at: at(deadline)) == true)
                model[chosen].deadline = deadline
                model[chosen].order = step
            default:
                let now = Int.random(in: 0..<500, using: &random)
                let expected = model.filter { $0.deadline <= now }.sorted {
                    ($0.deadline, $0.order) < ($1.deadline, $1.order)
                }
                model.removeAll { $0.deadline <= now }
                fired = []
                while let action = queue.popExpired(at: at(now)) { action() }
                #expect(fired == expected.map(\.number))
            }
            #expect(queue.count == model.count)
            #expect(queue.earliest == model.map { at($0.deadline) }.min())
        }
    }

    private func at(_ nanoseconds: Int) -> MonotonicTime { MonotonicTime(nanoseconds: Int64(nanoseconds)) }
}

/// A small random generator with a seed, so that a failure can be repeated.
struct SplitMix: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return mixed ^ (mixed >> 31)
    }
}
