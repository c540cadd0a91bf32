import EventLoops
import POSIXSockets

/// The connections of one loop whose clients have gone, and which wait for their end.
///
/// To close a socket costs as much as a request. If thousands of clients go at once, few of their connections end in
/// each turn of the loop, and the others' requests come between.
final class LostConnections: LoopChannel {
    /// As many as timers may end in one turn.
    static let endsPerTurnMaximum = 32

    private let loop: LoopContext
    private var waiting = ArrivalQueue<HTTPConnection>()
    private var isScheduled = false

    init(loop: LoopContext) {
        self.loop = loop
    }

    /// Has `HTTPConnection.endLost` called, in this turn if few wait. A connection is added once.
    func append(_ connection: HTTPConnection) {
        waiting.append(connection)
        schedule()
    }

    func resume(on loop: LoopContext) {
        isScheduled = false
        for _ in 0..<min(waiting.count, Self.endsPerTurnMaximum) { waiting.removeFirst()?.endLost() }
        if !waiting.isEmpty { schedule() }
    }

    /// Nothing happens to its own descriptor: it has none.
    func ready(_ readiness: EpollReadiness, on loop: LoopContext) {}
    func loopStops(_ loop: LoopContext) {}

    private func schedule() {
        guard !isScheduled else { return }
        isScheduled = true
        loop.resumeNextTurn(self)
    }
}
