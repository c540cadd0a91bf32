import HTTPMessages
import POSIXSockets
import Testing

@testable import HTTPServing

@Suite struct ForwardedForTests {
    private let proxies = TrustedProxies(
        networks: ["10.0.0.0/8", "fd00::/8", "127.0.0.1"].compactMap { IPNetwork($0) }, includesUnixPeers: true)

    /// RFC 7239.
    @Test(arguments: [
        (["for=192.0.2.1"], "192.0.2.1:0"),
        (["For=\"192.0.2.1:77\";proto=https"], "192.0.2.1:77"),
        (["by=10.0.0.1;for=\"[2001:db8::1]:77\";host=\"a,b;c\""], "[2001:db8::1]:77"),
        (["for=\"[2001:db8::1]\""], "[2001:db8::1]:0"),
        (["for=1.1.1.1, for=192.0.2.1"], "192.0.2.1:0"),
        (["for=1.1.1.1", "for=192.0.2.1"], "192.0.2.1:0"),
        (["for=192.0.2.1, for=10.0.0.9 ,\tFOR=10.1.2.3"], "192.0.2.1:0"),
        // No address ends the reading.
        (["for=192.0.2.1, for=unknown"], "10.0.0.1:5"),
        (["for=192.0.2.1, for=_hidden, for=10.0.0.9"], "10.0.0.9:0"),
        (["for=192.0.2.1, proto=https"], "10.0.0.1:5"),
        (["for=192.0.2.1, for=192.0.2.2;for=192.0.2.3"], "10.0.0.1:5"),
        (["for=\"192.0.2.1"], "10.0.0.1:5"),
        (["for=\"192.0.2.1\\\""], "10.0.0.1:5"),
        (["for=192.0.2.1, garbage"], "10.0.0.1:5"),
        ([""], "10.0.0.1:5"),
        // If a client's quotation mark is left open, the element of a proxy that adds its own line is still read.
        (["for=\"1.1.1.1", "for=192.0.2.1"], "192.0.2.1:0"),
    ])
    func findsTheClientInForwarded(fields: [String], expected: String) throws {
        var head = HTTPFields()
        for field in fields { head.append("Forwarded", field) }
        let peer = try #require(SocketAddress("10.0.0.1:5"))
        #expect(proxies.client(of: peer, head).description == expected)
    }

    /// If a proxy writes one field and forwards the other, the client must not decide its own address.
    @Test func doesNotMixTheTwoFields() throws {
        let peer = try #require(SocketAddress("10.0.0.1:5"))
        let both: HTTPFields = ["Forwarded": "for=1.1.1.1", "X-Forwarded-For": "192.0.2.1"]
        #expect(proxies.client(of: peer, both).description == "192.0.2.1:0")
        let unknown: HTTPFields = ["Forwarded": "for=1.1.1.1", "X-Forwarded-For": "unknown"]
        #expect(proxies.client(of: peer, unknown) == peer)
        let stranger = try #require(SocketAddress("192.0.2.9:5"))
        #expect(proxies.client(of: stranger, ["Forwarded": "for=1.1.1.1"]) == stranger)
    }

    @Test(arguments: [
        ("10.0.0.1:5", [], "10.0.0.1:5"),
        ("10.0.0.1:5", ["192.0.2.1"], "192.0.2.1:0"),
        ("10.0.0.1:5", ["192.0.2.1:77"], "192.0.2.1:77"),
        ("10.0.0.1:5", ["[2001:db8::1]:77"], "[2001:db8::1]:77"),
        ("10.0.0.1:5", ["[2001:db8::1]"], "[2001:db8::1]:0"),
        ("10.0.0.1:5", ["2001:db8::1"], "[2001:db8::1]:0"),
        ("10.0.0.1:5", ["::ffff:192.0.2.1"], "192.0.2.1:0"),
        // The client's own text comes before the proxy's text.
        ("10.0.0.1:5", ["1.1.1.1, 192.0.2.1"], "192.0.2.1:0"),
        ("10.0.0.1:5", ["1.1.1.1", "192.0.2.1"], "192.0.2.1:0"),
        ("10.0.0.1:5", ["192.0.2.1, 10.0.0.9 ,\t10.1.2.3"], "192.0.2.1:0"),
        ("10.0.0.1:5", ["192.0.2.1", "10.0.0.9"], "192.0.2.1:0"),
        ("10.0.0.1:5", ["10.0.0.7"], "10.0.0.7:0"),
        // No address ends the reading.
        ("10.0.0.1:5", ["192.0.2.1, unknown"], "10.0.0.1:5"),
        ("10.0.0.1:5", ["192.0.2.1,"], "10.0.0.1:5"),
        ("10.0.0.1:5", ["192.0.2.1, unix:/x"], "10.0.0.1:5"),
        ("10.0.0.1:5", ["192.0.2.1, _hidden, 10.0.0.9"], "10.0.0.9:0"),
        // The field of an untrusted peer is ignored.
        ("192.0.2.9:5", ["192.0.2.1"], "192.0.2.9:5"),
        ("[fe80::1]:5", ["192.0.2.1"], "[fe80::1]:5"),
        ("[fd00::1]:5", ["192.0.2.1"], "192.0.2.1:0"),
        ("127.0.0.1:5", ["192.0.2.1"], "192.0.2.1:0"),
        ("127.0.0.2:5", ["192.0.2.1"], "127.0.0.2:5"),
        ("unix:/p", ["192.0.2.1"], "192.0.2.1:0"),
    ])
    func findsTheClient(peer: String, fields: [String], expected: String) throws {
        var head = HTTPFields()
        for field in fields { head.append("X-Forwarded-For", field) }
        let client = proxies.client(of: try #require(SocketAddress(peer)), head)
        #expect(client.description == expected)
    }

    @Test func trustsNobodyByDefault() throws {
        let peer = try #require(SocketAddress("127.0.0.1:5"))
        #expect(TrustedProxies().client(of: peer, ["X-Forwarded-For": "192.0.2.1"]) == peer)
        #expect(!TrustedProxies().contains(.unix(path: "")))
    }
}
