import Glibc

/// A destination of log lines.
package protocol LogSink: Sendable {
    /// Takes one whole line, with its line feed. It blocks for no longer than a copy takes.
    ///
    /// A line that is `isPrecious` has reserved room, which other lines cannot fill.
    func append(_ line: [UInt8], isPrecious: Bool)

    /// How many lines have been lost so far.
    var droppedLineCount: UInt64 { get }

    /// How lines are written.
    var style: LogStyle { get }

    /// Waits until every line taken so far has left the process; false if that took longer than `timeout`.
    @discardableResult
    func flush(timeout: Duration) -> Bool
}

extension LogSink {
    package var style: LogStyle { .json }
}

/// How a log line is written.
package enum LogStyle: Sendable {
    /// One JSON object.
    case json
    /// The same, with its priority in angle brackets before it, which journald takes off and keeps (sd-daemon(3)).
    case journal
    /// Words for a person at a terminal: time of day in UTC, level, event, and `name=value` for each field.
    case terminal
}

/// Why a sink could not be made.
package enum LogSinkError: Error, Equatable, Sendable {
    /// The system could not start the thread; the number is the `errno`.
    case threadNotStarted(Int32)
}

extension LogSinkError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .threadNotStarted(let code): "the system gives no more threads (error \(code))"
        }
    }
}

/// Writes lines to a descriptor from a separate thread, so that a slow or missing reader never blocks a loop.
///
/// Lines wait in a queue of limited size. Lines that do not fit are dropped and counted; after the next lines that are
/// written, the line `log_lines_dropped` says in `count` how many are missing. Lines are never mixed with one another.
/// If the descriptor fails, a line may be cut.
package final class DescriptorLogSink: LogSink {
    private let queue: LogQueue
    package let style: LogStyle

    /// A sink for an open descriptor. The caller keeps the descriptor and must not close it before the last `flush`.
    ///
    /// `queueSizeMaximum` limits the bytes that wait. Up to the same number of bytes may be in the process of being
    /// written.
    package init(
        descriptor: Int32 = STDERR_FILENO, queueSizeMaximum: Int = 1 << 20,
        style: LogStyle = .json, clock: any WallClock = SystemWallClock()
    ) throws(LogSinkError) {
        self.style = style
        queue = LogQueue(sizeMaximum: queueSizeMaximum)
        try LogWriter(queue: queue, descriptor: descriptor, style: style, clock: clock).start()
    }

    deinit {
        queue.close()
    }

    /// How many lines have been lost so far, because the queue was full or the descriptor failed.
    package var droppedLineCount: UInt64 { queue.droppedLineCount }

    /// Takes the line, or drops it if the queue is full. Precious lines may fill the queue to twice the normal size.
    package func append(_ line: [UInt8], isPrecious: Bool = false) {
        queue.append(line, isPrecious: isPrecious)
    }

    /// Waits until every line taken so far is written or lost; false if that took longer than `timeout`.
    package func flush(timeout: Duration) -> Bool {
        queue.waitUntilWritten(deadline: SystemMonotonicClock().monotonicTime + timeout)
    }
}

/// The thread that writes lines from the queue to the descriptor.
final class LogWriter: Sendable {
    /// The pause between two batches, in microseconds. A single line is written at once. A thousand lines within a
    /// millisecond cause only two wake-ups and two writes.
    private static let pause: UInt32 = 1000

    private let queue: LogQueue
    private let descriptor: Int32
    private let style: LogStyle
    private let clock: any WallClock

    init(queue: LogQueue, descriptor: Int32, style: LogStyle = .json, clock: any WallClock) {
        self.queue = queue
        self.descriptor = descriptor
        self.style = style
        self.clock = clock
    }

    /// Starts the thread, which keeps this object alive until the queue is closed and empty.
    func start() throws(LogSinkError) {
        // A new thread inherits the signal mask. Because every signal is blocked, the process's signals go to the
        // threads that wait for them, and a broken pipe makes `write` fail and does not end the process.
        var everySignal = sigset_t()
        var previousMask = sigset_t()
        unsafe sigfillset(&everySignal)
        unsafe pthread_sigmask(SIG_SETMASK, &everySignal, &previousMask)
        defer { unsafe pthread_sigmask(SIG_SETMASK, &previousMask, nil) }

        var thread = pthread_t()
        // Safe: `runLogWriter` releases the reference that is retained here, exactly once.
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
            fields: [.unsigned("count", droppedCount)], style: style
        ).bytes
    }

    /// Writes all bytes. Returns the bytes that could not be written because the descriptor failed.
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

    /// Waits until the descriptor can be written. Standard error may be non-blocking, because other processes share it
    /// and may have set it so.
    private func waitUntilWritable() {
        var request = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        // Safe: the pointer is a local variable, and the count is 1.
        _ = unsafe poll(&request, 1, -1)
    }
}

/// A free function, because a closure could inherit the actor isolation of its context.
private func runLogWriter(_ argument: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    guard let argument = unsafe argument else { return nil }
    // Safe: `LogWriter.start` retained this reference and passed it to this call only.
    unsafe Unmanaged<LogWriter>.fromOpaque(argument).takeRetainedValue().run()
    return nil
}
