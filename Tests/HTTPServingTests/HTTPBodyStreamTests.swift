import EventLoops
import HTTPMessages
import TestSupport
import Testing

@testable import HTTPServing

/// Responses whose handler sends the body in pieces.
@Suite struct HTTPBodyStreamTests {
    private static let head = """
        HTTP/1.1 200 OK\r\nDate: Sun, 06 Nov 1994 08:49:37 GMT\r\nTransfer-Encoding: chunked\r\n\
        Content-Type: text/plain\r\n\r\n
        """

    /// Calls the body on the loop of its connection.
    private func on(_ server: TestServer, _ body: HTTPBodyStream, _ act: @escaping @Sendable (HTTPBodyStream) -> Void) {
        server.group.loops[0].runAndWait { act(body) }
    }

    private func charged(_ server: TestServer) -> Int { server.resources.memory.charged(to: .outbound) }

    // MARK: HTTP/1.1

    @Test func sendsPiecesAsChunksAndKeepsTheConnection() throws {
        let server = try TestServer()
        let client = try server.connect()
        client.send(get("/stream"))
        let body = try #require(server.handler.waitForBody())
        #expect(client.receive(exactly: Self.head.utf8.count) == Self.head)
        on(server, body) { $0.send(Array("one".utf8)) }
        #expect(client.receive(exactly: 8) == "3\r\none\r\n")
        #expect(charged(server) >= HTTPBodyStream.waitingSizeMaximum)
        on(server, body) {
            $0.send([UInt8](repeating: 97, count: 20))
            $0.finish()
            $0.send(Array("after the end".utf8))
        }
        let rest = "14\r\n\(String(repeating: "a", count: 20))\r\n0\r\n\r\n"
        #expect(client.receive(exactly: rest.utf8.count) == rest)
        server.handler.waitForEnds(1)
        client.send(get("/now"))
        #expect(client.receive(until: "now") == response("200 OK", "now"))
        #expect(charged(server) == 0)
    }

    /// The handler may send within the call that begins the body, and finish there.
    @Test func sendsNothingMoreAfterTheEnd() throws {
        let server = try TestServer()
        let client = try server.connect()
        client.send(get("/stream"))
        let body = try #require(server.handler.waitForBody())
        on(server, body) { $0.finish() }
        let all = Self.head + "0\r\n\r\n"
        #expect(client.receive(exactly: all.utf8.count) == all)
        let isOpen = server.group.loops[0].runAndWait { body.isOpen }
        #expect(isOpen == false)
    }

    @Test func endsTheBodyOfAnOldClientWithTheConnection() throws {
        let server = try TestServer()
        let client = try server.connect()
        client.send("GET /stream HTTP/1.0\r\nHost: h\r\nConnection: keep-alive\r\n\r\n")
        let body = try #require(server.handler.waitForBody())
        on(server, body) {
            $0.send(Array("one".utf8))
            $0.send(Array("two".utf8))
            $0.finish()
        }
        let text = client.receiveAll()
        #expect(text.hasSuffix("\r\n\r\nonetwo"))
        #expect(text.contains("Connection: close\r\n"))
        #expect(!text.contains("Transfer-Encoding") && !text.contains("Content-Length"))
    }

    @Test func beginsNoBodyForHEAD() throws {
        let server = try TestServer()
        let client = try server.connect()
        client.send("HEAD /stream HTTP/1.1\r\nHost: h\r\n\r\n")
        #expect(client.receive(exactly: Self.head.utf8.count) == Self.head)
        client.send(get("/now"))
        #expect(client.receive(until: "now") == response("200 OK", "now"))
        #expect(server.handler.bodyCount == 0)
        #expect(charged(server) == 0)
    }

    /// The client ends only its own side, so that it can see the end of the body.
    @Test func endsWhenTheClientLeaves() throws {
        let server = try TestServer()
        let client = try server.connect()
        client.send(get("/stream"))
        _ = server.handler.waitForBody()
        client.finish()
        server.handler.waitForEnds(1)
        #expect(client.receiveAll() == Self.head + "0\r\n\r\n")
        server.wait(forConnections: 0)
        #expect(charged(server) == 0)
        #expect(server.server.connectionObjectCount == 0)
    }

    @Test func endsWhenTheConnectionIsLost() throws {
        let server = try TestServer()
        do {
            let client = try server.connect()
            client.send(get("/stream"))
            _ = server.handler.waitForBody()
            client.resetOnClose()
        }
        server.handler.waitForEnds(1)
        server.wait(forConnections: 0)
        #expect(charged(server) == 0)
    }

    /// The kernel takes many pieces before any waits in the process.
    @Test func endsAConnectionThatDoesNotRead() throws {
        let server = try TestServer()
        let client = try RawClient(server.address, receiveBufferSize: 4096)
        client.send(get("/stream"))
        let body = try #require(server.handler.waitForBody())
        var pieceCount = 0
        while pieceCount < 4096, server.group.loops[0].runAndWait({ body.isOpen }) == true {
            on(server, body) { $0.send([UInt8](repeating: 97, count: 16 * 1024)) }
            pieceCount += 1
        }
        server.handler.waitForEnds(1)
        #expect(server.observer.abuses.wait(for: 1) == [.slowReading])
        server.wait(forConnections: 0)
        #expect(charged(server) == 0)
    }

    /// A body without anything to send has no deadline. Bytes that wait for the client have one.
    @Test func hasADeadlineOnlyWhileBytesWait() throws {
        let server = try TestServer()
        let client = try RawClient(server.address, receiveBufferSize: 4096)
        client.send(get("/stream"))
        let body = try #require(server.handler.waitForBody())
        server.advance(by: .seconds(3600))
        #expect(server.server.connectionCount == 1)
        // One piece that is too large for the kernel, so that a part of it waits.
        for _ in 0..<1024 where server.group.loops[0].runAndWait({ body.waitingSize }) == 0 {
            on(server, body) { $0.send([UInt8](repeating: 97, count: 16 * 1024)) }
        }
        server.advance(by: HTTPLimits().writeDeadline + .seconds(1))
        #expect(server.observer.abuses.wait(for: 1) == [.slowReading])
        server.handler.waitForEnds(1)
    }

    @Test func finishesBodiesWhenTheServerStops() throws {
        let server = try TestServer()
        let client = try server.connect()
        client.send(get("/stream"))
        _ = server.handler.waitForBody()
        let drained = Log<DrainReport>()
        let http = server.server
        Background.run { drained.append(http.drain(within: .seconds(30))) }
        #expect(client.receiveAll() == Self.head + "0\r\n\r\n")
        client.finish()
        #expect(drained.wait(for: 1) == [DrainReport(cutOffConnectionCount: 0)])
        server.handler.waitForEnds(1)
    }

    /// A stream can last for hours, which must not count as the time of a request.
    @Test func countsTheRequestWhenTheHeadIsSent() throws {
        let server = try TestServer()
        let client = try server.connect()
        client.send(get("/stream"))
        let body = try #require(server.handler.waitForBody())
        #expect(server.observer.finished.wait(for: 1) == ["GET 200 test true"])
        on(server, body) { $0.finish() }
        server.handler.waitForEnds(1)
        #expect(server.observer.finished.all.count == 1)
    }

    @Test func refusesStreamsWithoutMemory() throws {
        let budget = MemoryBudget(size: MemoryBudget.sizeMinimum)
        let maximum = budget.maximum(of: .outbound) / (HTTPBodyStream.waitingSizeMaximum + HeldMemory.requestSize)
        let server = try TestServer(resources: ServerResources(memory: budget))
        var clients: [RawClient] = []
        for number in 1...maximum {
            let client = try server.connect()
            client.send(get("/stream"))
            _ = server.handler.waitForBody(number)
            clients.append(client)
        }
        let client = try server.connect()
        client.send(get("/stream"))
        #expect(client.receive(until: "overloaded").hasPrefix("HTTP/1.1 429"))
        #expect(server.handler.bodyCount == maximum)
        #expect(clients.count == maximum)
    }

    // MARK: HTTP/2

    private func connect(_ server: TestServer) throws -> HTTP2SocketClient {
        HTTP2SocketClient(try RawClient(server.address))
    }

    @Test func sendsPiecesAsFrames() throws {
        let server = try TestServer(offersHTTP2: true)
        let client = try connect(server)
        let id = client.session.submit("GET", "/stream")
        client.flush()
        let body = try #require(server.handler.waitForBody())
        on(server, body) { $0.send(Array("one".utf8)) }
        client.exchange { $0.answers[id]?.body == Array("one".utf8) }
        #expect(client.session.answers[id]?.closeCode == nil)
        let other = client.session.submit("GET", "/now")
        #expect(client.answer(to: other)?.body == Array("now".utf8))
        on(server, body) {
            $0.send(Array("two".utf8))
            $0.finish()
        }
        #expect(
            client.answer(to: id)
                == .init(
                    status: "200", fields: ["date": "Sun, 06 Nov 1994 08:49:37 GMT", "content-type": "text/plain"],
                    body: Array("onetwo".utf8), closeCode: 0))
        server.handler.waitForEnds(1)
        #expect(charged(server) == 0)
        #expect(server.observer.finished.wait(for: 2).count == 2)
    }

    @Test func beginsNoBodyForHEADInHTTP2() throws {
        let server = try TestServer(offersHTTP2: true)
        let client = try connect(server)
        let id = client.session.submit("HEAD", "/stream")
        #expect(client.answer(to: id)?.status == "200")
        #expect(client.session.answers[id]?.fields["content-length"] == nil)
        #expect(server.handler.bodyCount == 0)
        #expect(charged(server) == 0)
    }

    @Test func endsWhenTheClientResetsTheStream() throws {
        let server = try TestServer(offersHTTP2: true)
        let client = try server.connect()
        let start: [HTTP2Frame] = [.settings(), .settingsAcknowledgement, .request(1, path: "/stream")]
        client.send(HTTP2Frame.preface + start.flatMap { $0.bytes() })
        _ = server.handler.waitForBody()
        client.send(HTTP2Frame.reset(1).bytes())
        server.handler.waitForEnds(1)
        #expect(server.server.connectionCount == 1)
        #expect(charged(server) == 0)
    }

    /// The client's window is full at once, so that all bytes wait in the process.
    @Test func endsOnlyTheStreamThatIsNotRead() throws {
        let server = try TestServer(offersHTTP2: true)
        let client = try server.connect()
        let start: [HTTP2Frame] = [.settings([(4, 0)]), .settingsAcknowledgement, .request(1, path: "/stream")]
        client.send(HTTP2Frame.preface + start.flatMap { $0.bytes() })
        let body = try #require(server.handler.waitForBody())
        on(server, body) { $0.send([UInt8](repeating: 97, count: HTTPBodyStream.waitingSizeMaximum)) }
        let waiting = server.group.loops[0].runAndWait { body.waitingSize }
        #expect(waiting == HTTPBodyStream.waitingSizeMaximum)
        on(server, body) { $0.send([97]) }
        server.handler.waitForEnds(1)
        server.settle()
        #expect(server.server.connectionCount == 1)
        #expect(charged(server) == 0)
    }

    @Test func resetsAStreamAfterTheDeadline() throws {
        let server = try TestServer(offersHTTP2: true)
        let client = try server.connect()
        let start: [HTTP2Frame] = [.settings([(4, 0)]), .settingsAcknowledgement, .request(1, path: "/stream")]
        client.send(HTTP2Frame.preface + start.flatMap { $0.bytes() })
        let body = try #require(server.handler.waitForBody())
        server.advance(by: .seconds(3600))
        let isOpen = server.group.loops[0].runAndWait { body.isOpen }
        #expect(isOpen == true)
        on(server, body) { $0.send([97]) }
        server.advance(by: HTTPLimits().writeDeadline + .seconds(1))
        server.handler.waitForEnds(1)
        #expect(charged(server) == 0)
    }

    @Test func finishesBodiesOfHTTP2WhenTheServerStops() throws {
        let server = try TestServer(offersHTTP2: true)
        let client = try connect(server)
        let id = client.session.submit("GET", "/stream")
        client.flush()
        let body = try #require(server.handler.waitForBody())
        on(server, body) { $0.send(Array("one".utf8)) }
        let drained = Log<DrainReport>()
        let http = server.server
        Background.run { drained.append(http.drain(within: .seconds(30))) }
        client.exchangeToTheEnd()
        client.socket.finish()
        #expect(drained.wait(for: 1) == [DrainReport(cutOffConnectionCount: 0)])
        #expect(client.session.answers[id]?.body == Array("one".utf8))
        #expect(client.session.answers[id]?.closeCode == 0)
        server.handler.waitForEnds(1)
    }
}
