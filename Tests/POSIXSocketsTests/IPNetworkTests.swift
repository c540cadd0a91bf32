import Testing

@testable import POSIXSockets

@Suite struct IPNetworkTests {
    @Test(arguments: [
        ("10.0.0.0/8", "10.255.0.1", true), ("10.0.0.0/8", "11.0.0.1", false), ("0.0.0.0/0", "203.0.113.9", true),
        ("192.0.2.1", "192.0.2.1", true), ("192.0.2.1", "192.0.2.2", false), ("192.0.2.1/32", "192.0.2.1", true),
        ("192.0.2.128/25", "192.0.2.127", false), ("192.0.2.128/25", "192.0.2.129", true),
        ("10.0.0.0/8", "::ffff:10.1.2.3", true), ("10.0.0.0/8", "::10.1.2.3", false),
        ("fd00::/8", "fdff::1", true), ("fd00::/8", "fe00::1", false), ("::/0", "2001:db8::1", true),
        ("::/0", "10.0.0.1", false), ("2001:db8::/64", "2001:db8::ffff:1", true),
        ("2001:db8::/64", "2001:db8:0:1::", false), ("2001:db8::8000:0:0:0/65", "2001:db8::8000:0:0:1", true),
        ("2001:db8::8000:0:0:0/65", "2001:db8::1", false), ("::1/128", "::1", true), ("::1", "::2", false),
    ])
    func contains(network: String, address: String, expected: Bool) throws {
        let network = try #require(IPNetwork(network))
        #expect(network.contains(try #require(IPAddress(address))) == expected)
    }

    @Test(arguments: [
        "", "/", "10.0.0.0/", "10.0.0.0/33", "10.0.0.1/8", "10.0.0.0/8/8", "::/129", "fd00::1/8", "10.0.0.0/+8",
        "10.0.0.0/ 8", "localhost", "10.0.0/8",
    ])
    func refuses(text: String) {
        #expect(IPNetwork(text) == nil)
    }
}
