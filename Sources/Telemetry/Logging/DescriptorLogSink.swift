import Glibc

/// Why a sink could not be made.
package enum LogSinkError: Error, Equatable, Sendable {
    /// The system gives no more threads; the number is its `errno`.
    case threadNotStarted(Int32)
}

/// Writes lines to a descriptor by a thread of its own, so that a reader who is slow or gone never holds up a loop.
///
/// Lines wait in a queue of bounded size. What does not fit is dropped and counted, and the next lines that go out are
/// followed by one that says how many are missing: `log_lines_dropped` with `count`. A line is written whole or, when
/// the descriptor fails, not at all or cut; it is never split over two others.
package final class DescriptorLogSink: LogSink {
    private let queue: LogQueue

    /// A sink for an open descriptor, which stays the caller's and must outlast the last `flush`.
    ///
    /// `queueSizeMaximum` bounds the bytes that wait; up to as many again are on their way to the descriptor.
    package init(
        descriptor: Int32 = STDERR_FILENO, queueSizeMaximum: Int = 1 << 20, clock: any WallClock = SystemWallClock()
    ) throws(LogSinkError) {
        queue = LogQueue(sizeMaximum: queueSizeMaximum)
        try LogWriter(queue: queue, descriptor: descriptor, clock: clock).start()
    }

    deinit {
        queue.close()
    }

    /// How many lines have been lost so far, because the queue was full or the descriptor failed.
    package var droppedLineCount: UInt64 { queue.droppedLineCount }

    /// Takes the line, or drops it if the queue is full. Precious lines may take as much room again as all lines
    /// together.
    package func append(_ line: [UInt8], isPrecious: Bool = false) {
        queue.append(line, isPrecious: isPrecious)
    }

    /// Waits until every line taken so far is written or lost, at most so long; false if the time was up.
    package func flush(timeout: Duration) -> Bool {
        queue.waitUntilWritten(deadline: SystemMonotonicClock().monotonicTime + timeout)
    }
}
