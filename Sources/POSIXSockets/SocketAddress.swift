/// The address of a socket or of its peer.
package enum SocketAddress: Hashable, Sendable {
    /// An IP address and a TCP port.
    case internet(IPAddress, port: UInt16)
    /// The path of a unix socket, 1 to 107 bytes. It is empty for a client, which has no path.
    case unix(path: String)

    /// The most bytes of a unix socket's path: `sockaddr_un.sun_path` without its terminator.
    package static let pathSizeMaximum = 107

    /// The IP address; `nil` for a unix socket.
    package var ip: IPAddress? {
        switch self {
        case .internet(let address, _): address
        case .unix: nil
        }
    }

    /// The port; `nil` for a unix socket.
    package var port: UInt16? {
        switch self {
        case .internet(_, let port): port
        case .unix: nil
        }
    }

    /// The same address, in which an IPv4 address that is mapped to IPv6 is replaced by the IPv4 address.
    package var unmapped: SocketAddress {
        switch self {
        case .internet(let address, let port): .internet(address.unmapped, port: port)
        case .unix: self
        }
    }

    /// Whether the peer must be on this machine.
    package var isLoopback: Bool {
        switch self {
        case .internet(let address, _): address.isLoopback
        case .unix: true
        }
    }
}

extension SocketAddress: LosslessStringConvertible {
    /// Reads `HOST:PORT` with a numeric host (`127.0.0.1:8443`, `[::1]:0`), or `unix:` and an absolute path.
    ///
    /// Names are not resolved, so a configuration means the same on every machine.
    package init?(_ text: String) {
        if text.hasPrefix("unix:") {
            let path = String(text.dropFirst(5))
            guard path.hasPrefix("/"), !path.hasSuffix("/"), path.utf8.count <= Self.pathSizeMaximum,
                !path.utf8.contains(0)
            else { return nil }
            self = .unix(path: path)
            return
        }
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
        case .unix(let path): "unix:\(path)"
        }
    }
}

extension SocketAddress {
    /// What is wrong with a text that is no address, in words without a part of the text. Nil for an address.
    package static func fault(of text: String) -> String? {
        guard SocketAddress(text) == nil else { return nil }
        if text.hasPrefix("unix:") {
            let path = text.dropFirst(5)
            if !path.hasPrefix("/") { return "the path of the socket does not begin with a slash" }
            return path.utf8.count > pathSizeMaximum
                ? "the path of the socket has more than \(pathSizeMaximum) bytes" : "the path is not that of a socket"
        }
        guard let colon = text.lastIndex(of: ":"), !text.hasSuffix("]"), !text.hasSuffix(":") else {
            return "the port is missing"
        }
        let (host, port) = (text[..<colon], text[text.index(after: colon)...])
        // An address of IPv6 has colons of its own.
        if host.contains(":"), !host.hasPrefix("[") { return "an IPv6 address stands in brackets before its port" }
        return portFault(port) ?? hostFault(host)
    }

    private static func portFault(_ port: Substring) -> String? {
        guard port.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return "the port is not a number" }
        guard Int(port).map({ $0 <= 65535 }) == true else { return "the port is above 65535" }
        return port.hasPrefix("0") && port != "0" ? "the port begins with a zero" : nil
    }

    private static func hostFault(_ host: Substring) -> String {
        if host.isEmpty { return "the IP address before the port is missing" }
        let isName = !host.contains(":") && host.contains { $0.isLetter }
        return isName
            ? "a name stands in the place of a numeric IP address" : "what stands before the port is not an IP address"
    }
}
