import EventLoops
import POSIXSockets

/// The connections of one loop that have had their turn and want another: the next request, or more of a body, is here already.
///
/// Few of them have it in each turn of the loop, in the order in which they asked. So whoever asks one thing at a time waits for as
/// many pipelined requests as `turnSize`, however many connections pipeline; these share what the others leave.
final class InputTurns: LoopChannel {
    /// As many requests as make a batch of RSA operations.
    static let turnSize = 8

    private let loop: LoopContext
    private var waiting: [HTTPConnection] = []
    /// Those before it have had their turn.
    private var first = 0
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
        // Who asks again meanwhile comes behind this, in the next turn.
        let end = waiting.count
        while turnsLeft > 0, first < end {
            let connection = waiting[first]
            first += 1
            guard connection.isOpen else { continue }
            turnsLeft -= 1
            connection.takeInputTurn()
        }
        forgetTheServed()
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

    /// Moves the rest only when it is the smaller part, so that each connection is moved once or less on average.
    private func forgetTheServed() {
        guard first > waiting.count / 2 else { return }
        waiting.removeFirst(first)
        first = 0
    }
}
