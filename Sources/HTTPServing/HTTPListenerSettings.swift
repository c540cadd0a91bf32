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
    package var offersHTTP2 = false
    /// Whether trusted proxies may speak HTTP/2 with prior knowledge where others may not.
    package var offersHTTP2ToProxies = false
    /// How TLS is spoken; `nil` for plain HTTP.
    package var tls: TLSContextSlot?
    /// Whose `X-Forwarded-For`, `Forwarded` and PROXY headers count.
    package var trustedProxies = TrustedProxies()
    /// Whether every connection must begin with a PROXY header. Then trusted proxies alone are let in.
    package var expectsProxyHeader = false
    /// The permissions of a unix socket's file.
    package var socketMode: UInt32 = 0o660

    /// Plain HTTP/1.1 without proxies; the rest is for the owner to set.
    package init(
        name: String, address: SocketAddress, limits: HTTPLimits = HTTPLimits(), handler: any HTTPHandler
    ) {
        self.name = name
        self.address = address
        self.limits = limits
        self.handler = handler
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
