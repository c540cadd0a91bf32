import HTTPMessages
import POSIXSockets

extension TrustedProxies {
    /// The client of a request that came from `peer`, by its `X-Forwarded-For` fields, or without those by `Forwarded`
    /// (RFC 7239).
    ///
    /// Each proxy adds the address that it got the request from, so the list is read from its end: past every trusted
    /// proxy, to the first address that is not one. What stands before that is the client's own claim. The word of a
    /// peer that is not trusted counts for nothing, and an element that is no address ends the reading. The two
    /// fields are never mixed: a proxy that writes one of them and passes the other on would give the client the last
    /// word.
    func client(of peer: SocketAddress, _ fields: HTTPFields) -> SocketAddress {
        guard !isEmpty, contains(peer) else { return peer }
        let lists = fields.values(of: "x-forwarded-for")
        if !lists.isEmpty {
            return client(of: peer, lists.flatMap { $0.split(separator: ",", omittingEmptySubsequences: false) })
        }
        let elements = fields.values(of: "forwarded").flatMap { ForwardedElements($0).clients }
        return client(of: peer, elements.map { $0 ?? "" })
    }

    /// The same by elements in the order in which the proxies added them.
    private func client(of peer: SocketAddress, _ elements: [Substring]) -> SocketAddress {
        var client = peer
        for element in elements.reversed() {
            guard let address = Self.address(element) else { return client }
            client = address
            guard contains(address) else { return client }
        }
        return client
    }

    /// An address with or without a port, which is 0 then; an IPv6 address may stand in brackets.
    private static func address(_ element: Substring) -> SocketAddress? {
        let text = element.trimming { $0 == " " || $0 == "\t" }
        if let ip = IPAddress(text) { return .internet(ip.unmapped, port: 0) }
        if text.first == "[", text.last == "]" {
            return IPAddress(text.dropFirst().dropLast()).map { .internet($0.unmapped, port: 0) }
        }
        guard !text.hasPrefix("unix:") else { return nil }
        return SocketAddress(String(text))?.unmapped
    }
}

extension Substring {
    fileprivate func trimming(_ isTrimmed: (Character) -> Bool) -> Substring {
        var rest = drop(while: isTrimmed)
        while let last = rest.last, isTrimmed(last) { rest.removeLast() }
        return rest
    }
}
