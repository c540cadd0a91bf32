import ContentKeys
import TestSupport
import Testing

@testable import StorageSQLite

/// Tests of how long callers wait for the writer, with a manual clock.
@Suite struct WriteQueueTests {
    private let clock = ManualClock()
    private let queue: WriteQueue

    init() {
        queue = WriteQueue(lengthMaximum: 4, batchSizeMaximum: 2, patience: .seconds(3), clock: clock)
    }

    /// Work between batches, for example a checkpoint, may hang like a batch.
    @Test(arguments: [true, false])
    func findsThatTheWriterHangs(inABatch: Bool) {
        if inABatch {
            queue.tryToWrite()
            #expect(queue.next(mayIdle: false)?.count == 1)
        } else {
            queue.beginWork()
        }
        clock.advance(by: .milliseconds(2999))
        #expect(queue.takeLate().isEmpty && queue.condition == .sound)
        clock.advance(by: .milliseconds(1))
        #expect(queue.takeLate().count == (inABatch ? 1 : 0))
        #expect(queue.condition == .hanging)
        #expect(queue.append(.tryToWrite, caller: nil, loopIndex: nil) == .unavailable(.hanging))
        if inABatch { #expect(queue.finish(.sound).compactMap(\.self).isEmpty) } else { queue.endWork() }
        #expect(queue.condition == .sound)
        #expect(queue.append(.tryToWrite, caller: nil, loopIndex: nil) == nil)
    }

    /// A request has waited a little longer than the write that contains it.
    @Test func takesAWriteThatIsLittleYoungerForHanging() {
        queue.tryToWrite()
        clock.advance(by: .milliseconds(100))
        #expect(queue.next(mayIdle: false)?.count == 1)
        clock.advance(by: .milliseconds(2900))
        #expect(queue.takeLate().map(\.1) == [.unavailable(.hanging)] && queue.condition == .hanging)
    }

    /// A long queue before a writer that works is load and not an outage.
    @Test func tellsLoadFromADiskThatHangs() {
        for _ in 0..<3 { queue.tryToWrite() }
        #expect(queue.next(mayIdle: false)?.count == 2)
        clock.advance(by: .seconds(2))
        _ = queue.finish(.sound)
        clock.advance(by: .seconds(1))
        let late = queue.takeLate()
        #expect(late.map(\.1) == [.unavailable(.busy)] && queue.condition == .sound)
    }

    @Test func waitsAsLongAsAReloadSays() {
        queue.tryToWrite()
        queue.setPatience(.seconds(9))
        clock.advance(by: .seconds(8))
        #expect(queue.takeLate().isEmpty)
        clock.advance(by: .seconds(1))
        #expect(queue.takeLate().count == 1)
    }

    /// While writes fail, a write is tried from time to time. A replaced file stays replaced until the original is
    /// found again.
    @Test func remembersHowTheLastWriteEnded() {
        #expect(!queue.wantsTry)
        _ = queue.finish(.failing(.diskFull))
        #expect(queue.wantsTry && queue.condition == .failing(.diskFull))
        queue.tryToWrite()
        #expect(!queue.wantsTry)
        #expect(queue.takeAll(.replaced).count == 1 && !queue.wantsTry)
        _ = queue.finish(.sound)
        #expect(queue.condition == .replaced)
        queue.fileIsBack()
        #expect(queue.condition == .sound)
    }

    // MARK: Waiting for more requests

    /// A writer that waits for requests until the last one of them comes, or until the store stops.
    @Test(arguments: [true, false]) func aBatchWaitsForAsManyAsTheLastOneHad(stops: Bool) async throws {
        let queue = WriteQueue(
            lengthMaximum: 100, batchSizeMaximum: 100, pacing: BatchPacing(spacing: .seconds(600)))
        // The first batch waits for nothing, and the second one is a probe: it waits for one more.
        for _ in 0..<3 { queue.tryToWrite() }
        #expect(queue.next(mayIdle: false)?.count == 3)
        _ = queue.finish(.sound)
        for _ in 0..<3 { queue.tryToWrite() }
        let batch = Task.detached { queue.next(mayIdle: false)?.count }
        if stops { queue.stop() } else { queue.tryToWrite() }
        let count = await batch.value
        #expect(count == (stops ? 3 : 4))
    }

    /// The wait ends with its time, whatever the clock says then.
    @Test func aBatchWaitsOnlyOnce() {
        let queue = WriteQueue(lengthMaximum: 100, batchSizeMaximum: 100, clock: clock)
        for count in [8, 1, 1] {
            for _ in 0..<count { queue.tryToWrite() }
            #expect(queue.next(mayIdle: false)?.count == count)
            _ = queue.finish(.sound)
        }
    }

    @Test func aRequestAloneWaitsForNone() {
        let queue = WriteQueue(
            lengthMaximum: 100, batchSizeMaximum: 100, pacing: BatchPacing(spacing: .seconds(600)))
        for count in [1, 2, 1, 1] {
            for _ in 0..<count { queue.tryToWrite() }
            #expect(queue.next(mayIdle: false)?.count == count)
            _ = queue.finish(.sound)
        }
    }
}
