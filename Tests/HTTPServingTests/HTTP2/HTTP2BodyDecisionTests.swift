import HTTPMessages
import TestSupport
import Testing

@testable import HTTPServing

/// Decisions about bodies whose heads arrive before them.
@Suite struct HTTP2BodyDecisionTests {
    private let open = HTTP2Frame.endHeaders
    private let length = [("content-length", "60000")]

    /// A body that has arrived completely is always kept.
    @Test func doesNotAskAboutARequestThatIsComplete() {
        let script = HTTP2Script()
        script.send(.request(1), .request(3, "POST", flags: open), .data(3, [1, 2]))
        #expect(script.events().compactMap(\.dispatchedStream) == [1, 3])
        #expect(script.askedAbout == [])
    }

    @Test func asksOnceAndKeepsTheBody() {
        let script = HTTP2Script()
        script.send(.request(1, "POST", flags: open))
        #expect(script.events() == [])
        script.send(.data(1, [1, 2], flags: 0))
        #expect(script.events() == [])
        script.send(.data(1, [3]))
        guard case .dispatch(1, let message) = script.events().first else {
            Issue.record("no request")
            return
        }
        #expect(message.body == [1, 2, 3])
        #expect(script.askedAbout == [1])
    }

    /// The part of the body that arrived with the head is dropped, and so is the rest.
    @Test func refusesByTheHeadAndKeepsNothing() {
        let script = HTTP2Script()
        script.decision = .refuse(HTTPResponse(status: .unauthorized))
        script.send(
            .request(1, "POST", more: length, flags: open), .data(1, [UInt8](repeating: 0, count: 16_384), flags: 0))
        #expect(script.session.heldMemory.bodies == 16_384)
        #expect(script.events() == [])
        #expect(script.session.heldMemory == HeldMemory(connection: HeldMemory.http2Size))
        #expect(script.session.reservedSize == 0)
        #expect(script.output().contains { $0.type == 1 && $0.streamID == 1 })
        #expect(script.events().compactMap(\.finishedStatus) == [.unauthorized])
        script.send(.data(1, [UInt8](repeating: 0, count: 16_384), flags: 0))
        #expect(script.session.heldMemory.bodies == 0)
        // The client may send the rest, and its next request is served.
        script.send(.data(1, [UInt8](repeating: 0, count: 16_384), flags: 0))
        script.send(.data(1, [UInt8](repeating: 0, count: 60_000 - 3 * 16_384)))
        script.decision = .keep
        script.send(.request(3))
        #expect(script.events().compactMap(\.dispatchedStream) == [3])
    }

    /// The answer does not depend on the body, so the body takes time but no memory.
    @Test func dropsABodyAndAnswersWithoutIt() {
        let script = HTTP2Script { $0.bodySizeMaximum = 60_000 }
        script.decision = .drop
        script.send(.request(1, "POST", more: length, flags: open), .data(1, [1, 2, 3], flags: 0))
        #expect(script.events() == [])
        for _ in 0..<3 { script.send(.data(1, [UInt8](repeating: 0, count: 16_384), flags: 0)) }
        #expect(script.session.heldMemory.bodies == 0)
        #expect(script.session.heldMemory.heads > 0)
        #expect(script.session.reservedSize == 0)
        script.send(.data(1, [UInt8](repeating: 0, count: 60_000 - 3 - 3 * 16_384)))
        guard case .dispatch(1, let message) = script.events().first else {
            Issue.record("no request")
            return
        }
        #expect(message.body == [])
        #expect(script.session.heldMemory.heads == 0)
        #expect(script.askedAbout == [1])
    }

    /// The limits of bodies also apply to dropped bodies.
    @Test(arguments: [0, 1])
    func limitsBodiesThatAreDropped(excess: Int) {
        let script = HTTP2Script { $0.bodySizeMaximum = 1000 }
        script.decision = .drop
        script.send(.request(1, "POST", flags: open))
        #expect(script.events() == [])
        script.send(.data(1, [UInt8](repeating: 0, count: 600), flags: 0))
        script.send(.data(1, [UInt8](repeating: 0, count: 400 + excess)))
        if excess == 0 {
            #expect(script.events().map(\.dispatchedStream) == [1])
        } else {
            #expect(script.events() == [.refuse(1, .bodyTooLarge)])
        }
    }

    /// The client gets the refusal instead of the interim response.
    @Test func doesNotInviteABodyThatIsRefused() {
        let script = HTTP2Script()
        script.decision = .refuse(HTTPResponse(status: .unauthorized))
        script.send(.request(1, "POST", more: length + [("expect", "100-continue")], flags: open))
        #expect(script.events() == [])
        let frames = script.output().filter { $0.streamID == 1 }
        #expect(frames.map(\.type) == [1])
        #expect(frames.first?.flags == HTTP2Frame.endHeaders | HTTP2Frame.endStream)
    }

    /// The client may reset the stream before the handler decides.
    @Test func decidesAboutAStreamThatHasGone() {
        let script = HTTP2Script()
        script.decision = .refuse(HTTPResponse(status: .unauthorized))
        script.send(.request(1, "POST", flags: open), .reset(1))
        #expect(script.events() == [])
        script.session.decided(.drop, about: 1, date: HTTP2Script.date, now: script.now)
        #expect(script.session.inFlightCount == 0)
        #expect(script.output() == [])
    }
}

extension HTTP2Event {
    /// The status of an answer that was sent.
    fileprivate var finishedStatus: HTTPStatus? {
        if case .finished(let exchange) = self { exchange.status } else { nil }
    }
}
