/// Where a socket listens or whom it is connected with.
package enum SocketAddress: Hashable, Sendable {
    /// An IP address and a TCP port.
    case internet(IPAddress, port: UInt16)

    /// The IP address; `nil` for kinds of address that have none.
    package var ip: IPAddress? {
        switch self {
        case .internet(let address, _): address
        }
    }

    /// The port; `nil` for kinds of address that have none.
    package var port: UInt16? {
        switch self {
        case .internet(_, let port): port
        }
    }

    /// Whether only this machine can be at the other end.
    package var isLoopback: Bool {
        switch self {
        case .internet(let address, _): address.isLoopback
        }
    }
}

extension SocketAddress: LosslessStringConvertible {
    /// Reads `HOST:PORT` with a numeric host, an IPv6 host in brackets: `127.0.0.1:8443`, `[::1]:0`.
    ///
    /// Names are not resolved, so a configuration means the same on every machine.
    package init?(_ text: String) {
        guard let colon = text.lastIndex(of: ":") else { return nil }
        guard let port = parseDecimal(text[text.index(after: colon)...], digitsMaximum: 5), port <= 65535 else {
            return nil
        }
        var host = text[..<colon]
        let isBracketed = host.first == "[" && host.last == "]" && host.utf8.count >= 2
        if isBracketed { host = host.dropFirst().dropLast() }
        guard let address = IPAddress(host) else { return nil }
        switch (address, isBracketed) {
        case (.v4, false), (.v6, true): self = .internet(address, port: UInt16(port))
        case (.v4, true), (.v6, false): return nil
        }
    }

    package var description: String {
        switch self {
        case .internet(.v4(let bits), let port): "\(IPAddress.v4(bits)):\(port)"
        case .internet(let address, let port): "[\(address)]:\(port)"
        }
    }
}
