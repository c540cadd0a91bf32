import TestSupport
import Testing

/// The common parts of all commands: help, version, exit statuses.
@Suite(.tags(.startsProcesses)) struct LatchkeyProgramTests {
    @Test func printsItsVersion() async throws {
        let run = try await LatchkeyProcess("--version")
        #expect(run.status == 0)
        #expect(run.output == "0.1.0\n")
    }

    @Test(arguments: [
        [], ["init"], ["device"], ["device", "request"], ["device", "sync"], ["device", "make-spc"], ["spc"],
        ["spc", "inspect"], ["ckc"],
        ["ckc", "inspect"], ["keys"], ["keys", "create"], ["keys", "import"], ["keys", "list"], ["token"],
        ["token", "mint"], ["bench"], ["conformance"], ["credentials"], ["credentials", "list"],
        ["credentials", "check"], ["lint"],
    ])
    func helpsWithExamples(path: [String]) async throws {
        let run = try await LatchkeyProcess(arguments: path + ["--help"])
        #expect(run.status == 0)
        #expect(run.output.contains("Examples:\n  latchkey"))
        #expect(run.output.contains("Usage: " + (["latchkey"] + path).joined(separator: " ")))
        #expect(run.messages.isEmpty)
    }

    @Test(arguments: [[], ["initt"], ["init"], ["init", "a", "b"], ["init", "--force", "a"]])
    func exitsWithStatus2WhereItIsMisused(words: [String]) async throws {
        let run = try await LatchkeyProcess(arguments: words)
        #expect(run.status == 2)
        #expect(run.output.isEmpty)
        #expect(run.messages.contains("--help"))
    }
}
