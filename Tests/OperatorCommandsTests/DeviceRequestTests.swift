import ByteCoding
import FairPlay
import Foundation
import TestSupport
import Testing

@Suite(.tags(.startsProcesses)) struct DeviceRequestTests {
    private let fixture: DevelopmentFixture

    init() throws {
        fixture = try DevelopmentFixture()
    }

    private func request(_ url: String, _ more: [String] = []) async throws -> LatchkeyProcess {
        try await LatchkeyProcess(
            arguments: ["device", "request", "--url", url, "--token", "a.b.c"] + fixture.deviceArguments() + more)
    }

    private func response(_ status: String, _ fields: [String] = [], body: [UInt8]) -> [UInt8] {
        let head = ["HTTP/1.1 \(status)", "Content-Length: \(body.count)", "Connection: close"] + fields
        return Array((head.joined(separator: "\r\n") + "\r\n\r\n").utf8) + body
    }

    @Test func saysThatNobodyAnswers() async throws {
        // Port 1 is reserved, and nothing listens there.
        let run = try await request("http://127.0.0.1:1", ["--json"])
        #expect(run.status == 1)
        #expect(run.output.isEmpty)
        #expect(run.messages.contains("nothing answers at 127.0.0.1:1"))
        #expect(run.messages.contains("latchkeyd"))
    }

    @Test(arguments: ["", "127.0.0.1:8080", "ftp://127.0.0.1", "http://", "http://user:pass@127.0.0.1", "nonsense"])
    func refusesABadURL(url: String) async throws {
        let run = try await request(url)
        #expect(run.status == 2)
        #expect(run.messages.contains("--url"))
        #expect(!run.messages.contains("pass@"))
    }

    @Test func sendsARawSPCAndTheTokenToTheLicenseRoute() async throws {
        let server = try OneAnswerServer(answer: response("404 Not Found", body: []))
        let run = try await request(server.url)
        #expect(run.status == 1)
        #expect(server.request.hasPrefix("POST /fps/license HTTP/1.1\r\n"))
        #expect(server.request.contains("Authorization: Bearer a.b.c\r\n"))
        #expect(server.request.contains("Content-Type: application/octet-stream\r\n"))
    }

    @Test func keepsAPathThatIsGiven() async throws {
        let server = try OneAnswerServer(answer: response("404 Not Found", body: []))
        _ = try await request(server.url + "/other/route?x=1")
        #expect(server.request.hasPrefix("POST /other/route?x=1 HTTP/1.1\r\n"))
    }

    @Test func tellsWhatAProblemSays() async throws {
        let problem =
            #"{"status":401,"code":"token_expired","detail":"The token has expired.\u001b[31m","hint":"Mint another."}"#
        let fields = ["X-Request-Id: 0badcafe", "Content-Type: application/problem+json"]
        let server = try OneAnswerServer(answer: response("401 Unauthorized", fields, body: Array(problem.utf8)))
        let run = try await request(server.url, ["--json"])
        #expect(run.status == 1)
        #expect(run.output.isEmpty)
        for part in ["401", "token_expired", "0badcafe", "Mint another."] { #expect(run.messages.contains(part)) }
        #expect(!run.messages.contains("\u{1B}"))
        #expect(!run.messages.contains("a.b.c"))
    }

    @Test func followsNoRedirection() async throws {
        let target = try OneAnswerServer(answer: response("200 OK", body: []))
        let server = try OneAnswerServer(
            answer: response("307 Temporary Redirect", ["Location: \(target.url)/"], body: []))
        let run = try await request(server.url)
        #expect(run.status == 1)
        #expect(run.messages.contains("307"))
        #expect(target.request.isEmpty)
        target.stop()
    }

    @Test(arguments: [0, 100, 300_000])
    func refusesAnAnswerThatIsNoCKC(size: Int) async throws {
        let server = try OneAnswerServer(answer: response("200 OK", body: [UInt8](repeating: 1, count: size)))
        let run = try await request(server.url, ["--json"])
        #expect(run.status == 1)
        #expect(run.output.isEmpty)
        #expect(!run.messages.isEmpty)
    }

    @Test func refusesTheAnswerToAnotherSPC() async throws {
        let other = fixture.folder.path("other.spc")
        let made = try await LatchkeyProcess(
            arguments: ["device", "make-spc", "--output", other] + fixture.deviceArguments())
        #expect(made.status == 0)
        let key = [UInt8](repeating: 0xAB, count: 16)
        let body = try fixture.answer(fixture.folder.read("other.spc"), contentKey: key, iv: .zero)
        let server = try OneAnswerServer(answer: response("200 OK", body: body))
        let run = try await request(server.url)
        #expect(run.status == 1)
        #expect(run.output.isEmpty)
        #expect(run.messages.contains("another SPC"))
        #expect(!run.messages.contains("abababab"))
    }

    @Test func refusesATokenThatCannotStandInAField() async throws {
        let run = try await LatchkeyProcess(
            arguments: ["device", "request", "--url", "http://127.0.0.1:1", "--token", "a\r\nX: b"]
                + fixture.deviceArguments())
        #expect(run.status == 1)
        #expect(run.messages.contains("--token"))
    }
}
