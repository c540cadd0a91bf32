import ByteCoding
import TestSupport
import Testing

/// The arguments of `latchkey bench`, and its exit status if there is no server.
@Suite(.tags(.startsProcesses)) struct BenchCommandTests {
    private static let nothingListens = "http://127.0.0.1:1"

    private let fixture: DevelopmentFixture

    init() throws {
        fixture = try DevelopmentFixture()
    }

    private func bench(_ url: String = nothingListens, _ more: [String]) async throws -> LatchkeyProcess {
        try await LatchkeyProcess(
            arguments: ["bench", "--url", url] + fixture.deviceArguments() + ["--count", "200"] + more)
    }

    @Test func loadsNoOtherMachineUnlessToldSo() async throws {
        let run = try await bench("https://keys.example.invalid", ["--token", "a.b.c"])
        #expect(run.status == 2)
        #expect(run.messages.contains("--i-operate-this-server"))
        let told = try await bench("https://keys.example.invalid", ["--token", "a.b.c", "--i-operate-this-server"])
        #expect(told.status == 1)
        #expect(told.messages.contains("requests got no answer"))
    }

    @Test(arguments: [
        ["--rate", "0"], ["--rate", "1.5"], ["--seconds", "0"], ["--connections", "0"], ["--count", "5000001"],
        ["--spc-version", "4"], ["--spc-version", "1,,2"], ["--check-every", "0"], ["--threads", "3"], ["--http2"],
        ["--streams", "2"], ["--keys", "0"], ["--keys", "17"], ["--asset-id", "x"], ["--max-p99", "0"],
    ])
    func refusesWrongArguments(words: [String]) async throws {
        let asset = words.first == "--asset-id" ? [] : ["--asset-id", "movie-1"]
        let run = try await LatchkeyProcess(
            arguments: [
                "bench", "--url", Self.nothingListens, "--token", "a.b.c", "--certificate",
                fixture.fairPlay("bundle.bin"), "--application-secret", fixture.fairPlay("application-secret.hex"),
            ] + asset + words)
        #expect(run.status == 2)
        #expect(run.messages.contains(words[0]))
        #expect(run.output.isEmpty)
    }

    @Test func namesTheLineOfABadTokenAndNotTheToken() async throws {
        let tokens = fixture.folder.path("tokens")
        try fixture.folder.write("a.b.c\n\nnot secret-part\n".utf8, to: "tokens")
        let run = try await bench(Self.nothingListens, ["--token", "@\(tokens)"])
        #expect(run.status == 1)
        #expect(run.messages.contains("line 2"))
        #expect(!run.messages.contains("secret-part"))
    }

    @Test func reportsThatNoRequestGotAnAnswer() async throws {
        let report = fixture.folder.path("report.json")
        let run = try await bench(
            Self.nothingListens, ["--token", "a.b.c", "--rate", "1000", "--seconds", "1", "--json", "--report", report])
        #expect(run.status == 1)
        #expect(run.messages.contains("requests got no answer"))
        let printed = try JSONReader.parse(Array(run.output.utf8)).object
        #expect(printed?["isGood"]?.bool == false)
        #expect(printed?["licenses"]?.number?.text == "0")
        #expect(printed?["settings"]?.object?["rate"]?.number?.text == "1000")
        #expect(!run.output.contains("a.b.c"))
        #expect(String(decoding: try fixture.folder.read("report.json"), as: UTF8.self) == run.output)
    }
}
