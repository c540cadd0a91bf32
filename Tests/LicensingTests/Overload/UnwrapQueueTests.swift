import EventLoops
import Foundation
import KeyCrypto
import Synchronization
import Telemetry
import TestSupport
import Testing

@testable import Licensing

/// How the RSA jobs of a loop are grouped, with a backend that only notes its batches.
@Suite struct UnwrapQueueTests {
    private static let keys = Result {
        [1024: try RSAPrivateKey.generate(bits: 1024), 2048: try RSAPrivateKey.generate(bits: 2048)]
    }

    /// Jobs with keys of these sizes, in bits.
    private func jobs(_ sizes: [Int]) throws -> [RSAUnwrapJob] {
        let keys = try Self.keys.get()
        return try sizes.map { size in
            RSAUnwrapJob(
                key: try #require(keys[size]), padding: .sha1, message: [], range: 0..<0, decoy: SecretBytes(count: 16))
        }
    }

    /// Full groups come first. The rest waits until a poll brings nothing new, and then is a group too.
    @Test(arguments: [(1, [1]), (2, [2]), (7, [7]), (8, [8]), (9, [8, 1]), (20, [8, 8, 4])])
    func makesGroupsOfEight(count: Int, groups: [Int]) throws {
        let stand = try QueueStand(groupSize: 8, loneGroupMaximum: 1)
        let batches = stand.run(try jobs([Int](repeating: 1024, count: count)))
        #expect(batches.map(\.count) == groups)
    }

    /// Jobs of two sizes in turn fill a group of each size, instead of two half groups.
    @Test func fillsAGroupOfEachSize() throws {
        let stand = try QueueStand(groupSize: 8, loneGroupMaximum: 1)
        let batches = stand.run(try jobs((0..<8).flatMap { _ in [1024, 2048] }))
        #expect(batches == [(0..<8).flatMap { _ in [128, 256] }])
    }

    /// Jobs stay in their order: a job without room ends a group, although a later one had room.
    @Test func keepsTheOrder() throws {
        let stand = try QueueStand(groupSize: 8, loneGroupMaximum: 1)
        let sizes = [Int](repeating: 1024, count: 9) + [2048, 1024]
        let batches = stand.run(try jobs(sizes))
        #expect(batches == [[Int](repeating: 128, count: 8), [128, 256, 128]])
    }

    @Test func makesGroupsOfFourAsForOpenSSL() throws {
        let stand = try QueueStand(groupSize: 4, loneGroupMaximum: 4)
        let batches = stand.run(try jobs([Int](repeating: 1024, count: 6)))
        #expect(batches.map(\.count) == [4, 2])
    }

    /// The thread gets two groups. Behind them requests wait as long as they may, although the loop has nothing to do.
    @Test func refusesWhatHasWaitedTooLong() throws {
        let stand = try QueueStand(groupSize: 4, loneGroupMaximum: 4)
        stand.notes.hold()
        let outcomes = stand.outcomes(of: [try jobs([Int](repeating: 1024, count: 11))], wait: .seconds(3)) {
            stand.pass(.seconds(2))
            #expect(stand.refusedCount == 0)
            stand.pass(.seconds(1))
            #expect(stand.refusedCount == 3)
            stand.notes.release()
        }
        #expect(outcomes == [Bool](repeating: true, count: 8) + [false, false, false])
        #expect(stand.notes.batches.map(\.count) == [4, 4])
    }

    /// If nothing may wait, what the thread can take is served nevertheless, although a group is not full.
    @Test(arguments: [(8, 1), (4, 4)])
    func servesWhatNeedNotWait(groupSize: Int, loneGroupMaximum: Int) throws {
        let stand = try QueueStand(groupSize: groupSize, loneGroupMaximum: loneGroupMaximum)
        stand.notes.hold()
        let turns = [try jobs([1024, 1024]), try jobs([1024]), try jobs([1024])]
        let outcomes = stand.outcomes(of: turns, wait: .zero) { stand.notes.release() }
        #expect(outcomes == [true, true, true, false])
        #expect(stand.notes.batches.map(\.count) == [2, 1])
    }

    /// Requests with a shorter deadline do not wait for that of others, for example after a reload.
    @Test func refusesByTheEarliestDeadline() throws {
        let stand = try QueueStand(groupSize: 2, loneGroupMaximum: 2)
        stand.notes.hold()
        let turns = [try jobs([1024, 1024]), try jobs([1024, 1024]), try jobs([1024]), try jobs([2048])]
        let outcomes = stand.outcomes(of: turns, wait: .seconds(30), lastWait: .seconds(1), renewals: 256) {
            stand.pass(.seconds(1))
            #expect(stand.refusedCount == 1)
            stand.notes.release()
        }
        #expect(outcomes == [true, true, true, true, true, false])
    }

    /// While the thread is busy, renewals go before all that wait, and take the place of the youngest of them.
    @Test func letsRenewalsGoFirst() throws {
        let stand = try QueueStand(groupSize: 2, loneGroupMaximum: 2)
        stand.notes.hold()
        let turns = [try jobs([1024, 1024]), try jobs([1024, 1024]), try jobs([1024, 1024, 2048, 2048])]
        let outcomes = stand.outcomes(of: turns, wait: .seconds(3), capacity: 3, renewals: 256) {
            stand.notes.release()
        }
        #expect(outcomes == [true, true, true, true, true, false, true, true])
        #expect(stand.notes.batches == [[128, 128], [128, 128], [256, 256, 128]])
    }
}

/// A loop with a queue.
private final class QueueStand: Sendable {
    let notes = BatchNotes()
    private let clock = ManualClock()
    private let counts = OverloadCounts()
    private let group: EventLoopGroup
    private let queues: LoopLocal<UnwrapQueue>

    init(groupSize: Int, loneGroupMaximum: Int) throws {
        group = try EventLoopGroup(count: 1, computing: true, clock: clock)
        queues = LoopLocal { [notes, counts] loop in
            UnwrapQueue(
                unwrapper: NotingUnwrapper(groupSize, loneGroupMaximum, notes), counts: counts, times: UnwrapTimes(),
                on: loop)
        }
    }

    var refusedCount: UInt64 { counts.refused }

    /// Lets time pass, and waits until the loop has run the timers that are due then.
    func pass(_ time: Duration) {
        clock.advance(by: time)
        // A timer of no delay runs after those that were due before it.
        let done = DispatchSemaphore(value: 0)
        group.loops[0].execute { [loop = group.loops[0]] in
            _ = loop.schedule(after: .zero) { done.signal() }
        }
        done.wait()
    }

    /// Hands in some jobs in each of several turns, and lets the loop do with them what it can. Calls `body` then, and
    /// returns whether each job was settled. Jobs may wait for `wait`, and those of the last turn for `lastWait`. Jobs
    /// whose modulus has `renewals` bytes are urgent.
    func outcomes(
        of turns: [[RSAUnwrapJob]], wait: Duration, lastWait: Duration? = nil, capacity: Int = 1000,
        renewals: Int? = nil, then body: () -> Void
    ) -> [Bool] {
        let settled = Monitor<[Int: Bool]>([:])
        var count = 0
        for (turn, jobs) in turns.enumerated() {
            let isLast = turn == turns.count - 1
            let limits = OverloadLimits(wait: isLast ? lastWait ?? wait : wait, waitingMaximum: capacity)
            handIn(jobs, limits, renewals) { [count] number, outcome in
                settled.update { $0[count + number] = outcome }
            }
            count += jobs.count
            pass(.zero)
        }
        body()
        return settled.wait { settled in settled.count == count ? (0..<count).map { settled[$0] == true } : nil }
    }

    private func handIn(
        _ jobs: [RSAUnwrapJob], _ limits: OverloadLimits, _ renewals: Int?,
        settled: @escaping @Sendable (Int, Bool) -> Void
    ) {
        let loop = group.loops[0]
        loop.execute { [queues] in
            for (number, job) in jobs.enumerated() {
                loop.spawn {
                    let queue = loop.value(of: queues)
                    let isUrgent = job.modulusSize == renewals
                    settled(number, await queue.unwrap(job, isUrgent: isUrgent, limits: limits))
                }
            }
        }
    }

    deinit {
        group.stop(within: .seconds(10))
    }

    /// Hands in all jobs in one turn of the loop, waits until they are settled, and returns the batches: the size of
    /// each job's modulus in bytes.
    func run(_ jobs: [RSAUnwrapJob]) -> [[Int]] {
        let outcomes = outcomes(of: [jobs], wait: .seconds(600)) {}
        return outcomes.allSatisfy(\.self) ? notes.batches : []
    }
}

/// The batches of a backend.
private final class BatchNotes: Sendable {
    private let noted = Mutex<[[Int]]>([])
    private let isHeld = Monitor(false)

    var batches: [[Int]] { noted.withLock { $0 } }

    /// Notes a batch, and waits while batches are held up.
    func append(_ batch: [Int]) {
        noted.withLock { $0.append(batch) }
        isHeld.wait { isHeld in isHeld ? nil : () }
    }

    func hold() { isHeld.update { $0 = true } }

    func release() { isHeld.update { $0 = false } }
}

/// A backend with room for `groupSize` jobs of each size, which settles nothing.
private final class NotingUnwrapper: RSAUnwrapper {
    let groupSize: Int
    let loneGroupMaximum: Int
    private let notes: BatchNotes

    init(_ groupSize: Int, _ loneGroupMaximum: Int, _ notes: BatchNotes) {
        self.groupSize = groupSize
        self.loneGroupMaximum = loneGroupMaximum
        self.notes = notes
    }

    func hasRoom(for job: RSAUnwrapJob, after batch: [RSAUnwrapJob]) -> Bool {
        batch.count { $0.modulusSize == job.modulusSize } < groupSize
    }

    func unwrap(_ batch: [RSAUnwrapJob]) { notes.append(batch.map(\.modulusSize)) }
}
