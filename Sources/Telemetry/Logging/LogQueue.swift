/// The queue of lines between the threads that log and the thread that writes. Its size in bytes is limited.
final class LogQueue: Sendable {
    /// The lines that the writer takes at once.
    struct Batch: Sendable {
        /// Whole lines, one after the other.
        let bytes: [UInt8]
        let lineCount: UInt64
        /// How many lines were lost since the last batch. An additional line must report them.
        let droppedCount: UInt64
    }

    private struct State {
        var bytes: [UInt8] = []
        var lineCount: UInt64 = 0
        var unreportedCount: UInt64 = 0
        var droppedCount: UInt64 = 0
        /// How many lines the queue has ever taken, and how many of them the writer has finished.
        var takenCount: UInt64 = 0
        var finishedCount: UInt64 = 0
        /// Whether the writer waits and must be woken for the next line.
        var isAwaited = false
        var isClosed = false
    }

    private let sizeMaximum: Int
    private let state = Monitor(State())

    init(sizeMaximum: Int) {
        self.sizeMaximum = sizeMaximum
    }

    var droppedLineCount: UInt64 { state.withLock { $0.droppedCount } }

    /// Takes a line, or counts it as lost. Precious lines may fill the queue to twice the size that other lines may.
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

    /// Waits for lines and takes all of them; nil if the queue is closed and empty.
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

    /// Notes that the writer has finished a batch. `lostCount` of its lines could not be written. `isReported` says
    /// whether the report of lost lines was written, or was not needed.
    func finish(_ batch: Batch, lostCount: UInt64, isReported: Bool) {
        state.update { state in
            state.finishedCount += batch.lineCount
            state.droppedCount += lostCount
            state.unreportedCount += lostCount + (isReported ? 0 : batch.droppedCount)
        }
    }

    /// Waits until all lines taken so far are finished; false if the deadline has passed.
    func waitUntilWritten(deadline: MonotonicTime) -> Bool {
        let target = state.withLock { $0.takenCount }
        return state.wait(until: deadline) { state in state.finishedCount >= target ? true : nil } ?? false
    }

    /// Lets the writer end after it has written the lines that wait.
    func close() {
        state.update { $0.isClosed = true }
    }
}
