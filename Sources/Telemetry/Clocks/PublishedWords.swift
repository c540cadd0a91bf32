import Synchronization

/// A value of a few 64-bit words that one thread at a time writes and any thread reads without a lock: a sequence lock.
///
/// The sequence is odd while a value is written. A reader that sees an odd sequence, or another one after its copy than
/// before, has read parts of two values: it throws the copy away and tries again. Each word is atomic, so no read is a
/// data race.
final class PublishedWords<let count: Int>: Sendable {
    /// Odd before the first value too.
    private let sequence = Atomic<UInt>(1)
    private let words = InlineArray<count, Atomic<Int64>> { _ in Atomic(0) }

    /// A reader tries so often; then the writers are in its way, and it has to take their lock.
    private static var readsMaximum: Int { 3 }

    /// Publishes a value. The caller makes sure that no other thread does so at the same time.
    func publish(_ value: InlineArray<count, Int64>) {
        let next = (sequence.load(ordering: .relaxed) | 1) &+ 1
        sequence.store(next &- 1, ordering: .relaxed)
        // No reader sees one of the new words without seeing the odd sequence after that.
        atomicMemoryFence(ordering: .releasing)
        for index in value.indices { words[index].store(value[index], ordering: .relaxed) }
        sequence.store(next, ordering: .releasing)
    }

    /// The value that was published last; nil before the first one, or if writers were faster than several reads.
    var value: InlineArray<count, Int64>? {
        for _ in 0..<Self.readsMaximum {
            let before = sequence.load(ordering: .acquiring)
            guard before.isMultiple(of: 2) else { continue }
            let copy = InlineArray<count, Int64> { words[$0].load(ordering: .relaxed) }
            atomicMemoryFence(ordering: .acquiring)
            if sequence.load(ordering: .relaxed) == before { return copy }
        }
        return nil
    }
}
