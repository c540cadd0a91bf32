import POSIXSockets
import Testing

@testable import HTTPServing

@Suite struct ProxyHeaderTests {
    static let signature: [UInt8] = [0x0D, 0x0A, 0x0D, 0x0A, 0x00, 0x0D, 0x0A, 0x51, 0x55, 0x49, 0x54, 0x0A]

    /// A version 2 header with these addresses and extensions.
    static func version2(_ command: UInt8, _ family: UInt8, _ rest: [UInt8], size: Int? = nil) -> [UInt8] {
        let size = size ?? rest.count
        return signature + [command, family, UInt8(size >> 8), UInt8(size & 0xFF)] + rest
    }

    static let ipv4: [UInt8] = [192, 0, 2, 1, 198, 51, 100, 2, 0xC8, 0x22, 0x01, 0xBB]
    static let ipv6: [UInt8] =
        [0x20, 0x01, 0x0D, 0xB8] + [UInt8](repeating: 0, count: 11) + [1] + [UInt8](repeating: 2, count: 16)
        + [0xC8, 0x22, 0x01, 0xBB]
    static let extensions: [UInt8] = [0x04, 0, 3, 1, 2, 3]

    static let good: [([UInt8], ProxyHeader)] = [
        (Array("PROXY TCP4 192.0.2.1 198.51.100.2 51234 443\r\n".utf8), .client(client("192.0.2.1:51234"))),
        (Array("PROXY TCP6 2001:db8::1 2001:db8::2 51234 443\r\n".utf8), .client(client("[2001:db8::1]:51234"))),
        (Array("PROXY TCP6 ::ffff:192.0.2.1 ::ffff:192.0.2.2 51234 443\r\n".utf8), .client(client("192.0.2.1:51234"))),
        (Array("PROXY UNKNOWN\r\n".utf8), .unknown),
        (Array("PROXY UNKNOWN ffff:ff 1 any thing\r\n".utf8), .unknown),
        (version2(0x21, 0x11, ipv4), .client(client("192.0.2.1:51234"))),
        (version2(0x21, 0x11, ipv4 + extensions), .client(client("192.0.2.1:51234"))),
        (version2(0x21, 0x21, ipv6), .client(client("[2001:db8::1]:51234"))),
        (version2(0x21, 0x31, [UInt8](repeating: 0x2F, count: 216)), .unknown),
        (version2(0x21, 0x00, []), .unknown),
        (version2(0x20, 0x00, []), .unknown),
        (version2(0x20, 0x11, ipv4 + extensions), .unknown),
        (version2(0x21, 0x11, ipv4 + [UInt8](repeating: 4, count: 4096 - 28)), .client(client("192.0.2.1:51234"))),
    ]

    static func client(_ text: String) -> SocketAddress {
        guard let address = SocketAddress(text) else { preconditionFailure("not an address") }
        return address
    }

    @Test(arguments: good)
    func readsAHeaderAndLeavesTheRest(bytes: [UInt8], header: ProxyHeader) throws {
        let found = try #require(try ProxyHeader.parse((bytes + Array("GET / HTTP/1.1\r\n".utf8)).span))
        #expect(found.header == header)
        #expect(found.size == bytes.count)
        #expect(try ProxyHeader.parse(bytes.span)?.header == header)
    }

    @Test(arguments: good)
    func asksForMoreAtEveryTruncation(bytes: [UInt8], header: ProxyHeader) throws {
        for count in 0..<bytes.count {
            #expect(try ProxyHeader.parse(Array(bytes.prefix(count)).span) == nil, "after \(count) bytes")
        }
    }

    @Test(
        arguments: [
            ("GET / HTTP/1.1\r\n", ProxyHeaderError.signature), ("P", nil), ("POST / HTTP/1.1\r\n", .signature),
            ("proxy TCP4 192.0.2.1 198.51.100.2 51234 443\r\n", .signature), ("PROXY\r\n", .signature),
            ("PROXY \r\n", .family), ("PROXY UDP4 192.0.2.1 198.51.100.2 51234 443\r\n", .family),
            ("PROXY TCP4 192.0.2.1 198.51.100.2 51234\r\n", .address),
            ("PROXY TCP4 192.0.2.1 198.51.100.2 51234 443 \r\n", .address),
            ("PROXY TCP4  192.0.2.1 198.51.100.2 51234 443\r\n", .address),
            ("PROXY TCP4 192.0.2.01 198.51.100.2 51234 443\r\n", .address),
            ("PROXY TCP4 2001:db8::1 198.51.100.2 51234 443\r\n", .address),
            ("PROXY TCP6 192.0.2.1 198.51.100.2 51234 443\r\n", .address),
            ("PROXY TCP4 192.0.2.1 198.51.100.2 65536 443\r\n", .address),
            ("PROXY TCP4 192.0.2.1 198.51.100.2 0 443\r\n", .address),
            ("PROXY TCP4 192.0.2.1 198.51.100.2 01234 443\r\n", .address),
            ("PROXY TCP4 192.0.2.1 198.51.100.2 +1234 443\r\n", .address),
            ("PROXY TCP4 192.0.2.1 198.51.100.2 51234 443\n", .address),
            ("PROXY TCP4 192.0.2.1 198.51.100.2 51234 443\rX", .address),
            ("PROXY UNKNOWN \(String(repeating: "a", count: 92))\r\n", .tooLong),
            (String(repeating: "PROXY UNKNOWN ", count: 8), .tooLong),
        ] as [(String, ProxyHeaderError?)])
    func refusesOtherLines(text: String, expected: ProxyHeaderError?) {
        expect(Array(text.utf8), expected)
    }

    @Test(arguments: [
        (version2(0x11, 0x11, ipv4), ProxyHeaderError.version), (version2(0x31, 0x11, ipv4), .version),
        (version2(0x22, 0x11, ipv4), .command), (version2(0x21, 0x12, ipv4), .family),
        (version2(0x21, 0x22, ipv6), .family), (version2(0x21, 0x41, ipv4), .family),
        (version2(0x21, 0x11, Array(ipv4.dropLast())), .address), (version2(0x21, 0x21, ipv4), .address),
        (version2(0x21, 0x11, ipv4, size: 4081), .tooLong), (version2(0x20, 0x00, [], size: 65535), .tooLong),
        ([0x0D, 0x0A, 0x0D, 0x0A, 0x01], .signature), ([0x0D, 0x47], .signature), ([0x00], .signature),
    ])
    func refusesOtherBytes(bytes: [UInt8], expected: ProxyHeaderError) {
        expect(bytes, expected)
    }

    /// The longest line that the specification allows.
    @Test func readsALineOf107Bytes() throws {
        let line = "PROXY UNKNOWN " + String(repeating: "a", count: 91) + "\r\n"
        #expect(line.utf8.count == 107)
        #expect(try ProxyHeader.parse(Array(line.utf8).span)?.size == 107)
    }

    private func expect(_ bytes: [UInt8], _ expected: ProxyHeaderError?) {
        do throws(ProxyHeaderError) {
            let found = try ProxyHeader.parse(bytes.span)
            #expect(expected == nil && found == nil)
        } catch {
            #expect(error == expected)
        }
    }
}
