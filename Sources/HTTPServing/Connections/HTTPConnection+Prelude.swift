import HTTPMessages
import POSIXSockets
import Telemetry

// The steps before a request: the PROXY header, the TLS handshake, and their deadlines.

extension HTTPConnection {
    /// The deadline for the first byte of the next request. It is shorter if the client has sent nothing yet.
    var firstByteDeadline: MonotonicTime {
        input.hasBegun ? now + listener.limits.idleDeadline : handshakeDeadline
    }

    /// The deadline for the steps before HTTP.
    var handshakeDeadline: MonotonicTime { openedAt + listener.limits.handshakeDeadline }

    /// The deadline for the steps before HTTP while the server is shutting down.
    var drainDeadline: MonotonicTime { min(handshakeDeadline, now + listener.limits.drainPatience) }

    /// Lends the input to `body` and leaves it in the kernel, so that it can be read later, also by OpenSSL. Empty
    /// input means that the peer has ended.
    ///
    /// Returns `nil` without calling `body` if there is no input, or if the connection is lost and was therefore
    /// closed. `body` must not call a method of the connection.
    func peek<Result>(_ body: (Span<UInt8>) -> Result) -> Result? {
        guard isOpen else { return nil }
        let outcome = transport.peek(into: &services.input)
        let input = services.input
        switch outcome {
        case .bytes(let count): return body(input.span.extracting(first: count))
        case .endOfInput: return body(input.span.extracting(first: 0))
        case .wouldBlock: return nil
        case .failed:
            close(reset: false)
            return nil
        }
    }

    /// Drops `count` bytes, which `peek` has lent before.
    func skip(_ count: Int) {
        if isOpen { transport.skip(count) }
    }

    /// Takes the address of the client from its proxy, and counts the connection under this address.
    ///
    /// Returns the reason if the connection must be refused.
    func admit(client: SocketAddress) -> HTTPConnectionRefusal? {
        peer.address = client
        peer.hasProxyHeader = true
        // The address may belong to another trusted proxy, which connects for many clients.
        guard let address = client.ip, !listener.settings.trustedProxies.contains(address), !isForHealth else {
            return nil
        }
        guard listener.admitNetwork(address, on: loop) else {
            guard listener.hasRoomForHealth(on: loop) else { return .tooManyConnectionsFromAddress }
            listener.observer.connectionRefused(peer, because: .tooManyConnectionsFromAddress)
            keepForHealth()
            return nil
        }
        account.isCounted(under: address)
        services.add(self, to: address.clientNetwork)
        return nil
    }

    /// Whether the peer is a trusted proxy, so that the connection carries the requests of many clients.
    ///
    /// After a PROXY header, the peer is the client that the header names.
    var isFromTrustedProxy: Bool { listener.settings.trustedProxies.contains(peer.address) }

    /// Begins TLS, before anything was read. Returns `false` if there is no memory for it.
    ///
    /// From then on, OpenSSL reads and writes the socket.
    func startTLS(_ context: TLSContext) -> Bool {
        guard isOpen, transport.startTLS(context, limits: listener.limits, now: now) else { return false }
        // A handshake would be wasted if there is no memory for the connection.
        charge()
        return isOpen
    }

    /// Continues the TLS handshake as far as the socket allows.
    func shakeHands() -> HandshakeOutcome {
        guard isOpen else { return .wouldBlock }
        let outcome = transport.handshake(now: now)
        if outcome == .done {
            peer.tls = transport.tlsFacts
            input.began()
        }
        return outcome
    }

    /// The protocol that the TLS handshake has agreed on; `nil` if the client offered none.
    var agreedProtocol: ApplicationProtocol? { transport.applicationProtocol }
}
