import EventLoops
import HTTPMessages
import HTTPServing
import POSIXSockets
import TestSupport
import Testing

@Suite struct HTTPServerTests {
    @Test func servesManyRequestsOnOneConnection() throws {
        let server = try TestServer()
        let client = try server.connect()
        for _ in 0..<20 {
            client.send(get("/now"))
            #expect(client.receive(until: "now") == response("200 OK", "now"))
        }
        #expect(server.observer.finished.wait(for: 20).allSatisfy { $0 == "GET 200 test true" })
        #expect(server.server.connectionCount == 1)
    }

    @Test func answersPipelinedRequestsInOrder() throws {
        let server = try TestServer()
        let client = try server.connect()
        client.send(
            (1...9).map { "POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\n\r\n\($0)" }.joined()
                + get("/closing"))
        let expected = (1...9).map { response("200 OK", "\($0)") }.joined() + response("200 OK", "bye", closes)
        #expect(client.receiveAll() == expected)
    }

    /// While a request is suspended, the next request waits in the kernel.
    @Test func keepsOneRequestInFlight() throws {
        let server = try TestServer()
        let client = try server.connect()
        client.send(get("/later") + get("/later"))
        server.handler.gate.waitForTasks(1)
        client.send(get("/closing"))
        server.settle()
        #expect(server.group.liveTaskCount == 1)
        server.handler.gate.open()
        #expect(
            client.receiveAll() == response("200 OK", "later") + response("200 OK", "later")
                + response("200 OK", "bye", closes))
        #expect(server.handler.answered.all == ["on its loop", "on its loop"])
    }

    @Test func joinsChunks() throws {
        let server = try TestServer()
        let client = try server.connect()
        client.send("POST /echo HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc")
        client.send("\r\n3;x=y\r\ndef\r\n0\r\nT: r\r\n\r\n")
        #expect(client.receive(until: "abcdef") == response("200 OK", "abcdef"))
    }

    @Test func takesABodyInManyPieces() throws {
        let server = try TestServer()
        let client = try server.connect()
        let body = String(repeating: "0123456789abcdef", count: 4096)
        client.send("POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 65536\r\n\r\n")
        for start in stride(from: 0, to: 65536, by: 9999) {
            client.send(String(body.dropFirst(start).prefix(9999)))
            server.settle()
        }
        #expect(client.receive(until: body) == response("200 OK", body))
    }

    @Test(arguments: [false, true], ["GET", "POST"])
    func takesRequestsByteByByte(offersHTTP2: Bool, method: String) throws {
        let server = try TestServer(offersHTTP2: offersHTTP2)
        let client = try server.connect()
        for _ in 0..<2 {
            for byte in "\(method) /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n\r\nok".utf8 {
                client.send([byte])
                server.settle()
            }
            #expect(client.receive(until: "ok") == response("200 OK", "ok"))
        }
    }

    @Test func invitesABodyOnlyWhenItIsAcceptable() throws {
        let server = try TestServer()
        let client = try server.connect()
        let head = "POST /echo HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: "
        client.send(head + "2\r\n\r\n")
        #expect(client.receive(until: "\r\n\r\n") == "HTTP/1.1 100 Continue\r\n\r\n")
        client.send("ok")
        #expect(client.receive(until: "ok") == response("200 OK", "ok"))
        client.send(head + "65537\r\n\r\n")
        #expect(client.receiveAll() == response("413 Content Too Large", "body_too_large", closes))
    }

    @Test func omitsTheBodyForHead() throws {
        let server = try TestServer()
        let client = try server.connect()
        client.send("HEAD /now HTTP/1.1\r\nHost: h\r\n\r\n" + get("/closing"))
        #expect(
            client.receiveAll() == "HTTP/1.1 200 OK\r\nDate: Sun, 06 Nov 1994 08:49:37 GMT\r\nContent-Length: 3\r\n\r\n"
                + response("200 OK", "bye", closes))
    }

    @Test func answersOlderClientsAsTheyAsk() throws {
        let server = try TestServer()
        let once = try server.connect()
        once.send("GET /now HTTP/1.0\r\n\r\n")
        #expect(once.receiveAll() == response("200 OK", "now", closes))
        let staying = try server.connect()
        staying.send("GET /now HTTP/1.0\r\nConnection: keep-alive\r\n\r\n")
        #expect(staying.receive(until: "now") == response("200 OK", "now", "Connection: keep-alive\r\n"))
    }

    @Test func answersAClientThatHasShutDownItsSide() throws {
        let server = try TestServer()
        let client = try server.connect()
        client.send(get("/now") + get("/later"))
        client.finish()
        server.handler.gate.waitForTasks(1)
        server.handler.gate.open()
        #expect(client.receiveAll() == response("200 OK", "now") + response("200 OK", "later"))
        server.wait(forConnections: 0)
    }

    /// There is one answer and then the end, although a valid request follows.
    @Test(arguments: [
        ("GET / HTTP/1.1\r\n\r\n", "400 Bad Request", "bad_request"),
        ("GET / HTTP/1.1\n", "400 Bad Request", "bad_request"),
        ("GET / HTTP/3.0\r\n", "505 HTTP Version Not Supported", "version_not_supported"),
        ("BREW / HTTP/1.1\r\n", "501 Not Implemented", "not_implemented"),
        ("POST / HTTP/1.1\r\nHost: h\r\nExpect: x\r\n\r\n", "417 Expectation Failed", "expectation_failed"),
        ("GET /\(String(repeating: "a", count: 9000)) HTTP/1.1\r\n", "414 URI Too Long", "uri_too_long"),
        (
            "GET / HTTP/1.1\r\nX: \(String(repeating: "a", count: 17000))", "431 Request Header Fields Too Large",
            "head_too_large"
        ),
    ])
    func refusesOnceAndCloses(input: String, status: String, code: String) throws {
        let server = try TestServer()
        let client = try server.connect()
        client.send(input + get("/now") + get("/now"))
        #expect(client.receiveAll() == response(status, code, closes))
        client.finish()
        server.wait(forConnections: 0)
        #expect(server.observer.problems.all.count == 1)
        #expect(server.observer.finished.all.isEmpty)
    }

    /// A refused client that continues to send can still read the refusal, but the server reads only a limited amount.
    @Test func readsOnAfterARefusalButOnlySoMuch() throws {
        let server = try TestServer { $0.lingerSizeMaximum = 1 << 20 }
        let client = try server.connect()
        client.send("POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 67108864\r\n\r\n")
        client.send([UInt8](repeating: 0, count: 600_000))
        #expect(client.receiveAll() == response("413 Content Too Large", "body_too_large", closes))
        client.send([UInt8](repeating: 0, count: 600_000))
        server.wait(forConnections: 0)
    }

    @Test func closesALingeringConnectionInTime() throws {
        let server = try TestServer()
        let client = try server.connect()
        client.send("\n")
        #expect(client.receiveAll() == response("400 Bad Request", "bad_request", closes))
        server.settle()
        #expect(server.server.connectionCount == 1)
        server.advance(by: .seconds(2))
        server.wait(forConnections: 0)
    }

    /// A response that is too large for the kernel's buffer is sent as the client reads.
    @Test func sendsALargeResponseInPieces() throws {
        let server = try TestServer()
        let client = try RawClient(server.address, receiveBufferSize: 8192)
        client.send(get("/large") + get("/closing"))
        server.settle()
        let all = client.receiveAll()
        #expect(all.utf8.count > server.handler.largeSize)
        #expect(all.hasSuffix(response("200 OK", "bye", closes)))
    }

    @Test func listensOnSeveralAddressesWithOneHandlerEach() throws {
        let server = try TestServer()
        let other = try server.server.listen(
            HTTPListenerSettings(name: "admin", address: .internet(.v6(0, 1), port: 0), handler: server.handler))
        #expect(other.port != server.address.port)
        #expect(other.isLoopback)
    }

    @Test func refusesAPortThatIsTaken() throws {
        let server = try TestServer()
        let second = try EventLoopGroup(count: 2)
        defer { second.stop(within: .zero) }
        let settings = HTTPListenerSettings(name: "second", address: server.address, handler: TestHandler())
        let expected = HTTPServerError.socket(.addressInUse(server.address))
        #expect(throws: expected) { try HTTPServer(group: second).listen(settings) }
        #expect(throws: expected) { try server.server.listen(settings) }
        #expect(expected.description == "\(server.address) is in use by another listener")
    }

    @Test func spreadsConnectionsOverItsLoops() throws {
        let server = try TestServer(loopCount: 2)
        var indices: Set<String> = []
        var clients: [RawClient] = []
        // The kernel distributes connections by a hash. All 64 go to the same loop only as often as 64 tosses of a coin
        // are equal.
        for _ in 0..<64 {
            let client = try server.connect()
            client.send(get("/loop"))
            let text = String(decoding: client.receive() ?? [], as: UTF8.self)
            indices.insert(String(text.suffix(1)))
            clients.append(client)
        }
        #expect(indices == ["0", "1"])
        #expect(server.server.connectionCount == 64)
    }
}
