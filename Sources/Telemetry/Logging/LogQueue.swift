/// The lines between those who log and the thread that writes, bounded in bytes.
final class LogQueue: Sendable {
    /// What the writer takes in one go.
    struct Batch: Sendable {
        /// Whole lines, one after the other.
        let bytes: [UInt8]
        let lineCount: UInt64
        /// Lines lost since the last batch, which a line of their own must report.
        let droppedCount: UInt64
    }

    private struct State {
        var bytes: [UInt8] = []
        var lineCount: UInt64 = 0
        var unreportedCount: UInt64 = 0
        var droppedCount: UInt64 = 0
        /// Lines ever taken, and of them those that the writer is done with.
        var takenCount: UInt64 = 0
        var finishedCount: UInt64 = 0
        /// Whether the writer is to be woken for the next line.
        var isAwaited = false
        var isClosed = false
    }

    private let sizeMaximum: Int
    private let state = Monitor(State())

    init(sizeMaximum: Int) {
        self.sizeMaximum = sizeMaximum
    }

    var droppedLineCount: UInt64 { state.withLock { $0.droppedCount } }

    /// Takes a line, or counts it as lost. Precious lines may fill twice the size that others may.
    func append(_ line: [UInt8], isPrecious: Bool = false) {
        state.change { state in
            guard line.count <= (isPrecious ? 2 : 1) * sizeMaximum - state.bytes.count else {
                state.droppedCount += 1
                state.unreportedCount += 1
                return false
            }
            state.bytes.append(contentsOf: line)
            state.lineCount += 1
            state.takenCount += 1
            defer { state.isAwaited = false }
            return state.isAwaited
        }
    }

    /// Waits for lines and takes all of them; nil when the queue is closed and empty.
    func takeBatch() -> Batch? {
        let batch = state.wait { state -> Batch?? in
            guard !state.bytes.isEmpty else {
                state.isAwaited = true
                return state.isClosed ? .some(nil) : nil
            }
            state.isAwaited = false
            let batch = Batch(bytes: state.bytes, lineCount: state.lineCount, droppedCount: state.unreportedCount)
            state.bytes = []
            state.lineCount = 0
            state.unreportedCount = 0
            return batch
        }
        return batch ?? nil
    }

    /// The writer is done with a batch; `lostCount` of its lines, and its report if it had one, went nowhere.
    func finish(_ batch: Batch, lostCount: UInt64, isReported: Bool) {
        state.update { state in
            state.finishedCount += batch.lineCount
            state.droppedCount += lostCount
            state.unreportedCount += lostCount + (isReported ? 0 : batch.droppedCount)
        }
    }

    /// Waits until what has been taken by now is finished; false past the deadline.
    func waitUntilWritten(deadline: MonotonicTime) -> Bool {
        let target = state.withLock { $0.takenCount }
        return state.wait(until: deadline) { state in state.finishedCount >= target ? true : nil } ?? false
    }

    /// Lets the writer end once it has written what waits.
    func close() {
        state.update { $0.isClosed = true }
    }
}
