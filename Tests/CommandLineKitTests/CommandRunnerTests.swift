import Foundation
import Testing

@testable import CommandLineKit

@Suite struct CommandRunnerTests {
    private func run(_ error: CommandError?) async throws -> (status: Int32, messages: String) {
        let pipe = Pipe()
        let command = Command("tool", summary: "A tool", examples: ["tool"]) { (_, _) throws(CommandError) in
            if let error { throw error }
        }
        let status = await CommandRunner(command, context: CommandContext(messages: pipe.fileHandleForWriting)).run([])
        try pipe.fileHandleForWriting.close()
        return (status.rawValue, String(decoding: try pipe.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self))
    }

    @Test func givesAStatusForEachKindOfFailure() async throws {
        #expect(try await run(nil) == (0, ""))
        #expect(try await run(.failed("it broke")) == (1, "tool: it broke\n"))
        #expect(try await run(.usage("no such thing")).status == 2)
        #expect(try await run(.told(.configuration)) == (78, ""))
    }

    /// Every line names the program, so that a log shows whose it is.
    @Test func tellsEachMistakeOfAConfigurationInALine() async throws {
        let result = try await run(.misconfigured("a.json5, line 1: x\na.json5, line 2: y"))
        #expect(result.status == 78)
        #expect(result.messages == "tool: a.json5, line 1: x\ntool: a.json5, line 2: y\n")
    }
}
