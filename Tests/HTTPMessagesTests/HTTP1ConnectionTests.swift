import HTTPMessages
import Testing

@Suite struct HTTP1ConnectionTests {
    static let get = "GET /a HTTP/1.1\r\nHost: h\r\n\r\n"

    @Test func servesOneRequestAfterTheOther() throws {
        var connection = HTTP1Connection(limits: HTTPLimits())
        for _ in 0..<3 {
            #expect(connection.phase == .waiting)
            #expect(try path(connection.receive(Self.get)) == "/a")
            #expect(connection.phase == .answering)
            #expect(connection.respond(closing: false) == HTTPResponsePlan(omitsBody: false, connection: .unmentioned))
            #expect(connection.phase == .writing)
            #expect(connection.responseSent() == .read)
        }
    }

    @Test(arguments: 1..<get.utf8.count)
    func waitsForTheRestOfAHead(length: Int) throws {
        var connection = HTTP1Connection(limits: HTTPLimits())
        let bytes = Array(Self.get.utf8)
        #expect(connection.received(Array(bytes.prefix(length)).span) == .read)
        #expect(connection.phase == .head)
        #expect(try path(connection.received(Array(bytes.dropFirst(length)).span)) == "/a")
    }

    @Test(arguments: 0..<9)
    func collectsABodyOfKnownLength(early: Int) throws {
        let body = "nine byte"
        var connection = HTTP1Connection(limits: HTTPLimits())
        let head = "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 9\r\n\r\n"
        #expect(connection.receive(head + body.prefix(early)) == .read)
        #expect(connection.phase == .body(received: early))
        guard case .dispatch(let message) = connection.receive(String(body.dropFirst(early))) else {
            Issue.record("no request")
            return
        }
        #expect(message.body == Array(body.utf8))
    }

    @Test func collectsAChunkedBody() throws {
        var connection = HTTP1Connection(limits: HTTPLimits())
        #expect(connection.receive("POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nab") == .read)
        #expect(connection.phase == .body(received: 2))
        guard case .dispatch(let message) = connection.receive("c\r\n0\r\n\r\n" + Self.get) else {
            Issue.record("no request")
            return
        }
        #expect(message.body == Array("abc".utf8))
        #expect(connection.hasEarlyInput == true)
    }

    /// Only one request is in flight: the next one is not parsed before the first is answered.
    @Test func holdsPipelinedRequestsBack() throws {
        var connection = HTTP1Connection(limits: HTTPLimits())
        #expect(try path(connection.receive(Self.get + Self.get.replacing("/a", with: "/b") + "GET /c")) == "/a")
        #expect(connection.receive(" HTTP/1.1\r\nHost: h\r\n\r\n") == .read)
        _ = connection.respond(closing: false)
        #expect(connection.responseSent() == .read)
        #expect(connection.hasEarlyInput == true)
        #expect(try path(connection.resume()) == "/b")
        _ = connection.respond(closing: false)
        #expect(connection.responseSent() == .read)
        #expect(try path(connection.resume()) == "/c")
        #expect(connection.hasEarlyInput == false)
        _ = connection.respond(closing: false)
        #expect(connection.responseSent() == .read)
        #expect(connection.resume() == .read)
    }

    @Test func invitesABodyThatIsAcceptable() {
        let head = "POST / HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: "
        var connection = HTTP1Connection(limits: HTTPLimits())
        #expect(connection.receive(head + "1\r\n\r\n") == .sendContinue)
        var impatient = HTTP1Connection(limits: HTTPLimits())
        guard case .dispatch = impatient.receive(head + "1\r\n\r\nx") else {
            Issue.record("the body had arrived")
            return
        }
        var tooLarge = HTTP1Connection(limits: HTTPLimits())
        #expect(tooLarge.receive(head + "65537\r\n\r\n") == .refuse(.bodyTooLarge))
    }

    @Test(arguments: [(0, true), (10, true), (11, false)])
    func limitsTheBodyByItsDeclaredLength(length: Int, isAllowed: Bool) {
        var limits = HTTPLimits()
        limits.bodySizeMaximum = 10
        var connection = HTTP1Connection(limits: limits)
        let action = connection.receive("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: \(length)\r\n\r\n")
        #expect((action == .refuse(.bodyTooLarge)) == !isAllowed)
    }

    struct Ending: Sendable {
        let request: String
        let plan: HTTPResponsePlan
        let then: HTTP1Connection.Action
    }

    @Test(arguments: [
        Ending(
            request: "GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n",
            plan: HTTPResponsePlan(omitsBody: false, connection: .close), then: .close),
        Ending(
            request: "GET / HTTP/1.0\r\n\r\n", plan: HTTPResponsePlan(omitsBody: false, connection: .close),
            then: .close),
        Ending(
            request: "GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n",
            plan: HTTPResponsePlan(omitsBody: false, connection: .keepAlive), then: .read),
        Ending(
            request: "HEAD / HTTP/1.1\r\nHost: h\r\n\r\n",
            plan: HTTPResponsePlan(omitsBody: true, connection: .unmentioned), then: .read),
    ])
    func endsAsTheRequestSays(ending: Ending) {
        var connection = HTTP1Connection(limits: HTTPLimits())
        _ = connection.receive(ending.request)
        #expect(connection.respond(closing: false) == ending.plan)
        #expect(connection.responseSent() == ending.then)
    }

    @Test func lingersWhenTheServerEndsWhatTheClientWouldKeep() {
        var connection = HTTP1Connection(limits: HTTPLimits())
        _ = connection.receive(Self.get)
        #expect(connection.respond(closing: true).connection == .close)
        #expect(connection.responseSent() == .linger)
        #expect(connection.phase == .closed)
    }

    @Test func endsAfterTheLastRequestThatItMayServe() {
        var limits = HTTPLimits()
        limits.requestsPerConnectionMaximum = 2
        var connection = HTTP1Connection(limits: limits)
        _ = connection.receive(Self.get)
        #expect(connection.respond(closing: false).connection == .unmentioned)
        #expect(connection.responseSent() == .read)
        _ = connection.receive(Self.get)
        #expect(connection.respond(closing: false).connection == .close)
        #expect(connection.responseSent() == .linger)
    }

    /// A line end alone is no request. The client would take an answer to it for the answer to its next request.
    @Test(arguments: [["\r\n"], ["\r", "\n"], ["\r"]])
    func answersNothingToAStrayLineEnd(pieces: [String]) throws {
        var impatient = try idleConnection(after: pieces)
        #expect(impatient.deadlinePassed() == .close)
        var patient = try idleConnection(after: pieces)
        #expect(try path(patient.receive((pieces.joined() == "\r" ? "\n" : "") + Self.get)) == "/a")
        #expect(patient.respond(closing: false).connection == .unmentioned)
    }

    /// A connection that has answered a request, and has then received these pieces of a line end.
    private func idleConnection(after pieces: [String]) throws -> HTTP1Connection {
        var connection = HTTP1Connection(limits: HTTPLimits())
        _ = connection.receive(Self.get)
        _ = connection.respond(closing: false)
        _ = connection.responseSent()
        for piece in pieces { #expect(connection.receive(piece) == .read) }
        if pieces.joined() == "\r\n" { #expect(connection.phase == .waiting) }
        #expect(!connection.hasEarlyInput || connection.phase == .head)
        return connection
    }

    @Test func refusesASecondStrayLineEnd() {
        var connection = HTTP1Connection(limits: HTTPLimits())
        #expect(connection.receive("\r\n") == .read)
        #expect(connection.receive("\r\n") == .refuse(.malformed(.emptyLineBeforeRequest)))
    }

    @Test func answersItsDeadlinesByPhase() {
        var waiting = HTTP1Connection(limits: HTTPLimits())
        #expect(waiting.deadlinePassed() == .close)

        var head = HTTP1Connection(limits: HTTPLimits())
        _ = head.receive("GET")
        #expect(head.deadlinePassed() == .refuse(.headTimeout))

        var body = HTTP1Connection(limits: HTTPLimits())
        _ = body.receive("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 9\r\n\r\n")
        #expect(body.deadlinePassed() == .refuse(.bodyTimeout))

        var answering = HTTP1Connection(limits: HTTPLimits())
        _ = answering.receive(Self.get)
        #expect(answering.deadlinePassed() == .read)
        _ = answering.respond(closing: false)
        #expect(answering.deadlinePassed() == .close)
        #expect(answering.phase == .closed)
    }

    @Test func drainsByPhase() {
        var waiting = HTTP1Connection(limits: HTTPLimits())
        _ = waiting.receive(Self.get)
        _ = waiting.respond(closing: false)
        #expect(waiting.responseSent() == .read)
        waiting.drain()
        guard case .dispatch = waiting.receive(Self.get) else {
            Issue.record("a request that was sent before the close is served")
            return
        }
        #expect(waiting.respond(closing: false).connection == .close)

        var fresh = HTTP1Connection(limits: HTTPLimits())
        fresh.drain()
        guard case .dispatch = fresh.receive(Self.get) else {
            Issue.record("the first request is served")
            return
        }
        #expect(fresh.respond(closing: false).connection == .close)

        var head = HTTP1Connection(limits: HTTPLimits())
        _ = head.receive("GET /a HTTP/1.1\r\n")
        head.drain()
        guard case .dispatch = head.receive("Host: h\r\n\r\n") else {
            Issue.record("a request that has begun is served")
            return
        }
        #expect(head.respond(closing: false).connection == .close)
        #expect(head.responseSent() == .linger)

        var writing = HTTP1Connection(limits: HTTPLimits())
        _ = writing.receive(Self.get)
        _ = writing.respond(closing: false)
        writing.drain()
        #expect(writing.responseSent() == .linger)
    }

    @Test func answersAPeerThatSendsNoMore() {
        var answering = HTTP1Connection(limits: HTTPLimits())
        _ = answering.receive(Self.get)
        #expect(answering.inputEnded() == .read)
        #expect(answering.respond(closing: false).connection == .close)

        var half = HTTP1Connection(limits: HTTPLimits())
        _ = half.receive("GET")
        #expect(half.inputEnded() == .close)
        #expect(half.receive(Self.get) == .close)
    }

    @Test func omitsTheBodyOfARefusedHead() {
        var connection = HTTP1Connection(limits: HTTPLimits())
        #expect(
            connection.receive("HEAD / HTTP/1.1\r\nHost: h\r\nContent-Length: 65537\r\n\r\n") == .refuse(.bodyTooLarge))
        #expect(connection.respond(closing: false).omitsBody)
    }

    /// The refusal may need the origin, the trace and the client of the request. A malformed head tells nothing.
    @Test(arguments: [
        ("POST /a?\(String(repeating: "&", count: 64)) HTTP/1.1\r\nHost: h\r\nX: y\r\n\r\n", "/a"),
        ("HEAD /a HTTP/1.1\r\nHost: h\r\nContent-Encoding: gzip\r\nX: y\r\n\r\n", "/a"),
        ("POST /a HTTP/1.1\r\nHost: h\r\nExpect: x\r\nContent-Length: 1\r\nX: y\r\n\r\n", "/a"),
        ("POST /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: gzip\r\nX: y\r\n\r\n", "/a"),
        ("POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: 65537\r\nX: y\r\n\r\n", "/a"),
        ("POST /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\nX: y\r\n\r\nz", "/a"),
        ("POST /a HTTP/1.1\r\nHost: h\r\nContent-Encoding: gzip\r\nHost: i\r\nX: y\r\n\r\n", nil),
        ("BREW /a HTTP/1.1\r\nHost: h\r\nX: y\r\n\r\n", nil),
    ])
    func givesTheHeadOfARefusedRequestOnce(request: String, path: String?) {
        var connection = HTTP1Connection(limits: HTTPLimits())
        let second = "GET /second HTTP/1.1\r\nHost: h\r\n\r\n"
        guard case .refuse = connection.receive(request + second) else {
            Issue.record("the request is not refused")
            return
        }
        let head = connection.takeRefusedHead()
        #expect(head?.target.path == path)
        #expect(head?.fields["X"] == path.map { _ in "y" })
        #expect(connection.takeRefusedHead() == nil)
        #expect(connection.respond(closing: false).omitsBody == request.hasPrefix("HEAD"))
        #expect(connection.responseSent() == .linger)
        #expect(connection.resume() == .close)
    }

    /// However a stream of requests is cut, it gives the same requests as in one piece.
    @Test(arguments: [1, 2, UInt64.random(in: 3...(.max))])
    func readsAStreamHoweverItIsCut(seed: UInt64) throws {
        print("HTTP1ConnectionTests seed \(seed)")
        var random = SplitMix(state: seed)
        var stream: [UInt8] = []
        var expected: [String] = []
        for number in 0..<200 {
            let body = String(repeating: "b", count: Int.random(in: 0..<50, using: &random))
            let length = String(body.count, radix: 16)
            expected.append("/\(number) \(body)")
            stream += Array(
                [
                    "POST /\(number) HTTP/1.1\r\nHost: h\r\nContent-Length: \(body.count)\r\n\r\n\(body)",
                    "POST /\(number) HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"
                        + (body.isEmpty ? "" : "\(length)\r\n\(body)\r\n") + "0\r\n\r\n",
                ][Int.random(in: 0...1, using: &random)].utf8)
        }
        var connection = HTTP1Connection(limits: HTTPLimits())
        var seen: [String] = []
        while !stream.isEmpty {
            let count = min(stream.count, Int.random(in: 1...120, using: &random))
            var action = connection.received(Array(stream.prefix(count)).span)
            stream.removeFirst(count)
            while case .dispatch(let message) = action {
                seen.append("\(message.head.target.path) \(String(decoding: message.body, as: UTF8.self))")
                _ = connection.respond(closing: false)
                #expect(connection.responseSent() == .read)
                action = connection.resume()
            }
            #expect(action == .read)
        }
        #expect(seen == expected)
    }

    private func path(_ action: HTTP1Connection.Action) throws -> String {
        guard case .dispatch(let message) = action else {
            Issue.record("\(action) instead of a request")
            return ""
        }
        return message.head.target.path
    }
}

extension HTTP1Connection {
    mutating func receive(_ text: some StringProtocol) -> Action { received(Array(text.utf8).span) }
}
