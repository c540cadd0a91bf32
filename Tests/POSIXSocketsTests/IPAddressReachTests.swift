import Testing

@testable import POSIXSockets

@Suite struct IPAddressReachTests {
    @Test(arguments: [
        "8.8.8.8", "1.1.1.1", "100.63.255.255", "100.128.0.0", "172.15.255.255", "172.32.0.0", "192.167.255.255",
        "192.169.0.0", "169.253.255.255", "169.255.0.0", "198.17.255.255", "198.20.0.0", "223.255.255.255",
        "2606:4700::1111", "2a00::1", "2001:4860::8888", "::ffff:8.8.8.8", "64:ff9b::8.8.8.8", "2002:808:808::1",
    ])
    func knowsThePublicInternet(text: String) throws {
        #expect(try #require(IPAddress(text)).isPublic)
    }

    @Test(arguments: [
        "0.0.0.0", "0.1.2.3", "10.0.0.1", "10.255.255.255", "100.64.0.1", "100.127.255.255", "127.0.0.1",
        "127.255.255.255", "169.254.169.254", "172.16.0.1", "172.31.255.255", "192.0.0.1", "192.0.2.1",
        "192.168.1.1", "198.18.0.1", "198.19.255.255", "198.51.100.1", "203.0.113.1", "224.0.0.1", "240.0.0.1",
        "255.255.255.255", "::", "::1", "fe80::1", "fec0::1", "fc00::1", "fd00::1", "ff02::1", "2001:db8::1", "2001::1",
        "2001:1ff::1", "3fff::1", "100::1", "::ffff:10.0.0.1", "::ffff:127.0.0.1", "::ffff:169.254.169.254", "::7f00:1",
        "64:ff9b::10.0.0.1", "64:ff9b:1::1", "2002:7f00:1::1", "2002:a00:1::1",
    ])
    func knowsWhatIsNot(text: String) throws {
        #expect(try !#require(IPAddress(text)).isPublic)
    }

    @Test(arguments: [
        ("203.0.113.7", "203.0.113.7"), ("::ffff:203.0.113.7", "203.0.113.7"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::"), ("2001:db8:1:2::", "2001:db8:1:2::"), ("::1", "::"),
    ])
    func countsAClientByWhatOneSubscriberHas(text: String, subscriber: String) throws {
        #expect(IPAddress(text)?.subscriber == IPAddress(subscriber))
    }

    @Test func tellsNeighbouringNetworksApart() throws {
        #expect(IPAddress("2001:db8:1:2::1")?.subscriber != IPAddress("2001:db8:1:3::1")?.subscriber)
    }
}
