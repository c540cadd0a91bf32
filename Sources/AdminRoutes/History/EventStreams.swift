import Administration
import ByteCoding
package import HTTPServing
import Synchronization
package import Telemetry

/// Sends samples and changes of the node's condition to the readers of `GET /v1/events`.
///
/// All calls happen on the admin loop, to which all connections of admin listeners belong.
package final class EventStreams: Sendable {
    /// The most readers at a time.
    static let readerCountMaximum = 16
    /// The most readers with the same credential at a time.
    static let readersPerActorMaximum = 4
    /// How long a reader is served. It then connects again.
    package static let lifeMaximum: Duration = .seconds(3600)

    private struct Reader {
        let actor: String
        let body: HTTPBodyStream
        let end: MonotonicTime
        let mayRead: @Sendable () -> Bool
    }

    private struct State {
        var readers: [Reader] = []
        /// The condition that the readers know.
        var condition: StatusReport.Condition?
    }

    private let history: History
    private let status: StatusSource
    private let clock: any MonotonicClock
    private let state = Mutex(State())

    package init(_ history: History, _ status: StatusSource, clock: any MonotonicClock = SystemMonotonicClock()) {
        self.history = history
        self.status = status
        self.clock = clock
        history.tell { [weak self] sample in self?.send(sample) }
    }

    /// Whether there is room for another reader.
    package var hasRoom: Bool { state.withLock { $0.readers.count < Self.readerCountMaximum } }

    /// Whether the credential of this name may have another reader.
    package func hasRoom(for actor: String) -> Bool {
        state.withLock { state in state.readers.count { $0.actor == actor } < Self.readersPerActorMaximum }
    }

    /// Begins to send events to a reader.
    ///
    /// - Parameters:
    ///   - actor: The name of the reader's credential.
    ///   - mayRead: Whether the reader is still an operator with this permission. It is called before each event.
    package func begin(
        _ body: HTTPBodyStream, for actor: String, whileAllowed mayRead: @escaping @Sendable () -> Bool
    ) {
        let reader = Reader(
            actor: actor, body: body, end: clock.monotonicTime + Self.lifeMaximum, mayRead: mayRead)
        let report = status.report()
        state.withLock { state in
            state.readers.append(reader)
            state.condition = state.condition ?? report.condition
        }
        body.whenEnded { [weak self] in
            self?.state.withLock { state in state.readers.removeAll { $0.body === body } }
        }
        body.send(Self.event("status", report))
    }

    private func send(_ sample: [Float]) {
        let readers = state.withLock { $0.readers }
        guard !readers.isEmpty else { return state.withLock { $0.condition = nil } }
        let report = status.report()
        let isChange = state.withLock { state in
            defer { state.condition = report.condition }
            return state.condition != report.condition
        }
        var bytes = Self.event("sample") { [history] in history.write(sample, to: &$0) }
        if isChange { bytes += Self.event("status", report) }
        let now = clock.monotonicTime
        for reader in readers {
            if now < reader.end, reader.mayRead() { reader.body.send(bytes) } else { reader.body.finish() }
        }
    }

    private static func event(_ name: String, _ report: StatusReport) -> [UInt8] {
        event(name) { report.write(to: &$0) }
    }

    /// Makes an event (HTML, section 9.2.6). JSON text has no line ends.
    private static func event(_ name: String, _ write: (inout JSONWriter) -> Void) -> [UInt8] {
        Array("event: \(name)\ndata: ".utf8) + JSONWriter.object(expectedSize: 1024, write) + Array("\n\n".utf8)
    }
}
