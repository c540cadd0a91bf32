package import EventLoops
package import HTTPMessages
package import POSIXSockets

/// What answers the requests of a listener. One instance serves all loops at once.
package protocol HTTPHandler: Sendable {
    /// Answers a request at once, or hands back work that may wait. Called on the connection's loop, which it must
    /// not block.
    func answer(_ request: HTTPRequest, on loop: LoopContext) -> HTTPAnswer

    /// Decides by its head what becomes of the body of a request, before more of it is kept than came with the head.
    /// Called on the connection's loop, once, and only if the body has not arrived whole. The request has no body
    /// here.
    func decideBody(of request: HTTPRequest, on loop: LoopContext) -> HTTPBodyDecision

    /// The response to what never became a request. The connection closes after it; over HTTP/2 only the stream does.
    func refusal(of problem: HTTPProblem, from peer: HTTPPeer, on loop: LoopContext) -> HTTPResponse
}

extension HTTPHandler {
    package func decideBody(of request: HTTPRequest, on loop: LoopContext) -> HTTPBodyDecision { .keep }
}

/// What becomes of a body that is still arriving.
package enum HTTPBodyDecision: Sendable {
    /// It is kept, and the whole request is answered. `100 Continue` is sent if the client waits for it.
    case keep
    /// It is read and dropped, and the request is answered without it: the answer does not depend on it.
    case drop
    /// The request is refused with this response, for any body. An HTTP/1.1 connection closes after the
    /// response, because the rest of the body is not read as a body. An HTTP/2 stream closes.
    case refuse(HTTPResponse)
}

/// How a handler answers.
package enum HTTPAnswer: Sendable {
    /// With this response, without a task.
    case now(HTTPResponse)
    /// With what this work returns. It runs as one task on the connection's loop, to its end even when the connection
    /// is lost meanwhile; then its response goes nowhere.
    case later(@Sendable (LoopContext) async -> HTTPResponse)
}

/// A complete request.
package struct HTTPRequest: Sendable {
    package let head: HTTPRequestHead
    /// At most `HTTPLimits.bodySizeMaximum` bytes, chunks already joined.
    package let body: [UInt8]
    package let peer: HTTPPeer

    /// A request; also for tests of handlers.
    package init(head: HTTPRequestHead, body: [UInt8], peer: HTTPPeer) {
        self.head = head
        self.body = body
        self.peer = peer
    }

    /// What the request occupies until it is answered, in bytes.
    var memorySize: Int { head.memorySize + body.count + HeldMemory.requestSize }

    package var method: HTTPMethod { head.method }
    /// The path as it came, never percent-decoded; begins with `/`, or is `*` for OPTIONS.
    package var path: String { head.target.path }
    /// The query as it came, without the `?`.
    package var query: String? { head.target.query }
    package var fields: HTTPFields { head.fields }
}

/// Who is at the other end of a connection, and how it came.
package struct HTTPPeer: Hashable, Sendable {
    /// The client's address, as far as it can be known: of the socket, or what a trusted proxy says.
    package internal(set) var address: SocketAddress
    /// The name of the listener that accepted the connection.
    package let listener: String
    /// What is known of TLS between this server and its peer; `nil` without TLS.
    package internal(set) var tls: TLSFacts?
    /// Whether a trusted proxy has sent the request on. Only then what its fields say of the client is the proxy's
    /// word, not the client's.
    package internal(set) var isBehindTrustedProxy: Bool
    /// Whether a trusted proxy has named the client's address in a PROXY header. The rest of the connection is the
    /// client's own, TLS included, unless the proxy ends TLS.
    package internal(set) var hasProxyHeader: Bool

    package init(
        address: SocketAddress, listener: String, tls: TLSFacts? = nil, isBehindTrustedProxy: Bool = false,
        hasProxyHeader: Bool = false
    ) {
        self.address = address
        self.listener = listener
        self.tls = tls
        self.isBehindTrustedProxy = isBehindTrustedProxy
        self.hasProxyHeader = hasProxyHeader
    }

    /// Whether the client is on this machine.
    package var isLoopback: Bool { address.isLoopback }
}
