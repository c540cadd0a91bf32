import HTTPMessages
import POSIXSockets
import TestSupport
import Testing

@testable import HTTPServing

@Suite struct ProxyHeaderDriverTests {
    private static let line = "PROXY TCP4 192.0.2.1 198.51.100.2 51234 443\r\n"
    private let proxy = TrustedProxies(networks: [IPNetwork("127.0.0.1")].compactMap(\.self))

    // MARK: Verdicts

    @Test(arguments: 0..<line.utf8.count, [false, true])
    func awaitsTheRestOfAHeaderAsLongAsItCanCome(count: Int, isLast: Bool) {
        let input = Array(Self.line.utf8.prefix(count))
        #expect(ProxyHeaderDriver.verdict(on: input.span, isLast: isLast) == (isLast ? .refused : .incomplete))
    }

    @Test(arguments: [false, true])
    func findsAHeaderWhateverFollows(isLast: Bool) {
        let expected = ProxyHeaderDriver.Verdict.header(
            .client(ProxyHeaderTests.client("192.0.2.1:51234")), size: Self.line.utf8.count)
        for rest in ["", "G", get("/now"), "\u{16}\u{3}\u{1}"] {
            let input = Array((Self.line + rest).utf8)
            #expect(ProxyHeaderDriver.verdict(on: input.span, isLast: isLast) == expected)
        }
    }

    @Test(arguments: ["G", get("/now"), "PROXY TCP4 x\r\n", "\u{16}\u{3}\u{1}"], [false, true])
    func refusesAnythingElseAtOnce(input: String, isLast: Bool) {
        #expect(ProxyHeaderDriver.verdict(on: Array(input.utf8).span, isLast: isLast) == .refused)
    }

    // MARK: On a connection

    /// Each byte is a separate event, and for a while nothing follows the header's last byte.
    @Test(arguments: [false, true])
    func servesAClientThatSendsByteByByte(offersHTTP2: Bool) throws {
        let server = try TestServer(offersHTTP2: offersHTTP2, trustedProxies: proxy, expectsProxyHeader: true)
        let client = try server.connect()
        client.sendAtOnce()
        for byte in (Self.line + get("/peer") + get("/closing")).utf8 {
            client.send([byte])
            server.settle()
        }
        #expect(client.receiveAll() == response("200 OK", "192.0.2.1:51234") + response("200 OK", "bye", closes))
    }

    @Test(arguments: [false, true])
    func servesAClientThatSendsAllAtOnceAndEnds(offersHTTP2: Bool) throws {
        let server = try TestServer(offersHTTP2: offersHTTP2, trustedProxies: proxy, expectsProxyHeader: true)
        let client = try server.connect()
        client.send(Self.line + get("/peer") + get("/now"))
        client.finish()
        #expect(client.receiveAll() == response("200 OK", "192.0.2.1:51234") + response("200 OK", "now"))
        server.wait(forConnections: 0)
    }

    /// While the server drains, it waits for a header only as long as idle connections stay open. A begun header is
    /// answered.
    @Test func answersTheFirstRequestWhileTheServerDrains() throws {
        let server = try TestServer(trustedProxies: proxy, expectsProxyHeader: true)
        let (begun, silent) = (try server.connect(), try server.connect())
        begun.send("PROXY TCP4")
        server.wait(forConnections: 2)
        let (drained, http) = (Log<DrainReport>(), server.server)
        Background.run { drained.append(http.drain(within: .seconds(30))) }
        #expect(throws: NotConnected.self) { while true { _ = try server.connect() } }
        begun.send(String(Self.line.dropFirst(10)) + get("/now"))
        #expect(begun.receiveAll() == response("200 OK", "now", closes))
        begun.finish()
        server.wait(forConnections: 1)
        server.advance(by: .seconds(1))
        #expect(silent.receiveAll() == "")
        // These include the connections that the test made to see the drain begin.
        #expect(Set(server.observer.refusedConnections.all) == [.proxyHeader])
        #expect(drained.wait(for: 1) == [DrainReport(cutOffConnectionCount: 0)])
    }
}
