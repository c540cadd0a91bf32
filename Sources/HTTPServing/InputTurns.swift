import EventLoops
import POSIXSockets

/// The connections of one loop that have had their turn and want another: the next request, or more of a body, is here
/// already.
///
/// Few of them have it in each turn of the loop, in the order in which they asked. So a client that asks one thing at a
/// time waits for at most `turnSize` pipelined requests, for any number of connections that pipeline. These share what
/// the others leave.
final class InputTurns: LoopChannel {
    /// As many requests as make a batch of RSA operations.
    static let turnSize = 8

    private let loop: LoopContext
    private var waiting = ArrivalQueue<HTTPConnection>()
    private var isScheduled = false

    init(loop: LoopContext) {
        self.loop = loop
    }

    /// Has `HTTPConnection.takeInputTurn` called in a turn to come. A connection asks again only after that.
    func wait(_ connection: HTTPConnection) {
        waiting.append(connection)
        schedule()
    }

    func resume(on loop: LoopContext) {
        isScheduled = false
        var turnsLeft = Self.turnSize
        // A connection that asks again meanwhile comes behind these, in the next turn.
        var waitingLeft = waiting.count
        while turnsLeft > 0, waitingLeft > 0, let connection = waiting.removeFirst() {
            waitingLeft -= 1
            guard connection.isOpen else { continue }
            turnsLeft -= 1
            connection.takeInputTurn()
        }
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
