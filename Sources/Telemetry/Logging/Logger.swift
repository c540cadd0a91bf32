import Synchronization

/// Writes one JSON object per line: `time` (RFC 3339, UTC, milliseconds), `level`, `event`, then the fields. A sink
/// for a terminal gets the same as words.
///
/// The event is a fixed snake_case word by which lines can be found; everything that varies is in the fields. The
/// caller must make sure that neither contains a secret, because the logger cannot recognise one. A line below the
/// level costs one atomic read.
package final class Logger: Sendable {
    /// How many lines of one event strangers may cause per second.
    package static let linesPerEventDefault = 20

    private let sink: any LogSink
    private let clock: any WallClock
    private let leastRank: Atomic<UInt8>
    private let sampler: LogSampler
    private let sampleClock: any MonotonicClock

    /// A logger that writes lines of this level or a higher one.
    ///
    /// Of the lines that strangers cause, `linesPerEvent` of each event are written per second.
    package init(
        level: LogLevel, sink: any LogSink, clock: any WallClock = SystemWallClock(),
        linesPerEvent: Int = linesPerEventDefault, sampleClock: any MonotonicClock = SystemMonotonicClock()
    ) {
        sampler = LogSampler(perSecond: linesPerEvent)
        self.sampleClock = sampleClock
        self.sink = sink
        self.clock = clock
        leastRank = Atomic(level.rank)
    }

    /// Changes the level for all users of this logger, for instance after a reload.
    package func setLevel(_ level: LogLevel) {
        leastRank.store(level.rank, ordering: .relaxed)
    }

    /// Whether lines of this level are written.
    package func isEnabled(_ level: LogLevel) -> Bool {
        level.rank >= leastRank.load(ordering: .relaxed)
    }

    /// Changes how many lines of each event strangers may cause per second, for instance after a reload.
    package func setLinesPerEvent(_ count: Int) {
        sampler.setRate(perSecond: count)
    }

    /// How many lines were left out because strangers caused too many of the same event.
    package var sampledLineCount: UInt64 { sampler.leftOutCount }

    /// How many lines were lost because the reader of the log was too slow or missing.
    package var lostLineCount: UInt64 { sink.droppedLineCount }

    /// Writes a line, if its level is enabled; otherwise the fields are not even evaluated. If lines of the event were
    /// left out before, the field `left_out` says how many.
    package func log(
        _ level: LogLevel, _ event: String, from cause: LogCause = .service,
        _ fields: @autoclosure () -> [LogField] = []
    ) {
        guard isEnabled(level) else { return }
        var all: [LogField]
        switch cause {
        case .service, .client: all = fields()
        case .stranger, .repetition:
            guard case .write(let leftOut) = sampler.judge(event, at: sampleClock.monotonicTime) else { return }
            all = fields()
            if leftOut > 0 { all.append(.unsigned("left_out", leftOut)) }
        }
        let line = LogLine(
            time: clock.wallTime, level: level, event: event, fields: all, style: sink.style)
        sink.append(line.bytes, isPrecious: cause == .service)
    }

    /// Waits until every line has left the process; false if that took longer than `timeout`. For the end of the
    /// process.
    @discardableResult
    package func flush(timeout: Duration = .seconds(2)) -> Bool {
        sink.flush(timeout: timeout)
    }
}

/// A method for each level.
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
