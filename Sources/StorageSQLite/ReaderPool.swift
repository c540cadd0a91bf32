import ContentKeys
import Synchronization

/// A fixed number of reading connections, each behind a lock of its own.
///
/// A read takes microseconds. With as many readers as threads that read, one of them is always free, and no thread
/// waits.
final class ReaderPool: Sendable {
    private let slots: [Slot]
    private let turn = Atomic<Int>(0)

    /// `count` is at least 1.
    init(count: Int, _ makeReader: () throws(StoreError) -> KeyReader) throws(StoreError) {
        precondition(count >= 1, "a pool has a reader")
        var slots: [Slot] = []
        for _ in 0..<count { slots.append(Slot(try makeReader())) }
        self.slots = slots
    }

    /// Lends a free reader; when none is free, waits for one.
    func withReader<Result: Sendable, Failure: Error>(
        _ body: (inout KeyReader) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        // Starting at a different slot each time keeps the threads apart.
        let first = turn.wrappingAdd(1, ordering: .relaxed).oldValue & Int.max
        for offset in 0..<slots.count {
            let slot = slots[(first % slots.count + offset) % slots.count]
            let result = try slot.reader.withLockIfAvailable { reader throws(Failure) in try body(&reader) }
            if let result { return result }
        }
        return try slots[first % slots.count].reader.withLock { reader throws(Failure) in try body(&reader) }
    }

    private final class Slot: Sendable {
        let reader: Mutex<KeyReader>

        init(_ reader: consuming sending KeyReader) {
            self.reader = Mutex(reader)
        }
    }
}
