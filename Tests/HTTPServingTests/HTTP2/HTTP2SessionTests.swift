import HTTPMessages
import Telemetry
import TestSupport
import Testing

@testable import HTTPServing

/// Requests and responses with frames made by hand.
@Suite struct HTTP2SessionTests {
    private let ok = HTTPResponse(status: .ok, fields: ["Content-Type": "text/plain"], body: Array("yes".utf8))

    @Test func announcesItsLimitsFirst() throws {
        let script = HTTP2Script(isFresh: true)
        let frames = script.output()
        #expect(frames.map(\.type) == [4, 8])
        #expect(
            frames.first == .settings([(3, 100), (4, 65537), (6, 16384), (9, 1)]))
        #expect(frames.last == .windowUpdate(0, (1 << 20) + 100 - 65535))
    }

    @Test func dispatchesARequestAndSendsItsResponse() {
        let script = HTTP2Script()
        script.send(.request(1, path: "/a?b"))
        let head = HTTPRequestHead(
            method: .get, target: HTTPTarget(path: "/a", query: "b"), version: .http2, fields: ["host": "h"])
        #expect(script.events() == [.dispatch(1, HTTPRequestMessage(head: head, body: []))])
        #expect(script.output() == [])
        script.respond(ok, to: 1)
        let frames = script.output()
        #expect(frames.map(\.type) == [1, 0])
        #expect(frames.last == .data(1, Array("yes".utf8)))
        let exchange = HTTPExchange(method: .get, startedAt: script.now, status: .ok)
        #expect(script.events() == [.finished(exchange)])
        #expect(!script.session.isFinished)
    }

    @Test func joinsABodyFromItsFrames() throws {
        let script = HTTP2Script()
        script.send(.request(1, "POST", flags: HTTP2Frame.endHeaders), .data(1, [1, 2], flags: 0))
        script.send(.data(1, [2, 3, 0, 0], flags: HTTP2Frame.padded))
        #expect(script.events() == [])
        script.send(.data(1, [4], flags: HTTP2Frame.endStream))
        let event = try #require(script.events().first)
        guard case .dispatch(1, let message) = event else { return #expect(Bool(false), "\(event)") }
        #expect(message.body == [1, 2, 3, 4])
        #expect(message.head.transfer.framing == .stream)
    }

    /// The first byte of the frame announces two bytes of padding, which do not belong to the body.
    @Test func dropsPadding() throws {
        let script = HTTP2Script()
        script.send(.request(1, "POST", flags: HTTP2Frame.endHeaders))
        script.send(.data(1, [2, 7, 0, 0], flags: HTTP2Frame.padded | HTTP2Frame.endStream))
        guard case .dispatch(1, let message)? = script.events().first else { return #expect(Bool(false)) }
        #expect(message.body == [7])
    }

    @Test func ignoresTrailersThatAreInOrder() throws {
        let script = HTTP2Script()
        script.send(.request(1, "POST", flags: HTTP2Frame.endHeaders), .data(1, [1], flags: 0))
        script.send(.headers(1, HPACKLiterals.block([("x", "y")])))
        guard case .dispatch(1, let message)? = script.events().first else { return #expect(Bool(false)) }
        #expect(message.body == [1])
        #expect(message.head.fields == ["host": "h"])
    }

    @Test(arguments: [("HEAD", HTTPStatus.ok), ("GET", .noContent), ("GET", .notModified)])
    func omitsBodiesThatMayNotBe(method: String, status: HTTPStatus) {
        let script = HTTP2Script()
        script.send(.request(1, method))
        script.respond(HTTPResponse(status: status, body: [1, 2, 3]), to: 1)
        let frames = script.output()
        #expect(frames.map(\.type) == [1])
        #expect(frames.allSatisfy { $0.flags & HTTP2Frame.endStream != 0 })
    }

    @Test func invitesABodyThatIsAcceptable() throws {
        let script = HTTP2Script { $0.bodySizeMaximum = 10 }
        let expecting = [("expect", "100-continue")]
        script.send(
            .request(1, "POST", more: expecting + [("content-length", "10")], flags: HTTP2Frame.endHeaders))
        // Nothing is sent before the handler has decided about the body.
        #expect(script.output() == [])
        #expect(script.events() == [])
        #expect(script.askedAbout == [1])
        let interim = script.output()
        #expect(interim.map(\.type) == [1])
        #expect(interim.first?.flags == HTTP2Frame.endHeaders)
        script.send(.data(1, [UInt8](repeating: 0, count: 10)))
        #expect(script.events().map(\.dispatchedStream) == [1])
        script.send(
            .request(3, "POST", more: expecting + [("content-length", "11")], flags: HTTP2Frame.endHeaders))
        #expect(script.output() == [])
        #expect(script.events() == [.refuse(3, .bodyTooLarge)])
    }

    /// The response ends before the request. The client may send for a while, and is then told to stop, without an
    /// error.
    @Test func letsAClientGoOnThatIsAnsweredEarly() {
        let script = HTTP2Script { $0.lingerSizeMaximum = 40_000 }
        script.send(.request(1, "POST", more: [("content-length", "100000")], flags: HTTP2Frame.endHeaders))
        #expect(script.events() == [.refuse(1, .bodyTooLarge)])
        script.send(.data(1, [UInt8](repeating: 0, count: 16384), flags: 0))
        script.respond(HTTPResponse(status: .contentTooLarge), to: 1)
        #expect(script.output().map(\.type) == [1])
        script.send(.data(1, [UInt8](repeating: 0, count: 16384), flags: 0))
        script.send(.data(1, [UInt8](repeating: 0, count: 40_000 - 2 * 16384), flags: 0))
        // The stream's window is returned.
        #expect(script.output().contains { $0.type == 8 && $0.streamID == 1 })
        script.send(.data(1, [0], flags: 0))
        #expect(script.output().last == .reset(1, code: 0))
        #expect(script.events() == [])
    }

    @Test func endsWithAClientThatIsAnsweredEarlyAndSendsTheRest() {
        let script = HTTP2Script()
        script.send(.request(1, "POST", more: [("content-length", "65537")], flags: HTTP2Frame.endHeaders))
        script.respond(HTTPResponse(status: .contentTooLarge), to: 1)
        #expect(script.output().map(\.type) == [1])
        for _ in 0..<4 { script.send(.data(1, [UInt8](repeating: 0, count: 16384), flags: 0)) }
        script.send(.data(1, [0]))
        #expect(script.output().allSatisfy { $0.type == 8 })
        #expect(script.session.nextDeadline == script.now + .seconds(60))
    }

    @Test func doesNotWaitLongForTheRestOfARefusedRequest() {
        let script = HTTP2Script()
        script.send(.request(1, "POST", more: [("content-length", "65537")], flags: HTTP2Frame.endHeaders))
        script.respond(HTTPResponse(status: .contentTooLarge), to: 1)
        #expect(script.output().map(\.type) == [1])
        script.advance(by: .seconds(2))
        #expect(script.output() == [.reset(1, code: 0)])
    }

    @Test func answersRequestsInAnyOrder() {
        let script = HTTP2Script()
        script.send(.request(1), .request(3), .request(5))
        #expect(script.events().map(\.dispatchedStream) == [1, 3, 5])
        script.respond(ok, to: 5)
        script.respond(ok, to: 1)
        #expect(script.output().map(\.streamID).sorted() == [1, 1, 5, 5])
        script.respond(ok, to: 3)
        #expect(script.output().map(\.streamID) == [3, 3])
    }

    @Test func dropsTheResponseToAStreamThatIsGone() {
        let script = HTTP2Script()
        script.send(.request(1), .reset(1))
        #expect(script.events().map(\.dispatchedStream) == [1])
        #expect(script.session.isAnswering)
        script.respond(ok, to: 1)
        #expect(!script.session.isAnswering)
        #expect(script.output() == [])
        #expect(script.events() == [])
    }

    // MARK: Malformed requests

    /// Faults that nghttp2 finds, and faults that the head reader finds.
    @Test(arguments: [
        [(":method", "GET"), (":scheme", "http"), (":authority", "h")],
        [(":method", "GET"), (":scheme", "http"), (":path", "/")],
        [(":method", "GET"), (":scheme", "http"), (":authority", "h"), (":path", "/"), ("X", "y")],
        [(":method", "GET"), (":scheme", "http"), (":authority", "h"), (":path", "/"), ("a b", "y")],
        [(":method", "GET"), (":scheme", "http"), (":authority", "h"), (":path", "/"), ("x", "y\n")],
        [(":method", "GET"), (":scheme", "http"), (":authority", "h"), (":path", "/"), ("x", " y")],
        [(":method", "GET"), (":scheme", "http"), (":authority", "h"), (":path", "/"), ("connection", "close")],
        [(":method", "GET"), (":scheme", "http"), (":authority", "h"), (":path", "/"), ("te", "gzip")],
        [(":method", "GET"), (":scheme", "http"), (":authority", "h"), (":path", "/"), ("host", "i")],
        [(":method", "GET"), (":scheme", "http"), (":authority", "h"), (":path", "/"), ("content-length", "1")],
        [(":method", "GET"), (":scheme", "http"), (":authority", "h i"), (":path", "/")],
        [(":method", "GET"), (":scheme", "ftp"), (":authority", "h"), (":path", "/")],
        [(":method", "GET"), (":scheme", "http"), (":authority", "h"), (":path", "x")],
        [(":method", "GET"), (":scheme", "http"), (":authority", "h"), (":path", "/a b")],
    ])
    func resetsAStreamWithAMalformedHead(fields: [(String, String)]) {
        let script = HTTP2Script()
        script.send(.headers(1, HPACKLiterals.block(fields)))
        #expect(script.output() == [.reset(1, code: 1)])
        let events = script.events()
        #expect(events.count == 1)
        guard case .dropped(.malformed)? = events.first else { return #expect(Bool(false), "\(events)") }
        // No other stream of the connection is affected.
        script.send(.request(3))
        #expect(script.events().map(\.dispatchedStream) == [3])
    }

    @Test(arguments: [1, 3])
    func resetsAStreamWhoseBodyDiffersFromItsLength(count: Int) {
        let script = HTTP2Script()
        script.send(.request(1, "POST", more: [("content-length", "2")], flags: HTTP2Frame.endHeaders))
        script.send(.data(1, [UInt8](repeating: 0, count: count)))
        #expect(script.output() == [.reset(1, code: 1)])
        #expect(script.events().compactMap(\.dispatchedStream) == [])
    }

    @Test(arguments: [
        HTTP2Frame.headers(1, HPACKLiterals.block([("x", "y")]), flags: HTTP2Frame.endHeaders),
        .headers(1, HPACKLiterals.block([(":path", "/")])),
        .headers(1, HPACKLiterals.block([("X", "y")])),
    ])
    func resetsAStreamWithAMalformedTrailer(trailer: HTTP2Frame) {
        let script = HTTP2Script()
        script.send(.request(1, "POST", flags: HTTP2Frame.endHeaders), trailer)
        #expect(script.output() == [.reset(1, code: 1)])
        #expect(script.events().compactMap(\.dispatchedStream) == [])
    }

    @Test(arguments: [
        ("BREW", "/", HTTPProblem.methodNotImplemented), ("TRACE", "/", .methodNotImplemented),
        ("GET", "/" + String(repeating: "a", count: 8192), .targetTooLong),
    ])
    func refusesWhatItDoesNotServe(method: String, path: String, problem: HTTPProblem) {
        let script = HTTP2Script()
        script.send(.request(1, method, path: path))
        #expect(script.events() == [.refuse(1, problem)])
        script.respond(HTTPResponse(status: problem.status), to: 1)
        #expect(script.output().map(\.type) == [1])
        #expect(script.events() == [])
    }

    @Test func givesTheHeadOfARefusedRequestOnce() {
        let script = HTTP2Script()
        script.send(.request(1, "POST", path: "/a?" + String(repeating: "&", count: 64)))
        script.send(.request(3, "POST", path: "/a", more: [("content-encoding", "gzip")], flags: HTTP2Frame.endHeaders))
        script.send(.request(5, "POST", path: "/a", more: [("content-length", "100000")], flags: HTTP2Frame.endHeaders))
        script.send(.request(7, "BREW", path: "/a"))
        #expect(
            script.events() == [
                .refuse(1, .tooManyParameters), .refuse(3, .contentCodingNotSupported), .refuse(5, .bodyTooLarge),
                .refuse(7, .methodNotImplemented),
            ])
        let paths = [1, 3, 5, 7].map { script.session.takeRefusedHead(of: $0)?.target.path }
        #expect(paths == ["/a", "/a", "/a", nil])
        #expect(script.session.takeRefusedHead(of: 1) == nil)
    }

    @Test func refusesConnect() {
        let script = HTTP2Script()
        script.send(.headers(1, HPACKLiterals.block([(":method", "CONNECT"), (":authority", "h:1")])))
        #expect(script.events() == [.refuse(1, .methodNotImplemented)])
    }

    // MARK: Errors of the connection

    static let fatalInputs: [(frames: [HTTP2Frame], code: UInt32)] = [
        ([.data(0, [])], 1),
        ([.data(1, [])], 1),
        ([.headers(0, [])], 1),
        ([.request(2)], 1),
        ([.request(1, flags: 0), .ping()], 1),
        ([.request(1, flags: 0), .continuation(3, [])], 1),
        ([.continuation(1, [])], 1),
        ([.headers(1, [0x80])], 9),
        ([.headers(1, [5, 0], flags: 13)], 1),
        ([.request(1), .request(1)], 5),
        ([.request(1), .data(1, [])], 5),
        ([.request(1), .reset(1), .data(1, [])], 5),
        ([.request(5), .request(3)], 1),
        ([.priority(0)], 1),
        ([HTTP2Frame(type: 2, stream: 1, payload: [0, 0, 0, 0])], 6),
        ([.reset(0)], 1),
        ([.reset(1)], 1),
        ([HTTP2Frame(type: 3, stream: 1, payload: [0])], 6),
        ([HTTP2Frame(type: 4, payload: [0])], 6),
        ([HTTP2Frame(type: 4, flags: 1, payload: [0, 1, 0, 0, 0, 0])], 6),
        ([HTTP2Frame(type: 4, stream: 1)], 1),
        ([.settings([(2, 2)])], 1),
        ([.settings([(4, 1 << 31)])], 3),
        ([.settings([(5, 1)])], 1),
        ([.settings([(5, 1 << 24)])], 1),
        ([HTTP2Frame(type: 5, flags: 4, stream: 1, payload: [0, 0, 0, 2])], 1),
        ([.ping([1])], 6),
        ([HTTP2Frame(type: 6, stream: 1, payload: [UInt8](repeating: 0, count: 8))], 1),
        ([HTTP2Frame(type: 7, stream: 1, payload: [UInt8](repeating: 0, count: 8))], 1),
        ([.windowUpdate(0, 0)], 1),
        ([.windowUpdate(0, .max >> 1)], 3),
        ([.windowUpdate(1, 1)], 1),
        ([HTTP2Frame(type: 8, payload: [1])], 6),
    ]

    @Test(arguments: fatalInputs)
    func endsAConnectionThatBreaksTheRules(frames: [HTTP2Frame], code: UInt32) {
        let script = HTTP2Script()
        script.send(frames.flatMap { $0.bytes() })
        #expect(script.goAwayCode() == code)
        #expect(script.events().contains(.dropped(.malformed(.connection))))
        #expect(script.session.isFinished)
        // From now on the session ignores its input.
        script.send(.request(101))
        #expect(script.events() == [])
        #expect(script.output() == [])
    }

    @Test func refusesAFrameThatIsTooLarge() {
        let script = HTTP2Script()
        script.send(HTTP2Frame.data(1, []).bytes(length: 16385))
        #expect(script.goAwayCode() == 6)
        #expect(script.session.isFinished)
    }

    @Test func refusesAnotherBeginning() {
        for start in [Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\rX".utf8), HTTP2Frame.preface + HTTP2Frame.ping().bytes()] {
            let script = HTTP2Script(isFresh: true)
            script.send(start)
            #expect(script.goAwayCode() == 1)
            #expect(script.events() == [.dropped(.malformed(.connection))])
            #expect(script.session.isFinished)
        }
    }

    @Test func ignoresWhatItDoesNotKnow() {
        let script = HTTP2Script()
        script.send(HTTP2Frame(type: 0xfa, flags: 0xff, stream: 7, payload: [1, 2, 3]), .settings([(0xffff, 1)]))
        #expect(script.output() == [.settingsAcknowledgement])
        script.send(.request(1))
        #expect(script.events().map(\.dispatchedStream) == [1])
    }

    @Test func answersAPing() {
        let script = HTTP2Script()
        script.send(.ping([1, 2, 3, 4, 5, 6, 7, 8]))
        #expect(script.output() == [.ping([1, 2, 3, 4, 5, 6, 7, 8], flags: 1)])
    }

    // MARK: However it is cut

    /// The same bytes give the same events and answers, however they are cut.
    @Test func doesTheSameHoweverItsInputIsCut() {
        var generator = SeededGenerator.announced("doesTheSameHoweverItsInputIsCut")
        let input =
            HTTP2Frame.preface
            + [
                .settings(), .settingsAcknowledgement, .request(1), .ping(),
                .request(3, "POST", more: [("content-length", "3")], flags: HTTP2Frame.endHeaders),
                .data(3, [1, 2, 3]), .request(5, "POST", flags: 0), .continuation(5, HPACKLiterals.block([("x", "y")])),
                .data(5, [9, 9], flags: 0), .headers(5, HPACKLiterals.block([("t", "u")])),
                .headers(7, HPACKLiterals.block([("x", "y")])), .windowUpdate(0, 5), .reset(1), .request(9, "HEAD"),
                .priority(11), HTTP2Frame(type: 99, payload: [1]), .request(13, "BREW"), .data(9, []),
            ].flatMap { (frame: HTTP2Frame) in frame.bytes() }

        func run(_ cut: (Int) -> Int) -> (events: [HTTP2Event], output: [[UInt8]]) {
            let script = HTTP2Script(isFresh: true)
            var (events, rest): ([HTTP2Event], ArraySlice<UInt8>) = ([], input[...])
            while !rest.isEmpty {
                let count = min(rest.count, cut(rest.count))
                script.send(Array(rest.prefix(count)))
                rest = rest.dropFirst(count)
                events += script.events()
            }
            // The order of frames from different streams does not matter, so the answers are compared at the end.
            return (events, script.output().map { $0.bytes() })
        }

        let whole = run { $0 }
        #expect(whole.events.compactMap(\.dispatchedStream) == [1, 3, 5, 9])
        #expect(whole.events.suffix(2) == [.refuse(13, .methodNotImplemented), .dropped(.malformed(.connection))])
        for _ in 0..<200 {
            let cutting = run { Int.random(in: 1...max(1, min($0, 40)), using: &generator) }
            #expect(cutting.events == whole.events)
            #expect(cutting.output == whole.output)
        }
    }

    /// Random bytes after a valid beginning cause no trap and no hang. The session ends with GOAWAY or stays silent.
    @Test func survivesNonsense() {
        var generator = SeededGenerator.announced("survivesNonsense")
        for _ in 0..<300 {
            let script = HTTP2Script()
            for _ in 0..<Int.random(in: 1...20, using: &generator) {
                var frame = HTTP2Frame(
                    // All types except GOAWAY, after which the client would end the connection.
                    type: [0, 1, 2, 3, 4, 5, 6, 8, 9, 10].randomElement(using: &generator) ?? 0,
                    flags: UInt8.random(in: 0...255, using: &generator),
                    stream: UInt32.random(in: 0...9, using: &generator),
                    payload: generator.bytes(count: Int.random(in: 0...40, using: &generator)))
                if frame.type == 1 && Bool.random(using: &generator) {
                    frame = .request(UInt32.random(in: 0...20, using: &generator) | 1, flags: frame.flags & 5)
                }
                script.send(frame)
                for event in script.events() {
                    if let id = event.dispatchedStream { script.respond(ok, to: id) }
                }
            }
            let goAways = script.output().filter { $0.type == 7 }
            #expect(script.session.isFinished == !goAways.isEmpty)
            #expect(!script.session.hasFailed)
        }
    }
}
