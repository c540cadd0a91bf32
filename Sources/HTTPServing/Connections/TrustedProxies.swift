import HTTPMessages
package import POSIXSockets

/// The proxies that are trusted to name the client's address.
package struct TrustedProxies: Equatable, Sendable {
    package let networks: [IPNetwork]
    /// Whether every client of the listener's unix socket is a trusted proxy.
    package let includesUnixPeers: Bool

    /// Makes a set of proxies, which is empty by default.
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

extension TrustedProxies {
    /// Returns the client of a request that `peer` sent, by its `X-Forwarded-For` fields or, without these, by its
    /// `Forwarded` fields (RFC 7239).
    ///
    /// Each proxy adds the address from which it got the request. So the list is read from its end, until the first
    /// address that is not a trusted proxy. Elements before that address may be forged by the client. The fields are
    /// ignored if the peer is not trusted. An element that is not an address ends the reading.
    ///
    /// The two fields are never mixed: a proxy may write one of them and pass on the other, which the client can forge.
    func client(of peer: SocketAddress, _ fields: HTTPFields) -> SocketAddress {
        guard !isEmpty, contains(peer) else { return peer }
        let lists = fields.values(of: "x-forwarded-for")
        if !lists.isEmpty {
            return client(of: peer, lists.flatMap { $0.split(separator: ",", omittingEmptySubsequences: false) })
        }
        let elements = fields.values(of: "forwarded").flatMap { ForwardedElements($0).clients }
        return client(of: peer, elements.map { $0 ?? "" })
    }

    /// Returns the client by a list of elements, in the order in which the proxies added them.
    private func client(of peer: SocketAddress, _ elements: [Substring]) -> SocketAddress {
        var client = peer
        for element in elements.reversed() {
            guard let address = Self.address(element) else { return client }
            client = address
            guard contains(address) else { return client }
        }
        return client
    }

    /// Reads an address with or without a port. An IPv6 address may be in brackets. Without a port, the port is 0.
    private static func address(_ element: Substring) -> SocketAddress? {
        let text = element.withoutWhiteSpaceAround
        if let ip = IPAddress(text) { return .internet(ip.unmapped, port: 0) }
        if text.first == "[", text.last == "]" {
            return IPAddress(text.dropFirst().dropLast()).map { .internet($0.unmapped, port: 0) }
        }
        guard !text.hasPrefix("unix:") else { return nil }
        return SocketAddress(String(text))?.unmapped
    }
}

extension Substring {
    fileprivate var withoutWhiteSpaceAround: Substring {
        var rest = drop { $0 == " " || $0 == "\t" }
        while let last = rest.last, last == " " || last == "\t" { rest.removeLast() }
        return rest
    }
}

/// The elements of a `Forwarded` field (RFC 7239 section 4): `for=192.0.2.1;proto=https, for="[2001:db8::1]:4711"`.
struct ForwardedElements: Equatable {
    /// For each element, the value of its `for` parameter without quotation marks; nil if the element has none, has
    /// two, or is malformed.
    let clients: [Substring?]

    init(_ field: String) {
        clients = Self.split(field[...], at: ",").map { element in
            var client: Substring?
            for pair in Self.split(element, at: ";") {
                let parts = pair.withoutWhiteSpaceAround.split(
                    separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                guard parts.count == 2 else { return nil }
                guard parts[0].lowercased() == "for" else { continue }
                guard client == nil, let value = Self.unquoted(parts[1]) else { return nil }
                client = value
            }
            return client
        }
    }

    /// Splits a text at separators outside quotation marks.
    private static func split(_ text: Substring, at separator: Character) -> [Substring] {
        var parts: [Substring] = []
        var (start, isQuoted, isEscaped) = (text.startIndex, false, false)
        for index in text.indices {
            switch text[index] {
            case _ where isEscaped: isEscaped = false
            case "\\" where isQuoted: isEscaped = true
            case "\"": isQuoted.toggle()
            case separator where !isQuoted:
                parts.append(text[start..<index])
                start = text.index(after: index)
            default: break  // The character belongs to the present part.
            }
        }
        return parts + [text[start...]]
    }

    /// Returns a token as it is, or the text within quotation marks; nil if the text has a quotation mark or a
    /// backslash, which no address needs.
    private static func unquoted(_ value: Substring) -> Substring? {
        guard value.first == "\"" else { return value.contains("\"") ? nil : value }
        guard value.count >= 2, value.last == "\"" else { return nil }
        let text = value.dropFirst().dropLast()
        return text.contains { $0 == "\\" || $0 == "\"" } ? nil : text
    }
}
