import POSIXSockets
import Testing

@Suite struct SocketAddressTests {
    @Test(arguments: [
        ("127.0.0.1:8443", "127.0.0.1:8443"), ("0.0.0.0:0", "0.0.0.0:0"),
        ("255.255.255.255:65535", "255.255.255.255:65535"),
        ("[::1]:0", "[::1]:0"), ("[::]:80", "[::]:80"), ("[2001:DB8:0:0:1:0:0:1]:443", "[2001:db8::1:0:0:1]:443"),
        ("[::ffff:192.0.2.1]:1", "[::ffff:c000:201]:1"), ("[1:2:3:4:5:6:7:8]:9", "[1:2:3:4:5:6:7:8]:9"),
        ("[1::]:9", "[1::]:9"), ("[1:2:3:4:5:6:7::]:9", "[1:2:3:4:5:6:7:0]:9"),
        ("[0:0:1:0:0:0:1:0]:9", "[0:0:1::1:0]:9"),
    ])
    func printsWhatItReads(text: String, printed: String) throws {
        let address = try #require(SocketAddress(text))
        #expect(address.description == printed)
        #expect(SocketAddress(printed) == address)
    }

    @Test(arguments: [
        "", ":", ":80", "127.0.0.1", "127.0.0.1:", "127.0.0.1:65536", "127.0.0.1:-1", "127.0.0.1:+1", "127.0.0.1:080",
        "127.0.0.1: 80",
        "127.0.0.01:80", "127.0.1:80", "256.0.0.1:80", "1.2.3.4.5:80", "localhost:80", "[127.0.0.1]:80", "::1:80",
        "[::1:80", "::1]:80",
        "[]:80", "[:]:80", "[:::]:80", "[1::2::3]:80", "[12345::]:80", "[1:2:3:4:5:6:7]:80", "[1:2:3:4:5:6:7:8:9]:80",
        "[g::]:80",
        "[1:2:3:4:5:6:7:8::]:80", "[::1.2.3]:80", "[1.2.3.4::]:80", "[::1%eth0]:80", "[:1:2:3:4:5:6:7]:80",
        "[1:2:3:4:5:6:7:]:80",
    ])
    func refusesWhatIsNoAddress(text: String) {
        #expect(SocketAddress(text) == nil)
    }

    @Test(arguments: [
        ("127.0.0.1:80800", "the port is above 65535"), ("127.0.0.1:99999999999999999999", "the port is above 65535"),
        ("127.0.0.1:080", "the port begins with a zero"), ("127.0.0.1:http", "the port is not a number"),
        ("localhost:8080", "a name stands in the place of a numeric IP address"),
        ("127.0.0.1", "the port is missing"), ("127.0.0.1:", "the port is missing"), ("[::1]", "the port is missing"),
        ("", "the port is missing"), (":80", "the IP address before the port is missing"),
        ("::1:80", "an IPv6 address stands in brackets before its port"),
        ("256.0.0.1:80", "what stands before the port is not an IP address"),
        ("unix:run/admin", "the path of the socket does not begin with a slash"),
        ("127.0.0.1:8080", nil), ("unix:/run/admin", nil),
    ])
    func saysWhatIsWrong(text: String, fault: String?) {
        #expect(SocketAddress.fault(of: text) == fault)
    }

    @Test(arguments: [
        ("127.0.0.1:1", true), ("127.255.0.1:1", true), ("126.0.0.1:1", false), ("0.0.0.0:1", false), ("[::1]:1", true),
        ("[::2]:1", false), ("[::]:1", false), ("[::ffff:127.0.0.1]:1", true), ("[::ffff:128.0.0.1]:1", false),
        ("[::127.0.0.1]:1", false), ("[1::1]:1", false),
    ])
    func knowsLoopback(text: String, isLoopback: Bool) throws {
        #expect(try #require(SocketAddress(text)).isLoopback == isLoopback)
    }
}
