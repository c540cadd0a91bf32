import Synchronization

/// Counts batches and what is in them, on all loops together.
final class BatchCount: Sendable {
    private let memberCount = Atomic<UInt64>(0)
    private let batchCount = Atomic<UInt64>(0)

    /// The number of members of all batches.
    var members: UInt64 { memberCount.load(ordering: .relaxed) }
    /// The number of batches. `members` divided by it tells how full they were.
    var batches: UInt64 { batchCount.load(ordering: .relaxed) }

    func add(_ members: Int) {
        memberCount.wrappingAdd(UInt64(members), ordering: .relaxed)
        batchCount.wrappingAdd(1, ordering: .relaxed)
    }
}
