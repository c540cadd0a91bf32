package import HTTPMessages
package import POSIXSockets
import Synchronization

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
    /// How TLS is spoken; `nil` for plain HTTP.
    package let tls: TLSContextSlot?
    /// Whose `X-Forwarded-For` and PROXY headers count.
    package let trustedProxies: TrustedProxies
    /// Whether every connection must begin with a PROXY header. Then trusted proxies alone are let in.
    package let expectsProxyHeader: Bool
    /// The permissions of a unix socket's file.
    package let socketMode: UInt32

    package init(
        name: String, address: SocketAddress, limits: HTTPLimits = HTTPLimits(), handler: any HTTPHandler,
        offersHTTP2: Bool = false, tls: TLSContextSlot? = nil, trustedProxies: TrustedProxies = TrustedProxies(),
        expectsProxyHeader: Bool = false, socketMode: UInt32 = 0o660
    ) {
        self.name = name
        self.address = address
        self.limits = limits
        self.handler = handler
        self.offersHTTP2 = offersHTTP2
        self.tls = tls
        self.trustedProxies = trustedProxies
        self.expectsProxyHeader = expectsProxyHeader
        self.socketMode = socketMode
    }
}

/// Where a listener finds the context for its next connection, so that a reload can put another one there.
package final class TLSContextSlot: Sendable {
    private let context: Mutex<TLSContext>

    package init(_ context: TLSContext) {
        self.context = Mutex(context)
    }

    /// The context of connections that begin now. Those that began earlier keep theirs.
    package var current: TLSContext {
        get { context.withLock { $0 } }
        set { context.withLock { $0 = newValue } }
    }
}
