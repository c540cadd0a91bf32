import HTTPMessages

// Chooses the drivers of a connection, from its first one to that of its protocol.

extension ListenerState {
    /// Makes the first driver of a new connection. `isFromProxy` tells whether a trusted proxy has opened it.
    func makeFirstDriver(isFromProxy: Bool) -> any ConnectionDriver {
        settings.expectsProxyHeader ? ProxyHeaderDriver() : makeClientDriver(isFromProxy: isFromProxy)
    }

    /// Makes the driver for the client's first bytes, which follow the PROXY header if there is one.
    func makeClientDriver(isFromProxy: Bool) -> any ConnectionDriver {
        if let slot = settings.tls { return TLSHandshakeDriver(slot.current) }
        return settings.offersHTTP2 || isFromProxy && settings.offersHTTP2ToProxies
            ? PriorKnowledgeDriver(limits: limits) : ApplicationProtocol.http1.makeDriver(for: self)
    }
}

extension ApplicationProtocol {
    /// Makes the driver for a connection of this listener.
    func makeDriver(for listener: ListenerState) -> any ConnectionDriver {
        switch self {
        case .http1: HTTP1Driver(limits: listener.limits)
        case .http2: HTTP2Driver(limits: listener.limits)
        }
    }
}
