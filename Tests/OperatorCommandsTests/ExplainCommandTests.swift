import ByteCoding
import Foundation
import TestSupport
import Testing

/// `latchkey token explain`, with a set-up like that of `latchkey init`.
@Suite(.tags(.startsProcesses)) struct ExplainCommandTests {
    private let fixture: DevelopmentFixture

    init() throws {
        fixture = try DevelopmentFixture()
    }

    private func run(_ words: [String]) async throws -> LatchkeyProcess {
        try await LatchkeyProcess(arguments: words)
    }

    /// Stores a key for `movie-1`. Returns the file of a token and the file of an SPC for this content.
    private func prepare(_ tokenWords: [String] = []) async throws -> (token: String, spc: String) {
        let made = try await run(["keys", "create", "--config", fixture.configuration, "--content", "movie-1"])
        try #require(made.status == 0, "\(made.messages)")
        let minted = try await run(
            ["token", "mint", "--config", fixture.configuration, "--content", "movie-1"] + tokenWords)
        try #require(minted.status == 0, "\(minted.messages)")
        let token = fixture.folder.path("viewer.jwt")
        try fixture.folder.write(minted.output.utf8, to: "viewer.jwt")
        let spc = fixture.folder.path("request.spc")
        let request = try await run(["device", "make-spc", "--output", spc] + fixture.deviceArguments())
        try #require(request.status == 0, "\(request.messages)")
        return (token, spc)
    }

    @Test func explainsALicenseThatWouldBeIssued() async throws {
        let files = try await prepare(["--lease", "300"])
        let words = ["token", "explain", files.token, "--config", fixture.configuration, "--spc", files.spc]
        let report = try await run(words + ["--json"]).object()
        #expect(report["allowed"]?.bool == true)
        #expect(report["terms"]?.object?["lease"]?.number?.signed == 300)
        let text = try await run(words)
        #expect(text.status == 0)
        #expect(text.output.hasPrefix("allowed"))
        #expect(text.output.contains("lease 300 s"))
        #expect(text.output.contains("47acf6a418cd091a content key duration: 0000012c"))
    }

    @Test func saysWhatRefuses() async throws {
        let files = try await prepare()
        let words = [
            "token", "explain", files.token, "--config", fixture.configuration, "--spc", files.spc, "--offline",
        ]
        let report = try await run(words + ["--json"]).object()
        #expect(report["allowed"]?.bool == false)
        #expect(report["refusal"]?.object?["code"]?.string == "offline_not_allowed")
        let text = try await run(words)
        #expect(text.status == 1, "a refusal is a failure")
        #expect(text.output.hasPrefix("refused: offline_not_allowed"))
        #expect(text.output.contains("found offline; expected stream"))
    }

    @Test func looksUpWhatIsRevoked() async throws {
        let files = try await prepare(["--subject", "viewer-7"])
        let words = ["token", "explain", files.token, "--config", fixture.configuration]
        #expect(try await run(words).status == 0)
        let revoked = try await run([
            "revocations", "add", "--config", fixture.configuration, "--kind", "sub", "--value", "viewer-7",
        ])
        try #require(revoked.status == 0, "\(revoked.messages)")
        let text = try await run(words)
        #expect(text.status == 1 && text.output.hasPrefix("refused: subject_disabled"))
        let report = try await run(words + ["--spc", files.spc, "--json"]).object()
        #expect(report["refusal"]?.object?["code"]?.string == "subject_disabled")
    }

    @Test func opensNoDatabaseThatIsNotThere() async throws {
        let minted = try await run(["token", "mint", "--config", fixture.configuration, "--content", "movie-1"])
        try fixture.folder.write(minted.output.utf8, to: "viewer.jwt")
        let text = try await run(
            ["token", "explain", fixture.folder.path("viewer.jwt"), "--config", fixture.configuration])
        #expect(text.status == 0 && text.output.hasPrefix("the token is good"))
        #expect(!FileManager.default.fileExists(atPath: fixture.folder.path("latchkey.db")))
    }

    @Test(arguments: ["ch", "CHE", "1"])
    func refusesACountryThatIsNone(country: String) async throws {
        try fixture.folder.write("a.b".utf8, to: "not.jwt")
        let run = try await run([
            "token", "explain", fixture.folder.path("not.jwt"), "--config", fixture.configuration, "--country", country,
        ])
        #expect(run.status == 2)
    }

    @Test func explainsATokenWithoutAnSPC() async throws {
        try fixture.folder.write("a.b".utf8, to: "not.jwt")
        let report = try await run(
            ["token", "explain", fixture.folder.path("not.jwt"), "--config", fixture.configuration, "--json"]
        ).object()
        #expect(report["allowed"]?.bool == false)
        #expect(report["refusal"]?.object?["code"]?.string == "token_malformed")
    }

    @Test func refusesAnAddressThatIsNone() async throws {
        try fixture.folder.write("a.b".utf8, to: "not.jwt")
        let run = try await run(
            [
                "token", "explain", fixture.folder.path("not.jwt"), "--config", fixture.configuration, "--address",
                "here",
            ])
        #expect(run.status == 2)
    }
}
