/// Reads the PROXY header at the beginning of a connection, and hands over to what its client speaks.
///
/// It looks at the input without taking it until the header is complete. What follows the header may be for OpenSSL to
/// read.
final class ProxyHeaderDriver: PreludeDriver {
    /// What the input so far amounts to.
    enum Verdict: Equatable {
        case incomplete
        case header(ProxyHeader, size: Int)
        case refused
    }

    /// Judges all input since the connection began. With `isLast` no more follows, and an incomplete header is refused.
    static func verdict(on input: Span<UInt8>, isLast: Bool) -> Verdict {
        do throws(ProxyHeaderError) {
            guard let (header, size) = try ProxyHeader.parse(input) else { return isLast ? .refused : .incomplete }
            return .header(header, size: size)
        } catch {
            return .refused
        }
    }

    func started(on connection: HTTPConnection) {
        connection.setDeadline(connection.handshakeDeadline)
    }

    func socketReady(on connection: HTTPConnection) {
        // An end that no event has announced shows as empty input.
        let verdict = connection.peek { input in
            Self.verdict(on: input, isLast: input.isEmpty || connection.peerHasEnded)
        }
        switch verdict {
        case nil, .incomplete: break
        case .refused: connection.refuse(.proxyHeader)
        case .header(let header, let size): take(header, size, on: connection)
        }
    }

    private func take(_ header: ProxyHeader, _ size: Int, on connection: HTTPConnection) {
        connection.skip(size)
        if case .client(let address) = header, let refusal = connection.admit(client: address) {
            return connection.refuse(refusal)
        }
        // If the header is expected, only trusted proxies are let in.
        connection.handOver(to: connection.listener.makeClientDriver(isFromProxy: true))
    }

    func deadlinePassed(on connection: HTTPConnection) {
        connection.refuse(.proxyHeader)
    }

    func drain(on connection: HTTPConnection) {
        connection.setDeadline(connection.drainDeadline)
    }
}
