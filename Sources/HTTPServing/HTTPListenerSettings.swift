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
    /// Whether HTTP/2 is spoken: by ALPN over TLS, with prior knowledge otherwise.
    package let offersHTTP2: Bool

    package init(
        name: String, address: SocketAddress, limits: HTTPLimits = HTTPLimits(), handler: any HTTPHandler,
        offersHTTP2: Bool = false
    ) {
        self.name = name
        self.address = address
        self.limits = limits
        self.handler = handler
        self.offersHTTP2 = offersHTTP2
    }
}
