import HTTPMessages
import TestSupport
import Testing

@testable import HTTPServing

@Suite struct HTTP2PrefaceTests {
    static let preface = HTTP2PrefaceMatcher.preface

    @Test(arguments: 1...24)
    func knowsThePrefaceInPiecesOfEverySize(size: Int) {
        var matcher = HTTP2PrefaceMatcher()
        var rest = Self.preface[...]
        while rest.count > size {
            #expect(matcher.match(Array(rest.prefix(size)).span) == nil)
            rest = rest.dropFirst(size)
        }
        #expect(matcher.match((Array(rest) + [0, 0, 0]).span) == .http2)
    }

    /// The first different byte decides. The bytes after it do not matter.
    @Test(arguments: 0..<24)
    func knowsEveryOtherBeginning(position: Int) {
        var bytes = Self.preface
        bytes[position] ^= 0x20
        var whole = HTTP2PrefaceMatcher()
        #expect(whole.match(bytes.span) == .http1)
        var cut = HTTP2PrefaceMatcher()
        if position > 0 { #expect(cut.match(Array(bytes[..<position]).span) == nil) }
        #expect(cut.match(Array(bytes[position...]).span) == .http1)
    }

    @Test(arguments: ["GET / HTTP/1.1\r\n", "POST / HTTP/1.1\r\n", "PRI / HTTP/1.1\r\n", "\n"])
    func takesOtherRequestsForVersionOne(text: String) {
        var matcher = HTTP2PrefaceMatcher()
        #expect(matcher.match(Array(text.utf8).span) == .http1)
    }
}

/// Connections whose protocol is known only from their first bytes.
@Suite struct PriorKnowledgeTests {
    @Test func servesVersionOneWhereBothAreOffered() throws {
        let server = try TestServer(offersHTTP2: true)
        let client = try server.connect()
        client.send("P")
        server.settle()
        client.send("OST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n\r\nok" + get("/closing"))
        #expect(client.receiveAll() == response("200 OK", "ok") + response("200 OK", "bye", closes))
    }

    @Test func refusesAClientThatStopsInThePreface() throws {
        let server = try TestServer(offersHTTP2: true)
        let client = try server.connect()
        client.send("PRI * HT")
        server.wait(forConnections: 1)
        server.advance(by: .seconds(5))
        #expect(client.receiveAll() == response("408 Request Timeout", "request_timeout", closes))
        #expect(server.observer.problems.all == [.headTimeout])
    }

    @Test func closesAConnectionThatSaysNothing() throws {
        let server = try TestServer(offersHTTP2: true)
        let (silent, ended) = (try server.connect(), try server.connect())
        server.wait(forConnections: 2)
        ended.finish()
        #expect(ended.receiveAll() == "")
        server.wait(forConnections: 1)
        server.advance(by: .seconds(60))
        #expect(silent.receiveAll() == "")
    }
}
