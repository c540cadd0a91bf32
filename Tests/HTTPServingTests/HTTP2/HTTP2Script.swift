import HTTPMessages
import Telemetry
import TestSupport

@testable import HTTPServing

/// A session in memory, and a client that can send any frames to it.
final class HTTP2Script {
    let session: HTTP2Session
    /// The handler's decision about every body.
    var decision = HTTPBodyDecision.keep
    /// The streams about whose bodies the handler was asked.
    private(set) var askedAbout: [Int32] = []
    private(set) var now = MonotonicTime(nanoseconds: 1_000_000_000)

    static let date = Array("Sun, 06 Nov 1994 08:49:37 GMT".utf8)

    /// Makes a session. Unless `isFresh`, the preface and the SETTINGS have been exchanged.
    init(isFresh: Bool = false, isTrustedProxy: Bool = false, _ change: (inout HTTPLimits) -> Void = { _ in }) {
        var limits = HTTPLimits()
        change(&limits)
        session = HTTP2Session(limits: limits, isTrustedProxy: isTrustedProxy, now: now)
        if isFresh { return }
        send(HTTP2Frame.preface + HTTP2Frame.settings().bytes() + HTTP2Frame.settingsAcknowledgement.bytes())
        _ = output()
    }

    /// Sends bytes to the session, in as many turns as it needs.
    func send(_ bytes: [UInt8]) {
        var start = 0
        repeat {
            start += session.receive(bytes.span.extracting(start..<bytes.count), now: now)
        } while start < bytes.count
    }

    /// Sends bytes in one turn, and returns the number of bytes that the session takes.
    func sendInOneTurn(_ bytes: [UInt8]) -> Int {
        session.receive(bytes.span, now: now)
    }

    func send(_ frames: HTTP2Frame...) {
        send(frames.flatMap { $0.bytes() })
    }

    /// All frames that the session sends now.
    func output() -> [HTTP2Frame] {
        HTTP2Frame.parse(rawOutput())
    }

    func rawOutput() -> [UInt8] {
        var bytes: [UInt8] = []
        session.write(to: &bytes, sizeMaximum: 1 << 30, now: now)
        return bytes
    }

    /// The session's events. Questions about bodies are answered with `decision` and left out.
    func events() -> [HTTP2Event] {
        session.takeEvents().filter { event in
            guard case .decideBody(let id, _) = event else { return true }
            askedAbout.append(id)
            session.decided(decision, about: id, date: Self.date, now: now)
            return false
        }
    }

    func respond(_ response: HTTPResponse, to id: Int32) {
        session.respond(response, to: id, date: Self.date, now: now)
    }

    /// Moves the clock, and lets the session act if its deadline has passed.
    func advance(by duration: Duration) {
        now = now + duration
        if session.nextDeadline <= now { session.deadlinePassed(now: now) }
    }

    /// The error code of the GOAWAY that the session sends, or `nil` if it sends none.
    func goAwayCode() -> UInt32? { output().last { $0.type == 7 }?.errorCode }
}

extension HTTP2Frame {
    /// The HEADERS of a request: GET without a body, or POST with the given fields.
    static func request(
        _ stream: UInt32, _ method: String = "GET", path: String = "/", more: [(String, String)] = [],
        flags: UInt8 = endStream | endHeaders
    ) -> HTTP2Frame {
        let fields = [(":method", method), (":scheme", "http"), (":authority", "h"), (":path", path)] + more
        return headers(stream, HPACKLiterals.block(fields), flags: flags)
    }
}

extension HTTP2Event {
    /// The stream of the request if this event dispatches one.
    var dispatchedStream: Int32? {
        if case .dispatch(let id, _) = self { return id }
        return nil
    }
}
