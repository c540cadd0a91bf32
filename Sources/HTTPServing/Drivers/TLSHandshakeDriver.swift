/// Carries out the TLS handshake of a connection, then passes the connection to the driver of the agreed protocol.
///
/// OpenSSL reads and writes the socket itself, so this driver reads nothing. TLS begins when the whole ClientHello
/// waits in the kernel. Until then, the connection costs no more than a silent one.
final class TLSHandshakeDriver: PreludeDriver {
    private let context: TLSContext
    /// Whether TLS has begun.
    private var hasBegun = false

    /// Makes a driver for a handshake with this context.
    init(_ context: TLSContext) {
        self.context = context
    }

    func started(on connection: HTTPConnection) {
        connection.setDeadline(connection.handshakeDeadline)
    }

    func socketReady(on connection: HTTPConnection) {
        if hasBegun || begin(on: connection) { shakeHands(on: connection) }
    }

    /// Begins TLS if the client's first message has arrived. Returns whether TLS has begun.
    private func begin(on connection: HTTPConnection) -> Bool {
        let seen = connection.peek { input in (verdict: ClientHelloFraming.verdict(on: input), size: input.count) }
        switch seen?.verdict {
        case nil: break
        // Empty input means the end, which may come without an event.
        case .incomplete where connection.input.peerHasEnded || seen?.size == 0: fail(connection, because: .closed)
        case .incomplete: break
        case .notTLS:
            // If input stayed unread, closing would send a reset.
            connection.skip(seen?.size ?? 0)
            fail(connection, because: .notTLS)
        case .complete:
            hasBegun = connection.startTLS(context)
            if !hasBegun { connection.close(reset: true) }
        }
        return hasBegun
    }

    private func shakeHands(on connection: HTTPConnection) {
        switch connection.shakeHands() {
        case .done: finish(connection)
        case .wouldBlock: break
        case .turnIsSpent: connection.requestInputTurn()
        case .abused: connection.end(because: .smallRecords)
        case .failed(let reason): fail(connection, because: reason)
        }
    }

    /// Continues with input that arrived in an earlier turn.
    func inputTurnCame(on connection: HTTPConnection) {
        socketReady(on: connection)
    }

    /// Says why the client left. A client that distrusts the certificate sends an alert and often resets the connection
    /// in the same moment.
    func lost(on connection: HTTPConnection) {
        guard hasBegun, case .failed(let reason) = connection.shakeHands() else {
            return fail(connection, because: .closed)
        }
        fail(connection, because: reason)
    }

    private func finish(_ connection: HTTPConnection) {
        let listener = connection.listener
        listener.observer.handshakeFinished(connection.peer, after: connection.age)
        // If the client offers no protocol, HTTP/1.1 is used.
        connection.handOver(to: (connection.agreedProtocol ?? .http1).makeDriver(for: listener))
    }

    private func fail(_ connection: HTTPConnection, because reason: TLSHandshakeFailure) {
        connection.listener.observer.handshakeFailed(connection.peer, because: reason)
        // After other failures, OpenSSL has sent an alert, which a reset could destroy.
        connection.close(reset: reason == .timeout)
    }

    func deadlinePassed(on connection: HTTPConnection) {
        fail(connection, because: .timeout)
    }

    func drain(on connection: HTTPConnection) {
        connection.setDeadline(connection.drainDeadline)
    }
}
