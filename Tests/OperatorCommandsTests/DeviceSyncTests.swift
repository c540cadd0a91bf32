import ByteCoding
import Foundation
import TestSupport
import Testing

/// `device sync` with made-up answers. The integration tests use the daemon.
@Suite(.tags(.startsProcesses)) struct DeviceSyncTests {
    private let fixture: DevelopmentFixture

    init() throws {
        fixture = try DevelopmentFixture()
    }

    private func sync(_ url: String, _ more: [String]) async throws -> LatchkeyProcess {
        try await LatchkeyProcess(
            arguments: ["device", "sync", "--url", url, "--token", "a.b.c"] + fixture.deviceArguments() + more)
    }

    private func response(_ status: String, _ body: String) -> [UInt8] {
        let head = ["HTTP/1.1 \(status)", "Content-Length: \(body.utf8.count)", "Connection: close"]
        return Array((head.joined(separator: "\r\n") + "\r\n\r\n" + body).utf8)
    }

    private static let version1 =
        #"{"offline-sync":{"version":1,"duration-to-expiry":60,"content-id":"000102030405060708090a0b0c0d0e0f"},"#
        + #""expiresInSeconds":60,"expirationDate":"2026-01-01T00:00:00Z","challengeAccepted":false}"#
    private static let version1Words = [
        "--sync-version", "1", "--content-id", "000102030405060708090a0b0c0d0e0f", "--remaining", "60",
    ]

    @Test func printsTheAnswerAsItCame() async throws {
        let server = try OneAnswerServer(answer: response("200 OK", Self.version1))
        let run = try await sync(server.url, Self.version1Words + ["--json"])
        #expect(run.status == 0, "\(run.messages)")
        #expect(run.output == Self.version1 + "\n")
        #expect(server.request.hasPrefix("POST /fps/license HTTP/1.1\r\n"))
        #expect(server.request.contains("Accept: application/json\r\n"))
    }

    @Test func printsTheAnswerForAPerson() async throws {
        let server = try OneAnswerServer(answer: response("200 OK", Self.version1))
        let run = try await sync(server.url, Self.version1Words)
        #expect(run.status == 0, "\(run.messages)")
        for part in ["duration-to-expiry", "000102030405060708090a0b0c0d0e0f", "expirationDate"] {
            #expect(run.output.contains(part))
        }
    }

    @Test(arguments: [
        (version1.replacing("60,", with: "61,"), "duration-to-expiry"),
        (version1.replacing("\"version\":1", with: "\"version\":2"), "version"),
        (version1.replacing("0e0f", with: "0e0e"), "content-id"),
        (version1.replacing("offline-sync", with: "offline"), "did not treat the SPC as a sync SPC"),
        ("{}", "did not treat the SPC as a sync SPC"), ("", "did not treat the SPC as a sync SPC"),
        ("<html></html>", "HTML"),
    ])
    func refusesAnAnswerThatDoesNotRepeatTheReport(body: String, expected: String) async throws {
        let server = try OneAnswerServer(answer: response("200 OK", body))
        let run = try await sync(server.url, Self.version1Words)
        #expect(run.status == 1)
        #expect(run.output.isEmpty)
        #expect(run.messages.contains(expected), "\(run.messages)")
    }

    @Test func saysThatALicenseIsNoAnswerToASync() async throws {
        let made = try await LatchkeyProcess(
            arguments: ["device", "make-spc", "--output", fixture.folder.path("a.spc")] + fixture.deviceArguments())
        #expect(made.status == 0)
        let ckc = try fixture.answer(fixture.folder.read("a.spc"), contentKey: [UInt8](0..<16), iv: .zero)
        let head = "HTTP/1.1 200 OK\r\nContent-Length: \(ckc.count)\r\nConnection: close\r\n\r\n"
        let server = try OneAnswerServer(answer: Array(head.utf8) + ckc)
        let run = try await sync(server.url, Self.version1Words)
        #expect(run.status == 1)
        #expect(run.messages.contains("a CKC"))
    }

    // MARK: Challenges

    @Test(arguments: [
        ("", "/fps/challenge"), ("/fps/v1/license/", "/fps/v1/challenge"), ("/hms/fp/rights/?a=b", "/fps/challenge"),
    ])
    func fetchesTheChallengeBesideTheLicenseRoute(path: String, expected: String) async throws {
        let server = try OneAnswerServer(answer: response("429 Too Many Requests", #"{"code":"rate_limited"}"#))
        let run = try await sync(server.url + path, [])
        #expect(run.status == 1)
        #expect(run.messages.contains("the server gave no challenge"))
        #expect(run.messages.contains("rate_limited"))
        #expect(server.request.hasPrefix("POST \(expected) HTTP/1.1\r\n"))
        #expect(server.request.contains("Authorization: Bearer a.b.c\r\n"))
    }

    @Test func fetchesTheChallengeWhereItIsTold() async throws {
        let server = try OneAnswerServer(answer: response("404 Not Found", ""))
        _ = try await sync("http://127.0.0.1:1", ["--challenge-url", server.url + "/nonce"])
        #expect(server.request.hasPrefix("POST /nonce HTTP/1.1\r\n"))
    }

    @Test(arguments: ["{}", #"{"challenge":"0000000000000000"}"#, #"{"challenge":"12"}"#, #"{"challenge":12}"#, "no"])
    func refusesWhatIsNoChallenge(body: String) async throws {
        let server = try OneAnswerServer(answer: response("200 OK", body))
        let run = try await sync(server.url, [])
        #expect(run.status == 1)
        #expect(run.messages.contains("the server gave no challenge"))
    }

    @Test(arguments: [
        ["--challenge", "12"], ["--sync-version", "1", "--challenge", "fetch"], ["--challenge-url", "nowhere"],
        ["--sync", "all"],
    ])
    func refusesWhatNoOptionMeans(words: [String]) async throws {
        let run = try await sync("http://127.0.0.1:1", words)
        #expect(run.status == 2, "\(run.messages)")
    }
}
