package import EventLoops
package import HTTPMessages
package import POSIXSockets

/// What answers the requests of a listener. One instance serves all loops at once.
package protocol HTTPHandler: Sendable {
    /// Answers a request at once, or hands back work that may wait. Called on the connection's loop, which it must not block.
    func answer(_ request: HTTPRequest, on loop: LoopContext) -> HTTPAnswer

    /// The response to what never became a request. The connection closes after it; over HTTP/2 only the stream does.
    func refusal(of problem: HTTPProblem, from peer: HTTPPeer, on loop: LoopContext) -> HTTPResponse
}

/// How a handler answers.
package enum HTTPAnswer: Sendable {
    /// With this response, without a task.
    case now(HTTPResponse)
    /// With what this work returns. It runs as one task on the connection's loop, to its end even when the connection is lost
    /// meanwhile; then its response goes nowhere.
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
    /// What is known of TLS between us and whoever connected; `nil` where there is none.
    package internal(set) var tls: TLSFacts?
    /// Whether a trusted proxy has sent the request on. Only then what its fields say of the client is the proxy's word, not the client's.
    package internal(set) var isBehindTrustedProxy: Bool

    package init(
        address: SocketAddress, listener: String, tls: TLSFacts? = nil, isBehindTrustedProxy: Bool = false
    ) {
        self.address = address
        self.listener = listener
        self.tls = tls
        self.isBehindTrustedProxy = isBehindTrustedProxy
    }

    /// Whether the client is on this machine.
    package var isLoopback: Bool { address.isLoopback }
}
