package import HTTPMessages
package import POSIXSockets

/// One address that a server listens on, and what happens there.
package struct HTTPListenerSettings: Sendable {
    /// The name for logs and metrics: `public`, `admin`.
    package let name: String
    /// Port 0 takes a free port.
    package let address: SocketAddress
    package let limits: HTTPLimits
    package let handler: any HTTPHandler

    package init(
        name: String, address: SocketAddress, limits: HTTPLimits = HTTPLimits(), handler: any HTTPHandler
    ) {
        self.name = name
        self.address = address
        self.limits = limits
        self.handler = handler
    }
}
