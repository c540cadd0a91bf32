import Foundation
import Testing

@testable import HTTPCalls

/// Loads of a loopback server whose answers the test chooses.
@Suite struct HTTPLoadTests {
    /// A source of a fixed number of requests, each due after the one before by an interval.
    private final class Source: HTTPLoadSource {
        private let count: Int
        private let interval: Duration
        private let start = ContinuousClock.now
        private var next = 0
        var answers: [HTTPLoadAnswer] = []
        var isEarly = false

        init(_ count: Int, every interval: Duration = .zero) {
            self.count = count
            self.interval = interval
        }

        func next(at now: ContinuousClock.Instant) -> HTTPLoadStep {
            guard next < count else { return .end }
            let due = start + interval * next
            guard due <= now else { return .wait(until: due) }
            defer { next += 1 }
            return .send(HTTPLoadRequest(number: next, body: [UInt8(next % 256)], bearer: "token-\(next)"))
        }

        func take(_ answer: HTTPLoadAnswer, at now: ContinuousClock.Instant) {
            if now < start + interval * answer.number { isEarly = true }
            answers.append(answer)
        }
    }

    private func settings(_ port: UInt16, _ adjust: (inout HTTPLoadSettings) -> Void = { _ in }) -> HTTPLoadSettings {
        var settings = HTTPLoadSettings(url: "http://127.0.0.1:\(port)/fps/license")
        settings.timeout = .seconds(20)
        adjust(&settings)
        return settings
    }

    private static let good = "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nckc"

    @Test func sendsEveryRequestOnceOverOneConnection() throws {
        let server = try AnsweringServer(Self.good)
        let source = Source(50)
        try HTTPLoad(settings(server.port)).run(source)
        #expect(source.answers.map(\.number) == Array(0..<50))
        #expect(source.answers.reduce(0) { $0 + $1.newConnections } == 1)
        for answer in source.answers {
            guard case .answered(200, nil, "1.1", let body) = answer.outcome else {
                Issue.record("\(answer)")
                continue
            }
            #expect(body == Array("ckc".utf8))
        }
        let lines = server.lastRequest.components(separatedBy: "\r\n")
        #expect(lines.first == "POST /fps/license HTTP/1.1")
        #expect(lines.contains("Authorization: Bearer token-49"))
        #expect(lines.last == "1")
    }

    @Test func opensANewConnectionForEachRequest() throws {
        let server = try AnsweringServer(Self.good)
        let source = Source(5)
        try HTTPLoad(settings(server.port) { $0.startsNewConnections = true }).run(source)
        #expect(source.answers.map(\.newConnections) == [1, 1, 1, 1, 1])
        #expect(server.connectionCount == 5)
    }

    @Test func sendsNoRequestBeforeItIsDue() throws {
        let server = try AnsweringServer(Self.good)
        let source = Source(20, every: .microseconds(1_500))
        try HTTPLoad(settings(server.port)).run(source)
        #expect(source.answers.count == 20)
        #expect(!source.isEarly)
    }

    @Test func keepsAllConnectionsBusy() throws {
        let server = try GatedServer(gathered: 40)
        let source = Source(40)
        // The server answers only when all 40 requests wait at the same time.
        try HTTPLoad(settings(server.port) { $0.connectionCount = 40 }).run(source)
        #expect(source.answers.count == 40)
        #expect(source.answers.reduce(0) { $0 + $1.newConnections } == 40)
    }

    @Test func givesTheCodeOfARefusal() throws {
        let server = try AnsweringServer(
            "HTTP/1.1 429 Too Many Requests\r\nx-error-code: overloaded\r\nContent-Length: 0\r\n\r\n")
        let source = Source(1)
        try HTTPLoad(settings(server.port)).run(source)
        guard case .answered(429, "overloaded", _, _) = source.answers.first?.outcome else {
            Issue.record("\(source.answers)")
            return
        }
    }

    @Test func reportsARequestWithoutAnAnswer() throws {
        let source = Source(3)
        // Port 1 is reserved, and nothing listens there.
        try HTTPLoad(settings(1)).run(source)
        #expect(source.answers.count == 3)
        for answer in source.answers {
            guard case .failed(let text) = answer.outcome else {
                Issue.record("\(answer)")
                continue
            }
            #expect(text.contains("connect"))
        }
    }

    @Test func refusesAnAnswerThatIsTooLarge() throws {
        let server = try AnsweringServer(Self.good)
        let source = Source(1)
        try HTTPLoad(settings(server.port) { $0.answerSizeMaximum = 2 }).run(source)
        guard case .failed(let text) = source.answers.first?.outcome else {
            Issue.record("an answer")
            return
        }
        #expect(text.contains("too large"))
    }
}
