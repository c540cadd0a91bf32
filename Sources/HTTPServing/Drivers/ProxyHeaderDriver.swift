/// Reads the PROXY header at the beginning of a connection, then passes the connection to the driver for its client.
///
/// It only peeks at the input until the header is complete. OpenSSL may have to read the bytes after the header.
final class ProxyHeaderDriver: PreludeDriver {
    /// The result of parsing the input so far.
    enum Verdict: Equatable {
        case incomplete
        case header(ProxyHeader, size: Int)
        case refused
    }

    /// Parses all input since the connection began. With `isLast`, no more input follows, and an incomplete header is
    /// refused.
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
        // Empty input means the end, which may come without an event.
        let verdict = connection.peek { input in
            Self.verdict(on: input, isLast: input.isEmpty || connection.input.peerHasEnded)
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
        // A listener that expects the header admits only trusted proxies.
        connection.handOver(to: connection.listener.makeClientDriver(isFromProxy: true))
    }

    func deadlinePassed(on connection: HTTPConnection) {
        connection.refuse(.proxyHeader)
    }

    func drain(on connection: HTTPConnection) {
        connection.setDeadline(connection.drainDeadline)
    }
}
