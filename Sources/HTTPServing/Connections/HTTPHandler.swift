package import ByteCoding
package import EventLoops
package import HTTPMessages
package import POSIXSockets

/// Answers the requests of a listener. All loops use the same instance concurrently.
package protocol HTTPHandler: Sendable {
    /// Answers a request immediately, or returns work that may wait.
    ///
    /// Called on the connection's loop, which it must not block.
    func answer(_ request: HTTPRequest, on loop: LoopContext) -> HTTPAnswer

    /// Decides from the head of a request how its body is treated, before more of the body is kept than arrived with
    /// the head.
    ///
    /// Called on the connection's loop, once, and only if the body has not arrived completely. `request` has an empty
    /// body.
    func decideBody(of request: HTTPRequest, on loop: LoopContext) -> HTTPBodyDecision

    /// Returns the response to input that did not become a request. After it, the connection closes; in HTTP/2, only
    /// the stream does.
    ///
    /// `head` is nil if the head is not complete or not well formed.
    func refusal(
        of problem: HTTPProblem, in head: HTTPRequestHead?, from peer: HTTPPeer, on loop: LoopContext
    ) -> HTTPResponse
}

extension HTTPHandler {
    package func decideBody(of request: HTTPRequest, on loop: LoopContext) -> HTTPBodyDecision { .keep }
}

/// How a body that is still arriving is treated.
package enum HTTPBodyDecision: Sendable {
    /// The body is kept, and the whole request is answered. `100 Continue` is sent if the client waits for it.
    case keep
    /// The body is read and dropped, because the answer does not depend on it.
    case drop
    /// The request is refused with this response, without its body.
    ///
    /// An HTTP/1.1 connection closes after the response, because the rest of the body is not parsed. In HTTP/2, only
    /// the stream closes.
    case refuse(HTTPResponse)
}

/// The answer of a handler.
package enum HTTPAnswer: Sendable {
    /// This response, without a task.
    case now(HTTPResponse)
    /// The response that this work returns.
    ///
    /// The work runs as one task on the connection's loop. If the connection is lost meanwhile, the task still runs to
    /// its end, and its response is discarded.
    case later(@Sendable (LoopContext) async -> HTTPResponse)
    /// A response with this head, whose body the handler sends in pieces. The status must allow a body.
    ///
    /// The closure gets the body on the connection's loop, immediately after the head. It is not called if the method
    /// is HEAD, if the connection is lost, or if there is no memory for the stream. Without memory, the answer is a
    /// refusal.
    case stream(HTTPResponse, @Sendable (HTTPBodyStream) -> Void)
}

/// A complete request.
package struct HTTPRequest: Sendable {
    package let head: HTTPRequestHead
    /// The body without its chunk encoding; at most `HTTPLimits.bodySizeMaximum` bytes.
    package let body: [UInt8]
    package let peer: HTTPPeer

    /// Makes a request. Tests of handlers use it too.
    package init(head: HTTPRequestHead, body: [UInt8], peer: HTTPPeer) {
        self.head = head
        self.body = body
        self.peer = peer
    }

    /// The memory in bytes that the request occupies until it is answered.
    var memorySize: Int { head.memorySize + body.count + HeldMemory.requestSize }

    package var method: HTTPMethod { head.method }
    /// The path as it was received, without percent-decoding. It begins with `/`, or is `*` for OPTIONS.
    package var path: String { head.target.path }
    /// The query as it was received, without the `?`.
    package var query: String? { head.target.query }
    /// The decoded parameters of the query.
    package var parameters: QueryPairs { head.target.parameters }
    package var fields: HTTPFields { head.fields }
}

/// The peer of a connection, and how it is connected.
package struct HTTPPeer: Hashable, Sendable {
    /// The client's address: the peer address of the socket, or the address that a trusted proxy names.
    package internal(set) var address: SocketAddress
    /// The name of the listener that accepted the connection.
    package let listener: String
    /// The facts about TLS between this server and its peer; `nil` without TLS.
    package internal(set) var tls: TLSFacts?
    /// Whether a trusted proxy has forwarded the request. Only then the fields about the client can be trusted, because
    /// the proxy has written them.
    package internal(set) var isBehindTrustedProxy: Bool
    /// Whether a trusted proxy has named the client's address in a PROXY header. The client has sent the rest of the
    /// connection, TLS included, unless the proxy ends TLS.
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
