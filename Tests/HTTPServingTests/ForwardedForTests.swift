import HTTPMessages
import POSIXSockets
import Testing

@testable import HTTPServing

@Suite struct ForwardedForTests {
    private let proxies = TrustedProxies(
        networks: ["10.0.0.0/8", "fd00::/8", "127.0.0.1"].compactMap { IPNetwork($0) }, includesUnixPeers: true)

    @Test(arguments: [
        ("10.0.0.1:5", [], "10.0.0.1:5"),
        ("10.0.0.1:5", ["192.0.2.1"], "192.0.2.1:0"),
        ("10.0.0.1:5", ["192.0.2.1:77"], "192.0.2.1:77"),
        ("10.0.0.1:5", ["[2001:db8::1]:77"], "[2001:db8::1]:77"),
        ("10.0.0.1:5", ["[2001:db8::1]"], "[2001:db8::1]:0"),
        ("10.0.0.1:5", ["2001:db8::1"], "[2001:db8::1]:0"),
        ("10.0.0.1:5", ["::ffff:192.0.2.1"], "192.0.2.1:0"),
        // What the client says itself stands before what the proxy says.
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
        // Who is not trusted says nothing.
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
