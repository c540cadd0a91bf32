/// Why a connection was not served, or not served any longer.
package enum HTTPConnectionRefusal: String, Sendable, CaseIterable {
    /// The listener has its maximum of connections.
    case tooManyConnections = "connections"
    /// The IPv4 address or the IPv6 /64 network has its maximum of connections.
    case tooManyConnectionsFromAddress = "address"
    /// No file descriptor is left for another connection.
    case outOfDescriptors = "descriptors"
    /// The memory budget has no room for the connection, or for the memory that it holds.
    case memory
    /// The connection was closed to make room for another one.
    case evicted
    /// The connection was closed to make room for another one of its client network, which has its maximum.
    case evictedForAddress = "address_idle"
    /// No byte arrived within `HTTPLimits.handshakeDeadline`.
    case silent
    /// The listener is for trusted proxies only, and the peer is not one.
    case notAProxy = "not_a_proxy"
    /// The PROXY header is missing, malformed or late.
    case proxyHeader = "proxy_header"
}

extension HTTPConnectionRefusal {
    /// Whether the cause is that places or memory ran short, and not what the client sent.
    package var isShortage: Bool {
        switch self {
        case .tooManyConnections, .tooManyConnectionsFromAddress, .outOfDescriptors, .memory, .evicted,
            .evictedForAddress:
            true
        case .silent, .notAProxy, .proxyHeader: false
        }
    }

    /// Whether the connection only gave way to a newer one.
    var isEviction: Bool { self == .evicted || self == .evictedForAddress }
}
