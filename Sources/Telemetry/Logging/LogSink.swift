import Glibc

/// Where log lines go.
package protocol LogSink: Sendable {
    /// Takes one whole line, its line feed included; never blocks for longer than a copy takes.
    ///
    /// A line that is `precious` has room of its own, which other lines cannot fill.
    func append(_ line: [UInt8], isPrecious: Bool)

    /// How many lines have been lost so far.
    var droppedLineCount: UInt64 { get }

    /// Whether each line begins with its priority, as journald reads it.
    var marksPriorities: Bool { get }

    /// Waits until every line taken so far has left the process, at most so long; false if the time was up.
    @discardableResult
    func flush(timeout: Duration) -> Bool
}

extension LogSink {
    package var marksPriorities: Bool { false }
}

/// Why a sink could not be made.
package enum LogSinkError: Error, Equatable, Sendable {
    /// The system gives no more threads; the number is its `errno`.
    case threadNotStarted(Int32)
}

extension LogSinkError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .threadNotStarted(let code): "the system gives no more threads (error \(code))"
        }
    }
}

/// Writes lines to a descriptor by a thread of its own, so that a reader who is slow or gone never holds up a loop.
///
/// Lines wait in a queue of bounded size. What does not fit is dropped and counted, and the next lines that go out are
/// followed by one that says how many are missing: `log_lines_dropped` with `count`. A line is written whole or, when
/// the descriptor fails, not at all or cut; it is never split over two others.
package final class DescriptorLogSink: LogSink {
    private let queue: LogQueue
    package let marksPriorities: Bool

    /// A sink for an open descriptor, which stays the caller's and must outlast the last `flush`.
    ///
    /// `marksPriorities` is for a descriptor that journald reads. `queueSizeMaximum` bounds the bytes that wait; up to
    /// as many again are on their way to the descriptor.
    package init(
        descriptor: Int32 = STDERR_FILENO, queueSizeMaximum: Int = 1 << 20,
        marksPriorities: Bool = false, clock: any WallClock = SystemWallClock()
    ) throws(LogSinkError) {
        self.marksPriorities = marksPriorities
        queue = LogQueue(sizeMaximum: queueSizeMaximum)
        try LogWriter(queue: queue, descriptor: descriptor, marksPriorities: marksPriorities, clock: clock).start()
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

/// The thread that carries lines from the queue to the descriptor.
final class LogWriter: Sendable {
    /// Between two batches, in microseconds. A line that comes alone is written at once. A thousand that come within a
    /// millisecond cost two wake-ups and two writes.
    private static let pause: UInt32 = 1000

    private let queue: LogQueue
    private let descriptor: Int32
    private let marksPriorities: Bool
    private let clock: any WallClock

    init(queue: LogQueue, descriptor: Int32, marksPriorities: Bool = false, clock: any WallClock) {
        self.queue = queue
        self.descriptor = descriptor
        self.marksPriorities = marksPriorities
        self.clock = clock
    }

    /// Starts the thread, which keeps this object alive until the queue is closed and empty.
    func start() throws(LogSinkError) {
        // A new thread inherits the mask. With every signal blocked, the process's signals go to the threads that wait
        // for them, and a broken pipe is an error of `write` here and not the end of the process.
        var everySignal = sigset_t()
        var previousMask = sigset_t()
        unsafe sigfillset(&everySignal)
        unsafe pthread_sigmask(SIG_SETMASK, &everySignal, &previousMask)
        defer { unsafe pthread_sigmask(SIG_SETMASK, &previousMask, nil) }

        var thread = pthread_t()
        // Safe: the reference that is retained here is what `runLogWriter` takes back, exactly once.
        let reference = unsafe Unmanaged.passRetained(self)
        let status = unsafe pthread_create(&thread, nil, runLogWriter, reference.toOpaque())
        guard status == 0 else {
            unsafe reference.release()
            throw .threadNotStarted(status)
        }
        pthread_detach(thread)
    }

    /// Writes until the queue is closed and empty.
    fileprivate func run() {
        while let batch = queue.takeBatch() {
            let lostBytes = write(batch.bytes)
            let lostCount = UInt64(lostBytes.count { $0 == UInt8(ascii: "\n") })
            let isReported = batch.droppedCount == 0 || write(report(of: batch.droppedCount)).isEmpty
            queue.finish(batch, lostCount: lostCount, isReported: isReported)
            usleep(Self.pause)
        }
    }

    private func report(of droppedCount: UInt64) -> [UInt8] {
        LogLine(
            time: clock.wallTime, level: .warning, event: "log_lines_dropped",
            fields: [.unsigned("count", droppedCount)], marksPriority: marksPriorities
        ).bytes
    }

    /// Writes all bytes and returns what could not be written because the descriptor failed.
    private func write(_ bytes: [UInt8]) -> ArraySlice<UInt8> {
        var rest = bytes[...]
        while !rest.isEmpty {
            // Safe: the pointer is used within the closure only, together with its own count.
            let count = unsafe rest.withUnsafeBytes { unsafe Glibc.write(descriptor, $0.baseAddress, $0.count) }
            let code = errno
            if count >= 0 {
                rest = rest.dropFirst(count)
            } else if code == EAGAIN || code == EWOULDBLOCK {
                waitUntilWritable()
            } else if code != EINTR {
                return rest
            }
        }
        return rest
    }

    /// Standard error may be a non-blocking descriptor that the process shares with others.
    private func waitUntilWritable() {
        var request = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        // Safe: the pointer is a local variable, and the count says that it is one.
        _ = unsafe poll(&request, 1, -1)
    }
}

/// A free function, because a closure could inherit the isolation of the place where it is written.
private func runLogWriter(_ argument: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    guard let argument = unsafe argument else { return nil }
    // Safe: `LogWriter.start` passed this reference retained, and only to this call.
    unsafe Unmanaged<LogWriter>.fromOpaque(argument).takeRetainedValue().run()
    return nil
}
