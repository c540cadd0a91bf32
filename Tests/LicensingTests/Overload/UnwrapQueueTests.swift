import EventLoops
import KeyCrypto
import Synchronization
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
    func makesGroupsOfEight(count: Int, groups: [Int]) async throws {
        let stand = try QueueStand(groupSize: 8, loneGroupMaximum: 1)
        let batches = await stand.run(try jobs([Int](repeating: 1024, count: count)))
        #expect(batches.map(\.count) == groups)
    }

    /// Jobs of two sizes in turn fill a group of each size, instead of two half groups.
    @Test func fillsAGroupOfEachSize() async throws {
        let stand = try QueueStand(groupSize: 8, loneGroupMaximum: 1)
        let batches = await stand.run(try jobs((0..<8).flatMap { _ in [1024, 2048] }))
        #expect(batches == [(0..<8).flatMap { _ in [128, 256] }])
    }

    /// Jobs stay in their order: a job without room ends a group, although a later one had room.
    @Test func keepsTheOrder() async throws {
        let stand = try QueueStand(groupSize: 8, loneGroupMaximum: 1)
        let sizes = [Int](repeating: 1024, count: 9) + [2048, 1024]
        let batches = await stand.run(try jobs(sizes))
        #expect(batches == [[Int](repeating: 128, count: 8), [128, 256, 128]])
    }

    @Test func makesGroupsOfFourAsForOpenSSL() async throws {
        let stand = try QueueStand(groupSize: 4, loneGroupMaximum: 4)
        let batches = await stand.run(try jobs([Int](repeating: 1024, count: 6)))
        #expect(batches.map(\.count) == [4, 2])
    }
}

/// A loop with a queue.
private final class QueueStand: Sendable {
    let notes = BatchNotes()
    private let jobsLeft = Countdown()
    private let group: EventLoopGroup
    private let queues: LoopLocal<UnwrapQueue>

    init(groupSize: Int, loneGroupMaximum: Int) throws {
        group = try EventLoopGroup(count: 1)
        queues = LoopLocal { [notes] loop in
            UnwrapQueue(
                unwrapper: NotingUnwrapper(groupSize, loneGroupMaximum, notes), counts: OverloadCounts(),
                times: UnwrapTimes(), on: loop)
        }
    }

    deinit {
        group.stop(within: .seconds(10))
    }

    /// Hands in all jobs in one turn of the loop, waits until they are settled, and returns the batches: the size of
    /// each job's modulus in bytes.
    func run(_ jobs: [RSAUnwrapJob]) async -> [[Int]] {
        let loop = group.loops[0]
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            jobsLeft.start(jobs.count) { continuation.resume() }
            // The closures do not hold this object, because a loop cannot stop itself.
            loop.execute { [queues, jobsLeft] in
                for job in jobs {
                    loop.spawn {
                        let queue = loop.value(of: queues)
                        _ = await queue.unwrap(
                            job, isUrgent: false, limits: OverloadLimits(wait: .seconds(600), waitingMaximum: 1000))
                        jobsLeft.count()
                    }
                }
            }
        }
        return notes.batches
    }
}

/// The batches of a backend.
private final class BatchNotes: Sendable {
    private let noted = Mutex<[[Int]]>([])

    var batches: [[Int]] { noted.withLock { $0 } }

    func append(_ batch: [Int]) { noted.withLock { $0.append(batch) } }
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
