import HTTPMessages
import HTTPServing
import TestSupport
import Testing

/// Decisions about bodies whose heads arrive before them, from the socket to the handler and back.
@Suite struct BodyDecisionTests {
    private static let post = "POST %@ HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n"

    private func post(_ path: String, _ fields: String = "") -> String {
        Self.post.replacing("%@", with: path) + fields + "\r\n"
    }

    /// The refusal is sent before the body arrives, and the rest of the body is not read as a request.
    @Test func refusesByTheHead() throws {
        let server = try TestServer()
        let client = try server.connect()
        client.send(post("/refused") + "ab")
        #expect(client.receive(until: "no") == response("401 Unauthorized", "no", closes))
        client.send("cde" + get("/now"))
        client.finish()
        #expect(client.receiveAll() == "")
        server.wait(forConnections: 0)
        #expect(server.observer.finished.all == ["POST 401 test true"])
        #expect(server.resources.memory.chargedSize == 0)
    }

    /// The client gets the refusal instead of the interim response.
    @Test func doesNotInviteABodyThatIsRefused() throws {
        let server = try TestServer()
        let client = try server.connect()
        client.send(post("/refused", "Expect: 100-continue\r\n"))
        client.finish()
        #expect(client.receiveAll() == response("401 Unauthorized", "no", closes))
    }

    /// A request that has arrived completely is answered by the handler as usual, and the connection stays open.
    @Test func asksOnlyAboutBodiesThatAreStillArriving() throws {
        let server = try TestServer()
        let client = try server.connect()
        client.send(post("/refused") + "abcde")
        #expect(client.receive(until: "\r\n\r\n") == response("404 Not Found", ""))
        client.send(get("/now"))
        #expect(client.receive(until: "now") == response("200 OK", "now"))
    }

    @Test func dropsABodyAndKeepsTheConnection() throws {
        let server = try TestServer()
        let client = try server.connect()
        client.send(post("/dropped", "Expect: 100-continue\r\n"))
        #expect(client.receive(until: "\r\n\r\n") == "HTTP/1.1 100 Continue\r\n\r\n")
        client.send("abcde")
        #expect(client.receive(until: "\r\n\r\n") == response("200 OK", ""))
        client.send(post("/echo"))
        server.settle()
        client.send("abcde")
        #expect(client.receive(until: "abcde") == response("200 OK", "abcde"))
    }

    @Test func refusesByTheHeadOverHTTP2() throws {
        let server = try TestServer(offersHTTP2: true)
        let client = HTTP2SocketClient(try server.connect())
        let frames: [HTTP2Frame] = [
            .settings(), .settingsAcknowledgement,
            .request(1, "POST", path: "/refused", more: [("content-length", "5")], flags: HTTP2Frame.endHeaders),
            .request(3, "POST", path: "/refused", more: [("content-length", "5")], flags: HTTP2Frame.endHeaders),
        ]
        client.socket.send(HTTP2Frame.preface + frames.flatMap { $0.bytes() })
        #expect(server.observer.finished.wait(for: 2) == ["POST 401 test true", "POST 401 test true"])
        server.settle()
        #expect(server.resources.memory.charged(to: .bodies) == 0)
        // The client never ends its requests.
        server.advance(by: .seconds(2))
        #expect(server.observer.abuses.wait(for: 1) == [.slowBody])
        server.advance(by: .seconds(1))
        client.socket.finish()
        server.wait(forConnections: 0)
        #expect(server.resources.memory.chargedSize == 0)
    }
}
