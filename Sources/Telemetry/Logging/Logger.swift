import Synchronization

/// Writes one JSON object per line: `time` (RFC 3339, UTC, milliseconds), `level`, `event`, then the fields.
///
/// The event is a fixed snake_case word by which lines are found; what varies stands in the fields. Neither ever holds a
/// secret: the logger cannot tell one, so whoever logs must. Lines below the level cost one atomic read.
package final class Logger: Sendable {
    private let sink: any LogSink
    private let clock: any WallClock
    private let leastRank: Atomic<UInt8>

    /// A logger that lets pass what has this level or a higher one.
    package init(level: LogLevel, sink: any LogSink, clock: any WallClock = SystemWallClock()) {
        self.sink = sink
        self.clock = clock
        leastRank = Atomic(level.rank)
    }

    /// Changes the level for all who hold this logger, as a reload does.
    package func setLevel(_ level: LogLevel) {
        leastRank.store(level.rank, ordering: .relaxed)
    }

    /// Whether lines of this level are written.
    package func isEnabled(_ level: LogLevel) -> Bool {
        level.rank >= leastRank.load(ordering: .relaxed)
    }

    /// Writes a line, if its level is enabled; the fields are not even made otherwise.
    package func log(_ level: LogLevel, _ event: String, _ fields: @autoclosure () -> [LogField] = []) {
        guard isEnabled(level) else { return }
        sink.append(LogLine(time: clock.wallTime, level: level, event: event, fields: fields()).bytes)
    }

    /// Waits until what was logged has left the process, at most so long; for the end of the process.
    @discardableResult
    package func flush(timeout: Duration = .seconds(2)) -> Bool {
        sink.flush(timeout: timeout)
    }
}

/// The same for each level by its name.
extension Logger {
    /// Writes a line of level trace.
    package func trace(_ event: String, _ fields: @autoclosure () -> [LogField] = []) { log(.trace, event, fields()) }

    /// Writes a line of level debug.
    package func debug(_ event: String, _ fields: @autoclosure () -> [LogField] = []) { log(.debug, event, fields()) }

    /// Writes a line of level info.
    package func info(_ event: String, _ fields: @autoclosure () -> [LogField] = []) { log(.info, event, fields()) }

    /// Writes a line of level notice.
    package func notice(_ event: String, _ fields: @autoclosure () -> [LogField] = []) { log(.notice, event, fields()) }

    /// Writes a line of level warning.
    package func warning(_ event: String, _ fields: @autoclosure () -> [LogField] = []) {
        log(.warning, event, fields())
    }

    /// Writes a line of level error.
    package func error(_ event: String, _ fields: @autoclosure () -> [LogField] = []) { log(.error, event, fields()) }

    /// Writes a line of level critical.
    package func critical(_ event: String, _ fields: @autoclosure () -> [LogField] = []) {
        log(.critical, event, fields())
    }
}
