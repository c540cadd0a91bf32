import EventLoops
import HTTPMessages
import TestSupport
import Testing

@testable import HTTPServing

/// An HTTP/2 client that obeys the rules, on a socket.
final class HTTP2SocketClient {
    let session = HTTP2Client()
    let socket: RawClient

    init(_ socket: RawClient) {
        self.socket = socket
    }

    /// Sends all pending output.
    func flush() {
        let bytes = session.output()
        if !bytes.isEmpty { socket.send(bytes) }
    }

    /// Exchanges bytes until the stream or the connection is closed, and returns the stream's answer.
    func answer(to id: Int32) -> HTTP2Client.Answer? {
        exchange { $0.answers[id]?.closeCode != nil }
        return session.answers[id]
    }

    /// Exchanges bytes until the condition is true. Returns `false` if the connection ends before.
    @discardableResult
    func exchange(until isDone: (HTTP2Client) -> Bool) -> Bool {
        flush()
        while !isDone(session) {
            guard let bytes = socket.receive(), !bytes.isEmpty else { return false }
            let isLegal = session.receive(bytes)
            #expect(isLegal)
            flush()
        }
        return true
    }

    /// Exchanges bytes until the connection has ended.
    func exchangeToTheEnd() { exchange { _ in false } }
}

/// HTTP/2 from the socket to the handler and back.
@Suite struct HTTP2ConnectionTests {
    private func connect(_ server: TestServer, receiveBufferSize: Int32? = nil) throws -> HTTP2SocketClient {
        HTTP2SocketClient(try RawClient(server.address, receiveBufferSize: receiveBufferSize))
    }

    /// If a client does not read, its input waits in the kernel. A session that read it would have to keep the answers.
    @Test func doesNotReadWhileTheSocketIsCongested() throws {
        let server = try TestServer(offersHTTP2: true) {
            $0.http2.controlFrameBurstMaximum = 50
            $0.http2.controlFrameRateMaximum = 0
        }
        let client = try RawClient(server.address, receiveBufferSize: 4096)
        let start: [HTTP2Frame] = [
            .settings([(4, 1 << 30)]), .settingsAcknowledgement, .windowUpdate(0, 1 << 30), .request(1, path: "/large"),
        ]
        client.send(HTTP2Frame.preface + start.flatMap { $0.bytes() })
        server.handler.waitForLarge()
        // After this number of turns, the kernel's buffer is full.
        for _ in 0..<100 { server.settle() }
        client.send((0..<200).flatMap { _ in HTTP2Frame.ping().bytes() })
        server.settle()
        #expect(server.observer.abuses.all.isEmpty)
        #expect(server.server.connectionCount == 1)
        // When the client reads the output, the server reads these frames, and they count as a flood.
        while let bytes = client.receive(), !bytes.isEmpty {}
        #expect(server.observer.abuses.wait(for: 1) == [.controlFrames])
        client.finish()
        server.wait(forConnections: 0)
    }

    @Test func answersByPriorKnowledge() throws {
        let server = try TestServer(offersHTTP2: true)
        let client = try connect(server)
        let id = client.session.submit("GET", "/now")
        #expect(
            client.answer(to: id)
                == .init(
                    status: "200", fields: ["date": "Sun, 06 Nov 1994 08:49:37 GMT", "content-length": "3"],
                    body: Array("now".utf8), closeCode: 0))
        #expect(server.observer.finished.wait(for: 1) == ["GET 200 test true"])
    }

    @Test func echoesBodiesOfEverySize() throws {
        let server = try TestServer(offersHTTP2: true)
        let client = try connect(server)
        for size in [0, 1, 16_383, 16_384, 16_385, 65_535, 65_536] {
            let body = (0..<size).map { UInt8(truncatingIfNeeded: $0) }
            let id = client.session.submit("POST", "/echo", fields: [("content-length", "\(size)")], body: body)
            let answer = client.answer(to: id)
            #expect(answer?.status == "200")
            #expect(answer?.body == body)
        }
        #expect(server.server.connectionCount == 1)
    }

    @Test func refusesABodyThatIsTooLargeAndServesTheNext() throws {
        let server = try TestServer(offersHTTP2: true)
        let client = try connect(server)
        for declared in [[("content-length", "65537")], []] {
            let id = client.session.submit(
                "POST", "/echo", fields: declared, body: [UInt8](repeating: 1, count: 65_537))
            let answer = client.answer(to: id)
            #expect(answer?.status == "413")
            #expect(answer?.body == Array("body_too_large".utf8))
            #expect(answer?.closeCode == 0)
        }
        #expect(server.observer.problems.all == [.bodyTooLarge, .bodyTooLarge])
        #expect(client.answer(to: client.session.submit("GET", "/now"))?.status == "200")
    }

    /// Requests of one connection are handled at the same time, and each is answered when it is ready.
    @Test func hasSeveralRequestsInFlight() throws {
        let server = try TestServer(offersHTTP2: true)
        let client = try connect(server)
        let suspended = (0..<20).map { _ in client.session.submit("GET", "/later") }
        let quick = client.session.submit("GET", "/now")
        #expect(client.answer(to: quick)?.status == "200")
        server.handler.gate.waitForTasks(20)
        server.handler.gate.open()
        for id in suspended { #expect(client.answer(to: id)?.body == Array("later".utf8)) }
        #expect(server.handler.answered.all == Array(repeating: "on its loop", count: 20))
    }

    /// The response is far larger than the kernel's buffer and any flow-control window.
    @Test func sendsALargeResponseInPieces() throws {
        let server = try TestServer(offersHTTP2: true)
        let client = try connect(server, receiveBufferSize: 8192)
        let ids = (0..<2).map { _ in client.session.submit("GET", "/large") }
        for id in ids {
            let answer = client.answer(to: id)
            #expect(answer?.body.count == server.handler.largeSize)
            #expect(answer?.body.allSatisfy { $0 == 97 } == true)
        }
    }

    @Test func resetsAConnectionThatDoesNotRead() throws {
        let server = try TestServer(offersHTTP2: true)
        let client = try connect(server, receiveBufferSize: 4096)
        // The windows are so large that only the kernel's buffer can stop the server.
        client.socket.send(HTTP2Frame.preface)
        client.socket.send(HTTP2Frame.settings([(4, 1 << 30)]).bytes())
        client.socket.send(HTTP2Frame.settingsAcknowledgement.bytes() + HTTP2Frame.windowUpdate(0, 1 << 30).bytes())
        client.socket.send(HTTP2Frame.request(1, path: "/large").bytes())
        server.handler.waitForLarge()
        // One turn sends a limited amount. After this number of turns, the kernel's buffer is full.
        for _ in 0..<20 { server.settle() }
        server.advance(by: .seconds(29))
        #expect(server.server.connectionCount == 1)
        // The kernel may have accepted the last bytes only now.
        server.advance(by: .seconds(30))
        server.wait(forConnections: 0)
        #expect(server.observer.finished.all.isEmpty)
    }

    @Test func endsAFloodAndTellsWhy() throws {
        let server = try TestServer(offersHTTP2: true)
        let client = try connect(server)
        client.flush()
        // All are sent at the same time, so that the limit is not refilled between them.
        client.socket.send((0..<2000).flatMap { _ in HTTP2Frame.ping().bytes() })
        client.exchangeToTheEnd()
        #expect(client.session.goAwayCodes == [11])
        #expect(server.observer.abuses.wait(for: 1) == [.controlFrames])
        client.socket.finish()
        server.wait(forConnections: 0)
    }

    @Test func closesAnIdleConnectionWithGoodbye() throws {
        let server = try TestServer(offersHTTP2: true)
        let client = try connect(server)
        #expect(client.answer(to: client.session.submit("GET", "/now"))?.status == "200")
        server.advance(by: .seconds(60))
        client.exchangeToTheEnd()
        #expect(client.session.goAwayCodes == [0])
        client.socket.finish()
        server.wait(forConnections: 0)
    }

    @Test func drainsInOrder() throws {
        let server = try TestServer(offersHTTP2: true)
        let (idle, busy) = (try connect(server), try connect(server))
        #expect(idle.answer(to: idle.session.submit("GET", "/now"))?.status == "200")
        let suspended = busy.session.submit("GET", "/later")
        busy.flush()
        server.handler.gate.waitForTasks(1)
        let drained = Log<DrainReport>()
        let http = server.server
        Background.run { drained.append(http.drain(within: .seconds(30))) }
        // Both clients get two GOAWAY frames. The second is sent when the client has read the first, or a second later.
        busy.exchange { $0.goAwayCodes.count == 2 }
        idle.exchange { $0.goAwayCodes.count == 1 }
        server.advance(by: .seconds(1))
        idle.exchangeToTheEnd()
        idle.socket.finish()
        #expect(drained.all.isEmpty)
        server.handler.gate.open()
        #expect(busy.answer(to: suspended)?.body == Array("later".utf8))
        busy.exchangeToTheEnd()
        busy.socket.finish()
        #expect(drained.wait(for: 1) == [DrainReport(cutOffConnectionCount: 0)])
        server.settle()
        #expect(server.server.connectionObjectCount == 0)
    }

    @Test(arguments: [false, true])
    func leaksNothingWhenAClientGoesWhileItsRequestsAreSuspended(isReset: Bool) throws {
        let server = try TestServer(offersHTTP2: true)
        for number in 1...5 {
            let client = try connect(server)
            for _ in 0..<4 { client.session.submit("GET", "/later") }
            client.flush()
            server.handler.gate.waitForTasks(4 * number)
            if isReset { client.socket.resetOnClose() }
        }
        if isReset { server.wait(forConnections: 0) }
        #expect(server.group.liveTaskCount == 20)
        server.handler.gate.open()
        server.wait(forConnections: 0)
        #expect(server.handler.answered.wait(for: 20).count == 20)
        server.settle()
        #expect(server.group.liveTaskCount == 0)
        #expect(server.server.connectionObjectCount == 0)
        #expect(server.group.registrationCount == 1)
        #expect(server.group.loops[0].timerCount == 0)
    }

    /// After a stream is reset, the handler still finishes its request, and the connection serves the other streams.
    @Test func servesOnAfterAReset() throws {
        let server = try TestServer(offersHTTP2: true)
        let client = try RawClient(server.address)
        let start = [HTTP2Frame.settings(), .settingsAcknowledgement, .request(1, path: "/later"), .reset(1)]
        client.send(HTTP2Frame.preface + start.flatMap { $0.bytes() })
        server.handler.gate.waitForTasks(1)
        server.handler.gate.open()
        #expect(server.handler.answered.wait(for: 1).count == 1)
        server.settle()
        client.send(HTTP2Frame.request(3, path: "/now").bytes())
        var received: [UInt8] = []
        while !HTTP2Frame.parse(received).contains(where: { $0.type == 0 }), let more = client.receive(), !more.isEmpty
        {
            received += more
        }
        #expect(HTTP2Frame.parse(received).filter { $0.streamID > 0 }.map(\.streamID) == [3, 3])
    }
}
