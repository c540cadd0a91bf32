package import HTTPMessages

/// Learns what happens on a server's connections, for metrics and the access log. Called on the loops; must not block.
package protocol HTTPServerObserver: Sendable {
    /// A connection was accepted.
    func connectionOpened(_ peer: HTTPPeer)

    /// A connection that was opened is closed, after this time.
    func connectionClosed(_ peer: HTTPPeer, after duration: Duration)

    /// A connection was closed as soon as it was accepted, or later for one of these reasons.
    func connectionRefused(_ peer: HTTPPeer?, because reason: HTTPConnectionRefusal)

    /// A TLS handshake succeeded, after this time since the connection was accepted; `peer.tls` tells more.
    func handshakeFinished(_ peer: HTTPPeer, after duration: Duration)

    /// A TLS handshake did not succeed; the connection closes.
    func handshakeFailed(_ peer: HTTPPeer, because reason: TLSHandshakeFailure)

    /// A request was answered: the time runs from its last byte's arrival to the response's hand-over to the kernel.
    func requestFinished(_ peer: HTTPPeer, method: HTTPMethod, status: HTTPStatus, after duration: Duration)

    /// Input that never became a request was answered, or over HTTP/2 only dropped.
    func inputRefused(_ peer: HTTPPeer, _ problem: HTTPProblem)

    /// A connection ends before its time, because of what its client does.
    func connectionAbused(_ peer: HTTPPeer, _ abuse: ConnectionAbuse)
}

/// Why a connection was not served at all, or not any longer.
package enum HTTPConnectionRefusal: String, Sendable, CaseIterable {
    /// The listener has as many connections as it may.
    case tooManyConnections = "connections"
    /// This IPv4 address, or IPv6 /64, has as many connections as it may.
    case tooManyConnectionsFromAddress = "address"
    /// No file descriptor is left for another connection.
    case outOfDescriptors = "descriptors"
    /// The memory budget has no room for the connection, or for what it holds.
    case memory
    /// The connection was idle for the longest time when another one needed its place.
    case evicted
    /// No byte came within `HTTPLimits.handshakeDeadline`.
    case silent
    /// The listener is for proxies, and this peer is not one.
    case notAProxy = "not_a_proxy"
    /// The PROXY header is missing, malformed or late.
    case proxyHeader = "proxy_header"
}

extension HTTPConnectionRefusal {
    /// Whether closing an idle connection makes room for the refused one.
    var yieldsToEviction: Bool {
        switch self {
        case .tooManyConnections, .outOfDescriptors, .memory: true
        case .tooManyConnectionsFromAddress, .evicted, .silent, .notAProxy, .proxyHeader: false
        }
    }
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

/// An observer that looks away.
package struct NoHTTPServerObserver: HTTPServerObserver {
    package init() {}
}

/// Why a connection ends before its time: what its client sends breaks no rule by itself, but together it only costs.
package enum ConnectionAbuse: String, Equatable, Sendable, CaseIterable {
    /// HTTP/2 streams are opened and broken off, over and over (CVE-2023-44487), or driven into errors for the server
    /// to break off.
    case resets
    /// HTTP/2 frames that bring no request: PING, SETTINGS, PRIORITY, WINDOW_UPDATE, DATA of hardly any bytes,
    /// unknown ones.
    case controlFrames = "control_frames"
    /// An HTTP/2 header block in too many pieces (CVE-2024-28182).
    case continuations
    /// An HTTP/2 header block of far more bytes than any head that would be accepted.
    case headerBlock = "header_block"
    /// HTTP/2 header blocks that are small on the wire and decode to far more bytes or fields than any head that
    /// would be accepted.
    case expandedHeaders = "expanded_headers"
    /// More HTTP/2 frames wait for the client than `HTTP2Limits.outboundFramesMaximum`.
    case outboundFrames = "outbound_frames"
    /// TLS records that carry hardly any data, or none: key updates, empty records, records of a few bytes.
    case smallRecords = "small_records"
    /// A head, or what HTTP/2 sends before the first one, did not arrive within its deadline.
    case slowHead = "slow_head"
    /// A body did not arrive within its deadline or at its least rate. Over HTTP/2 it is the second request that does
    /// not end in time, be it before or after its answer.
    case slowBody = "slow_body"
    /// The client did not take the output within `HTTPLimits.writeDeadline`.
    case slowReading = "slow_reading"
}
