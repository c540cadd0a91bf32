import Foundation
import Glibc
import HTTPMessages
import POSIXSockets
import TestSupport
import Testing

@testable import HTTPServing

/// Listeners other than plain TCP on their own port.
@Suite struct ListenerKindsTests {
    private let proxy = TrustedProxies(networks: [IPNetwork("127.0.0.1")].compactMap(\.self))

    // MARK: Proxies

    @Test func takesTheClientFromThePROXYHeader() throws {
        let server = try TestServer(trustedProxies: proxy, expectsProxyHeader: true)
        let first = try server.connect()
        for piece in ["PRO", "XY TCP4 192.0.2.1 198.51.", "100.2 51234 443\r", "\n" + get("/peer")] {
            first.send(piece)
            server.settle()
        }
        #expect(first.receive(until: "51234") == response("200 OK", "192.0.2.1:51234"))
        let second = try server.connect()
        second.send(ProxyHeaderTests.version2(0x21, 0x11, ProxyHeaderTests.ipv4) + Array(get("/peer").utf8))
        #expect(second.receive(until: "51234") == response("200 OK", "192.0.2.1:51234"))
        let own = try server.connect()
        own.send(ProxyHeaderTests.version2(0x20, 0, []) + Array(get("/closing").utf8))
        #expect(own.receiveAll() == response("200 OK", "bye", closes))
    }

    /// With the header, the request's fields come from the client. Without it, they come from the proxy.
    @Test(arguments: [true, false])
    func saysHowATrustedProxyNamesTheClient(hasHeader: Bool) throws {
        let server = try TestServer(trustedProxies: proxy, expectsProxyHeader: hasHeader)
        let client = try server.connect()
        if hasHeader { client.send("PROXY TCP4 192.0.2.1 198.51.100.2 51234 443\r\n") }
        client.send(get("/proxied"))
        let words = "header: \(hasHeader), fields: \(!hasHeader)"
        #expect(client.receive(until: words) == response("200 OK", words))
        let direct = try TestServer()
        let other = try direct.connect()
        other.send(get("/proxied"))
        #expect(other.receive(until: "fields: false") == response("200 OK", "header: false, fields: false"))
    }

    /// The headers have TLVs after the addresses, one of them unknown. A LOCAL command has addresses and TLVs without a
    /// meaning.
    @Test func skipsWhatFollowsTheAddresses() throws {
        let server = try TestServer(trustedProxies: proxy, expectsProxyHeader: true)
        let extensions: [UInt8] =
            [0x02, 0, 4] + Array("host".utf8) + [0xEE, 0x03, 0xE8] + [UInt8](repeating: 7, count: 1000)
        let client = try server.connect()
        client.send(
            ProxyHeaderTests.version2(0x21, 0x11, ProxyHeaderTests.ipv4 + extensions) + Array(get("/peer").utf8))
        #expect(client.receive(until: "51234") == response("200 OK", "192.0.2.1:51234"))
        let check = try server.connect()
        check.send(
            ProxyHeaderTests.version2(0x20, 0x11, ProxyHeaderTests.ipv4 + extensions) + Array(get("/closing").utf8))
        #expect(check.receiveAll() == response("200 OK", "bye", closes))
        #expect(server.observer.refusedConnections.all.isEmpty)
    }

    /// A listener for other machines offers HTTP/2 without TLS only to trusted proxies.
    @Test(arguments: [false, true], [false, true])
    func offersHTTP2WithoutTLSToTrustedProxies(isTrusted: Bool, expectsHeader: Bool) throws {
        let server = try TestServer(
            offersHTTP2ToProxies: true, trustedProxies: isTrusted || expectsHeader ? proxy : TrustedProxies(),
            expectsProxyHeader: expectsHeader)
        let (raw, client) = (try server.connect(), HTTP2Client())
        let stream = client.submit("GET", "/now")
        if expectsHeader { raw.send("PROXY TCP4 192.0.2.1 198.51.100.2 51234 443\r\n") }
        raw.send(client.output())
        guard isTrusted || expectsHeader else {
            #expect(raw.receiveAll().hasPrefix("HTTP/1.1 505 "))
            return
        }
        while client.answers[stream]?.closeCode == nil, let bytes = raw.receive(), !bytes.isEmpty {
            #expect(client.receive(bytes))
            raw.send(client.output())
        }
        #expect(client.answers[stream]?.status == "200")
    }

    @Test func readsTheHeaderBeforeTLS() throws {
        let context = try TLSContext(
            identities: [try Certificates.a.identity()], tickets: TLSTicketKeys(clock: ManualClock()))
        let server = try TestServer(tls: context, trustedProxies: proxy, expectsProxyHeader: true)
        let raw = try server.connect()
        raw.send("PROXY TCP4 192.0.2.1 198.51.100.2 51234 443\r\n")
        let client = try TLSClient(raw)
        client.send(get("/peer"))
        #expect(client.receive(until: "51234") == response("200 OK", "192.0.2.1:51234"))
    }

    @Test(arguments: [get("/now"), "PROXY TCP4 x\r\n", "\u{16}\u{3}\u{1}"])
    func dropsConnectionsWithoutTheHeader(input: String) throws {
        let server = try TestServer(trustedProxies: proxy, expectsProxyHeader: true)
        let client = try server.connect()
        client.send(input)
        #expect(client.receiveAll() == "")
        #expect(server.observer.refusedConnections.wait(for: 1) == [.proxyHeader])
        server.wait(forConnections: 0)
        #expect(server.observer.finished.all.isEmpty)
    }

    @Test func dropsConnectionsWhoseHeaderDoesNotEnd() throws {
        let server = try TestServer(trustedProxies: proxy, expectsProxyHeader: true)
        let (slow, ended) = (try server.connect(), try server.connect())
        slow.send("PROXY TCP4")
        ended.send("PROXY TCP4")
        ended.finish()
        #expect(ended.receiveAll() == "")
        server.wait(forConnections: 1)
        server.advance(by: .seconds(10))
        #expect(slow.receiveAll() == "")
        #expect(server.observer.refusedConnections.all == [.proxyHeader, .proxyHeader])
    }

    @Test func letsOnlyProxiesIn() throws {
        let server = try TestServer(trustedProxies: proxy, expectsProxyHeader: true)
        let stranger = try server.connect(from: 0x7f00_0002)
        stranger.send("PROXY TCP4 192.0.2.1 198.51.100.2 51234 443\r\n" + get("/now"))
        #expect(stranger.receiveAll() == "")
        #expect(server.observer.refusedConnections.wait(for: 1) == [.notAProxy])
    }

    /// The limit applies to clients, not to the proxy that forwards them.
    @Test func limitsConnectionsByTheClientsAddress() throws {
        let server = try TestServer(trustedProxies: proxy, expectsProxyHeader: true) {
            $0.connectionsPerAddressMaximum = 2
        }
        func connect(_ address: String, path: String = "/now") throws -> RawClient {
            let client = try server.connect()
            client.send("PROXY TCP4 \(address) 198.51.100.2 51234 443\r\n" + get(path))
            return client
        }
        let served = try ["192.0.2.1", "192.0.2.1", "192.0.2.2"].map { try connect($0) }
        for client in served { #expect(client.receive(until: "now") == response("200 OK", "now")) }
        // The client's own connection gives way, and not that of another client of the proxy.
        #expect(try connect("192.0.2.1").receive(until: "now") == response("200 OK", "now"))
        #expect(served[0].receiveAll() == "")
        #expect(server.observer.refusedConnections.all == [.evictedForAddress])
        for client in served[1...] {
            client.send(get("/now"))
            #expect(client.receive(until: "now") == response("200 OK", "now"))
        }
        // A busy connection gives no place.
        let busy = try (1...2).map { count in
            let client = try connect("192.0.2.3", path: "/later")
            server.handler.gate.waitForTasks(count)
            return client
        }
        #expect(try connect("192.0.2.3").receiveAll() == "")
        #expect(server.observer.refusedConnections.all == [.evictedForAddress, .tooManyConnectionsFromAddress])
        server.handler.gate.open()
        for client in busy { #expect(client.receive(until: "later") == response("200 OK", "later")) }
    }

    @Test func takesTheClientFromXForwardedForOfProxiesOnly() throws {
        let server = try TestServer(trustedProxies: proxy)
        let trusted = try server.connect()
        trusted.send(get("/peer", "X-Forwarded-For: 1.1.1.1, 192.0.2.1\r\n"))
        #expect(trusted.receive(until: ":0") == response("200 OK", "192.0.2.1:0"))
        let stranger = try server.connect(from: 0x7f00_0002)
        stranger.send(get("/peer", "X-Forwarded-For: 192.0.2.1\r\nConnection: close\r\n"))
        #expect(stranger.receiveAll().contains("127.0.0.2:"))
    }

    /// A connection of a trusted proxy carries many clients. Each request names another one.
    @Test func countsConnectionsWithXForwardedForUnderNoAddress() throws {
        let server = try TestServer(trustedProxies: proxy) { $0.connectionsPerAddressMaximum = 1 }
        let clients = try (0..<3).map { _ in try server.connect() }
        for client in clients + clients {
            client.send(get("/peer", "X-Forwarded-For: 192.0.2.1\r\n"))
            #expect(client.receive(until: ":0") == response("200 OK", "192.0.2.1:0"))
        }
        #expect(server.observer.refusedConnections.all.isEmpty)
    }

    // MARK: Unix sockets

    @Test(arguments: [1, 2])
    func servesOnAUnixSocket(loopCount: Int) throws {
        let folder = try TemporaryFolder()
        let server = try TestServer(loopCount: loopCount, listener: .unix(path: folder.path + "/s"))
        for _ in 0..<10 {
            let client = try server.connect()
            client.send(get("/peer") + get("/closing"))
            #expect(client.receiveAll() == response("200 OK", "unix:") + response("200 OK", "bye", closes))
        }
        let mode = try FileManager.default.attributesOfItem(atPath: folder.path + "/s")[.posixPermissions] as? Int
        #expect(mode == 0o660)
        server.server.drain(within: .zero)
        #expect(!FileManager.default.fileExists(atPath: folder.path + "/s"))
    }

    @Test func refusesNewClientsOfAUnixSocketAndKeepsThoseThatWait() throws {
        let folder = try TemporaryFolder()
        let address = SocketAddress.unix(path: folder.path + "/s")
        let listener = try ListeningSocket(exclusivelyOn: address)
        let waiting = try ConnectedSocket(connectingTo: address)
        listener.refuseNewConnections()
        #expect(throws: SocketError.failed(.connect, errno: ECONNREFUSED)) {
            _ = try ConnectedSocket(connectingTo: address)
        }
        guard case .accepted = listener.accept() else {
            Issue.record("\(waiting.peer) has a waiting client")
            return
        }
        guard case .wouldBlock = listener.accept() else {
            Issue.record("no other client is waiting")
            return
        }
    }

    @Test func replacesASocketThatWasLeftBehindAndNothingElse() throws {
        let folder = try TemporaryFolder()
        let address = SocketAddress.unix(path: folder.path + "/s")
        // A process that ends without clean-up leaves its socket file.
        let left = try StrayUnixSocket(folder.path + "/s")
        #expect(throws: SocketError.addressInUse(address)) { _ = try ListeningSocket(exclusivelyOn: address) }
        left.close()
        let server = try TestServer(listener: address)
        #expect(throws: SocketError.addressInUse(address)) { _ = try ListeningSocket(exclusivelyOn: address) }
        #expect(try server.connect().descriptor >= 0)

        let file = folder.path + "/f"
        #expect(FileManager.default.createFile(atPath: file, contents: nil))
        #expect(throws: SocketError.notASocket(.unix(path: file))) {
            _ = try ListeningSocket(exclusivelyOn: .unix(path: file))
        }
        #expect(FileManager.default.fileExists(atPath: file))
        let missing = SocketAddress.unix(path: folder.path + "/no/s")
        #expect(throws: SocketError.addressUnavailable(missing)) { _ = try ListeningSocket(exclusivelyOn: missing) }
    }

    // MARK: IPv6

    @Test func listensOnBothFamiliesSideBySide() throws {
        let server = try TestServer()
        let port = try #require(server.address.port)
        let other = try server.server.listen(
            HTTPListenerSettings(name: "six", address: .internet(.v6(0, 1), port: port), handler: server.handler))
        #expect(other.port == port)
    }
}

/// A folder that is deleted with this object. Its path is short enough for a Unix socket.
final class TemporaryFolder {
    let path: String

    init() throws {
        path = FileManager.default.temporaryDirectory.path + "/latchkey-\(UInt32.random(in: .min ... .max))"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }
}

/// A listening Unix socket that leaves its file behind.
final class StrayUnixSocket {
    private let descriptor: Int32

    init(_ path: String) throws {
        descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        let number = descriptor
        let result = unsafe withUnixAddress(path) { unsafe bind(number, $0, $1) }
        guard result == 0, listen(number, 5) == 0 else { throw NotConnected() }
    }

    func close() { Glibc.close(descriptor) }
}
