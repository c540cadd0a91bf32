package import POSIXSockets

/// The proxies whose word about the client's address counts.
package struct TrustedProxies: Equatable, Sendable {
    package let networks: [IPNetwork]
    /// Whether every client of the listener's unix socket is a trusted proxy.
    package let includesUnixPeers: Bool

    /// No proxy is trusted unless it is named.
    package init(networks: [IPNetwork] = [], includesUnixPeers: Bool = false) {
        self.networks = networks
        self.includesUnixPeers = includesUnixPeers
    }

    var isEmpty: Bool { networks.isEmpty && !includesUnixPeers }

    func contains(_ address: SocketAddress) -> Bool {
        switch address {
        case .internet(let ip, _): contains(ip)
        case .unix: includesUnixPeers
        }
    }

    func contains(_ ip: IPAddress) -> Bool {
        networks.contains { $0.contains(ip) }
    }
}
