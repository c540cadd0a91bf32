import Synchronization
import Telemetry

/// Keeps log lines in memory, for tests.
package final class MemoryLogSink: LogSink {
    private let kept = Mutex<[[UInt8]]>([])

    /// Makes a sink without lines.
    package init() {}

    /// The lines so far, without line feeds.
    package var lines: [String] {
        kept.withLock { lines in lines.map { String(decoding: $0.dropLast(), as: UTF8.self) } }
    }

    /// Keeps the line.
    package func append(_ line: [UInt8], isPrecious: Bool = false) {
        kept.withLock { $0.append(line) }
    }

    /// No line is ever dropped.
    package var droppedLineCount: UInt64 { 0 }

    /// Returns true immediately.
    package func flush(timeout: Duration) -> Bool { true }
}
