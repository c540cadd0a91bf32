package import HTTPMessages
package import POSIXSockets
import Synchronization

/// The settings of one listener: its address and its rules.
package struct HTTPListenerSettings: Sendable {
    /// The name for logs and metrics, for example `public` or `admin`.
    package let name: String
    /// The address. With port 0, the kernel chooses a free port.
    package let address: SocketAddress
    package let limits: HTTPLimits
    package let handler: any HTTPHandler
    /// Whether clients may use HTTP/2: by ALPN with TLS, by prior knowledge without TLS.
    package var offersHTTP2 = false
    /// Whether trusted proxies may use HTTP/2 by prior knowledge even if `offersHTTP2` is false.
    package var offersHTTP2ToProxies = false
    /// The context for TLS; `nil` for plain HTTP.
    package var tls: TLSContextSlot?
    /// The proxies whose `X-Forwarded-For`, `Forwarded` and PROXY headers are trusted.
    package var trustedProxies = TrustedProxies()
    /// Whether every connection must begin with a PROXY header. Then only trusted proxies may connect.
    package var expectsProxyHeader = false
    /// The permissions of a unix socket's file.
    package var socketMode: UInt32 = 0o660
    /// The paths of health checks, for which places are kept. A connection that finds only such a place is served there
    /// and nowhere else, and closes after its answer. Without paths, such a connection is refused.
    package var healthPaths: Set<String> = []

    /// Makes settings for plain HTTP/1.1 without proxies. The caller sets the other properties.
    package init(
        name: String, address: SocketAddress, limits: HTTPLimits = HTTPLimits(), handler: any HTTPHandler
    ) {
        self.name = name
        self.address = address
        self.limits = limits
        self.handler = handler
    }
}

/// Holds the TLS context for new connections of a listener. A reload can replace the context.
package final class TLSContextSlot: Sendable {
    private let context: Mutex<TLSContext>

    package init(_ context: TLSContext) {
        self.context = Mutex(context)
    }

    /// The context for new connections. Connections that exist keep their context.
    package var current: TLSContext {
        get { context.withLock { $0 } }
        set { context.withLock { $0 = newValue } }
    }
}
