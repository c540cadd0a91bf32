package import HTTPMessages

/// Receives the events of a server's connections, for metrics and the access log. It is called on the loops, and must
/// not block.
package protocol HTTPServerObserver: Sendable {
    /// A connection was accepted.
    func connectionOpened(_ peer: HTTPPeer)

    /// An accepted connection was closed, this time after it was accepted.
    func connectionClosed(_ peer: HTTPPeer, after duration: Duration)

    /// A connection was closed for this reason, immediately after it was accepted or later.
    func connectionRefused(_ peer: HTTPPeer?, because reason: HTTPConnectionRefusal)

    /// A TLS handshake succeeded, this time after the connection was accepted. `peer.tls` has the facts.
    func handshakeFinished(_ peer: HTTPPeer, after duration: Duration)

    /// A TLS handshake failed. The connection closes.
    func handshakeFailed(_ peer: HTTPPeer, because reason: TLSHandshakeFailure)

    /// A request was answered. The time is counted from the arrival of its last byte until the kernel has taken the
    /// response.
    func requestFinished(_ peer: HTTPPeer, method: HTTPMethod, status: HTTPStatus, after duration: Duration)

    /// Input that did not become a request was answered or, in HTTP/2, dropped.
    func inputRefused(_ peer: HTTPPeer, _ problem: HTTPProblem)

    /// A connection ends because its client abuses it.
    func connectionAbused(_ peer: HTTPPeer, _ abuse: ConnectionAbuse)
}

extension HTTPServerObserver {
    package func connectionOpened(_ peer: HTTPPeer) {}
    package func connectionClosed(_ peer: HTTPPeer, after duration: Duration) {}
    package func connectionRefused(_ peer: HTTPPeer?, because reason: HTTPConnectionRefusal) {}
    package func handshakeFinished(_ peer: HTTPPeer, after duration: Duration) {}
    package func handshakeFailed(_ peer: HTTPPeer, because reason: TLSHandshakeFailure) {}
    package func requestFinished(
        _ peer: HTTPPeer, method: HTTPMethod, status: HTTPStatus, after duration: Duration
    ) {}
    package func inputRefused(_ peer: HTTPPeer, _ problem: HTTPProblem) {}
    package func connectionAbused(_ peer: HTTPPeer, _ abuse: ConnectionAbuse) {}
}

/// An observer that does nothing.
package struct NoHTTPServerObserver: HTTPServerObserver {
    package init() {}
}

/// Why a connection ends early: each thing that its client sends is allowed, but all together only cost resources.
package enum ConnectionAbuse: String, Equatable, Sendable, CaseIterable {
    /// The client opens and resets HTTP/2 streams again and again (CVE-2023-44487), or makes the server reset them.
    case resets
    /// The client sends too many HTTP/2 frames that are not requests: PING, SETTINGS, PRIORITY, WINDOW_UPDATE, very
    /// small DATA, unknown frames.
    case controlFrames = "control_frames"
    /// An HTTP/2 header block has too many pieces (CVE-2024-28182).
    case continuations
    /// An HTTP/2 header block has far more bytes than any head that the server accepts.
    case headerBlock = "header_block"
    /// HTTP/2 header blocks are small on the wire, but decode to far more bytes or fields than any head that the server
    /// accepts.
    case expandedHeaders = "expanded_headers"
    /// More HTTP/2 frames wait for the client than `HTTP2Limits.outboundFramesMaximum`.
    case outboundFrames = "outbound_frames"
    /// The client sends too many TLS records with little or no data: key updates, empty records, records of a few
    /// bytes.
    case smallRecords = "small_records"
    /// A head, or the HTTP/2 frames before the first head, did not arrive within the deadline.
    case slowHead = "slow_head"
    /// A body did not arrive within its deadline, or arrived too slowly. In HTTP/2, two requests did not end in time,
    /// before or after their answers.
    case slowBody = "slow_body"
    /// The client did not read the output within `HTTPLimits.writeDeadline`.
    case slowReading = "slow_reading"
}
