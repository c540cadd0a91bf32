import TestSupport
import Testing

@testable import EventLoops

@Suite struct RunQueueTests {
    @Test func keepsTheOrderAcrossItsArrays() {
        var queue = RunQueue()
        let log = Log<Int>()
        let work = { (number: Int) in LoopWork.call { log.append(number) } }
        queue.append(work(1))
        queue.append(work(2))
        run(&queue, 1)
        queue.append(work(3))
        var others = [work(4), work(5)]
        queue.takeAll(from: &others)
        #expect(others.isEmpty)
        #expect(queue.count == 4)
        run(&queue, 9)
        #expect(log.all == [1, 2, 3, 4, 5])
        #expect(queue.isEmpty)
    }

    private func run(_ queue: inout RunQueue, _ count: Int) {
        for _ in 0..<count {
            if case .call(let body) = queue.next() { body() }
        }
    }
}
