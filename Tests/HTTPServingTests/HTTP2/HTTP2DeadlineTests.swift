import HTTPMessages
import Telemetry
import TestSupport
import Testing

@testable import HTTPServing

/// Deadlines of a session, on a clock that the test moves.
@Suite struct HTTP2DeadlineTests {
    private let ok = HTTPResponse(status: .ok)
    private let open = HTTP2Frame.endHeaders
    private let instant = Duration.nanoseconds(1)

    @Test(arguments: [0, 10, 24, 30])
    func waitsForThePrefaceAndItsSettings(count: Int) {
        let script = HTTP2Script(isFresh: true)
        _ = script.output()
        script.send(Array((HTTP2Frame.preface + HTTP2Frame.settings().bytes()).prefix(count)))
        script.advance(by: .seconds(5) - instant)
        #expect(!script.session.isFinished)
        script.advance(by: instant)
        #expect(script.goAwayCode() == 4)
        #expect(script.events() == [.dropped(.headTimeout), .abused(.slowHead)])
        #expect(script.session.isFinished)
    }

    @Test func waitsForTheAcknowledgementOfItsSettings() {
        let script = HTTP2Script(isFresh: true)
        _ = script.output()
        script.send(HTTP2Frame.preface + HTTP2Frame.settings().bytes())
        script.send(.request(1))
        script.advance(by: .seconds(10) - instant)
        #expect(script.goAwayCode() == nil)
        script.advance(by: instant)
        #expect(script.goAwayCode() == 4)
    }

    /// A header block has one deadline as a whole: another piece does not move the deadline.
    @Test func endsAConnectionWhoseHeaderBlockIsSlow() {
        let script = HTTP2Script()
        script.send(.request(1, flags: 0))
        script.advance(by: .seconds(3))
        script.send(.continuation(1, [], flags: 0))
        script.advance(by: .seconds(2) - instant)
        #expect(script.goAwayCode() == nil)
        script.advance(by: instant)
        #expect(script.goAwayCode() == 11)
        #expect(script.events() == [.dropped(.headTimeout), .abused(.slowHead)])
    }

    @Test func endsAConnectionWhoseFrameIsSlow() {
        let script = HTTP2Script()
        script.send(Array(HTTP2Frame.ping().bytes().dropLast()))
        script.advance(by: .seconds(5))
        #expect(script.goAwayCode() == 11)
    }

    @Test func startsAnewForTheNextHeaderBlock() {
        let script = HTTP2Script()
        script.send(.request(1, flags: 1))
        script.advance(by: .seconds(4))
        script.send(.continuation(1, []), .request(3, flags: 1))
        script.advance(by: .seconds(5) - instant)
        #expect(script.goAwayCode() == nil)
        script.advance(by: instant)
        #expect(script.goAwayCode() == 11)
        #expect(script.events().map(\.dispatchedStream) == [1, nil, nil])
    }

    @Test func refusesABodyThatComesTooSlowly() {
        let script = HTTP2Script {
            $0.bodyRateMinimum = 10
            $0.bodyGrace = .seconds(2)
        }
        script.send(.request(1, "POST", flags: open), .request(3))
        for _ in 0..<4 {
            script.send(.data(1, [UInt8](repeating: 0, count: 10), flags: 0))
            script.advance(by: .seconds(1))
        }
        #expect(script.events().map(\.dispatchedStream) == [3])
        script.advance(by: .seconds(2))
        #expect(script.events() == [.refuse(1, .bodyTimeout)])
        script.respond(HTTPResponse(status: .requestTimeout), to: 1)
        #expect(script.output().map(\.type) == [1])
        // Only the stream has ended, not the connection.
        script.respond(ok, to: 3)
        #expect(script.output().map(\.streamID) == [3])
    }

    /// When a request does not end in time for the second time, the connection ends, but only after the other requests
    /// are answered.
    @Test func endsAConnectionWhoseBodiesAreSlow() {
        let script = HTTP2Script()
        script.send(.request(1, "POST", flags: open), .request(3))
        #expect(script.events().compactMap(\.dispatchedStream) == [3])
        script.advance(by: .seconds(5))
        #expect(script.events() == [.refuse(1, .bodyTimeout)])
        script.respond(HTTPResponse(status: .requestTimeout), to: 1)
        #expect(script.output().map(\.type) == [1])
        _ = script.events()
        script.advance(by: .seconds(2))
        #expect(script.events() == [.abused(.slowBody)])
        script.respond(ok, to: 3)
        #expect(script.output().contains { $0.type == 1 && $0.streamID == 3 })
        script.advance(by: .seconds(1))
        #expect(script.goAwayCode() == 0)
        #expect(script.session.isFinished)
    }

    /// A client could keep its connection busy with requests that are refused by their heads and never end.
    @Test func endsAConnectionWhoseRefusedRequestsDoNotEnd() {
        let script = HTTP2Script()
        script.decision = .refuse(HTTPResponse(status: .unauthorized))
        script.send(.request(1, "POST", flags: open), .request(3, "POST", flags: open))
        #expect(script.events() == [])
        #expect(script.output().map(\.type) == [1, 1])
        _ = script.events()
        script.advance(by: .seconds(2) - instant)
        #expect(script.events() == [])
        script.advance(by: instant)
        #expect(script.events() == [.abused(.slowBody)])
        #expect(script.output().filter { $0.type == 3 }.count == 2)
        script.advance(by: .seconds(1))
        #expect(script.goAwayCode() == 0)
        #expect(script.session.isFinished)
    }

    /// The connection of a trusted proxy also serves other clients, so it stays open.
    @Test func keepsATrustedProxyOneOfWhoseBodiesIsSlow() {
        let script = HTTP2Script(isTrustedProxy: true)
        script.send(.request(1, "POST", flags: open))
        script.advance(by: .seconds(5))
        #expect(script.events() == [.refuse(1, .bodyTimeout)])
        script.respond(HTTPResponse(status: .requestTimeout), to: 1)
        #expect(script.output().map(\.type) == [1])
        script.advance(by: .seconds(2))
        #expect(script.output() == [.reset(1, code: 0)])
        script.send(.request(3))
        #expect(script.events().compactMap(\.dispatchedStream) == [3])
    }

    @Test func refusesABodyThatTakesTooLongInAll() {
        let script = HTTP2Script { $0.bodyRateMinimum = 0 }
        script.send(.request(1, "POST", flags: open))
        script.advance(by: .seconds(30) - instant)
        #expect(script.events() == [])
        script.advance(by: instant)
        #expect(script.events() == [.refuse(1, .bodyTimeout)])
    }

    /// While the handler works, no deadline of the session runs, because the handler has its own.
    @Test func waitsForTheHandler() {
        let script = HTTP2Script()
        script.send(.request(1))
        #expect(script.session.nextDeadline == .distantFuture)
        script.advance(by: .seconds(100_000))
        script.respond(ok, to: 1)
        #expect(script.output().map(\.type) == [1])
    }

    /// If a client opens no window for a response, its stream stays open only for a limited time.
    @Test func resetsAResponseThatTheClientDoesNotTake() {
        let script = HTTP2Script()
        script.send(.settings([(4, 10)]), .request(1))
        script.respond(HTTPResponse(status: .ok, body: [UInt8](repeating: 7, count: 11)), to: 1)
        #expect(script.output().last == .data(1, [UInt8](repeating: 7, count: 10), flags: 0))
        script.advance(by: .seconds(30) - instant)
        #expect(script.output() == [])
        script.advance(by: instant)
        #expect(script.output() == [.reset(1, code: 8)])
        #expect(script.events().map(\.dispatchedStream) == [1])
        #expect(!script.session.isFinished)
    }

    @Test func sendsOnWhenTheClientOpensItsWindow() {
        let script = HTTP2Script()
        script.send(.settings([(4, 10)]), .request(1))
        script.respond(HTTPResponse(status: .ok, body: [UInt8](repeating: 7, count: 11)), to: 1)
        _ = script.output()
        script.send(.windowUpdate(1, 1))
        #expect(script.output() == [.data(1, [7])])
    }

    /// PINGs do not keep a connection without requests open.
    @Test func endsAnIdleConnection() {
        let script = HTTP2Script()
        for _ in 0..<5 {
            script.advance(by: .seconds(10))
            script.send(.ping())
            #expect(script.output().map(\.type) == [6])
        }
        script.send(.request(1))
        script.respond(ok, to: 1)
        _ = script.output()
        script.advance(by: .seconds(60) - instant)
        #expect(script.output() == [])
        script.advance(by: instant)
        #expect(script.goAwayCode() == 0)
        #expect(script.session.isFinished)
    }

    // MARK: The end

    @Test func drainsInTwoSteps() {
        let script = HTTP2Script()
        script.send(.request(1))
        script.session.beginDrain(now: script.now)
        let notice = script.output()
        #expect(notice.map(\.type) == [7, 6])
        #expect(notice[0].payload == [0x7f, 0xff, 0xff, 0xff, 0, 0, 0, 0])
        // A request that was on its way is still served.
        script.send(.request(3), .ping(notice[1].payload, flags: 1))
        #expect(script.output() == [HTTP2Frame(type: 7, payload: [0, 0, 0, 3, 0, 0, 0, 0])])
        script.send(.request(5))
        #expect(script.events().map(\.dispatchedStream) == [1, 3])
        script.respond(ok, to: 3)
        #expect(script.output().map(\.streamID) == [3])
        #expect(!script.session.isFinished)
        script.respond(ok, to: 1)
        #expect(script.output().map(\.streamID) == [1])
        #expect(script.session.isFinished)
    }

    @Test func doesNotWaitLongForAnAnswerToItsNotice() {
        let script = HTTP2Script()
        script.session.beginDrain(now: script.now)
        _ = script.output()
        script.advance(by: .seconds(1) - instant)
        #expect(script.output() == [])
        script.advance(by: instant)
        #expect(script.goAwayCode() == 0)
        #expect(script.session.isFinished)
    }

    @Test func answersWhatIsCompleteWhenTheClientEnds() {
        let script = HTTP2Script()
        script.send(.request(1), .request(3, "POST", flags: open), .data(3, [1], flags: 0))
        script.session.inputEnded(now: script.now)
        #expect(script.output().map(\.type).sorted() == [3, 7])
        #expect(!script.session.isFinished)
        script.respond(ok, to: 1)
        #expect(script.output().map(\.streamID) == [1])
        #expect(script.session.isFinished)
    }

    @Test func endsWhenTheClientSaysGoodbye() {
        let script = HTTP2Script()
        script.send(.request(1), .goAway())
        #expect(!script.session.isFinished)
        script.respond(ok, to: 1)
        _ = script.output()
        #expect(script.session.isFinished)
    }

    @Test func endsAfterAResponseThatClosesTheConnection() {
        let script = HTTP2Script()
        script.send(.request(1))
        script.respond(HTTPResponse(status: .ok, closesConnection: true), to: 1)
        #expect(Set(script.output().map(\.type)) == [7, 6, 1])
        script.advance(by: .seconds(1))
        #expect(script.goAwayCode() == 0)
        #expect(script.session.isFinished)
    }
}
