import ByteCoding
import Foundation
import TestSupport
import Testing

/// One finished run of the `latchkey` program that was built with these tests.
struct LatchkeyProcess {
    let status: Int32
    let output: String
    let messages: String

    init(_ arguments: String..., input: String = "", environment: [String: String] = [:]) async throws {
        try await self.init(arguments: arguments, input: input, environment: environment)
    }

    /// Waits on the thread of the test: no more of them run at once than there are processors.
    init(arguments: [String], input: String = "", environment: [String: String] = [:]) async throws {
        let folder = try TemporaryDirectory()
        try folder.write(input.utf8, to: "input")
        // A file rather than a pipe: nobody has to write while the process reads.
        let script = "exec \"$0\" \"$@\" <\"$HOME/input\""
        let process = try ChildProcess(
            program: "/bin/sh", arguments: ["-c", script, try Self.program().path] + arguments,
            environment: ["HOME": folder.path].merging(environment) { $1 })
        status = process.waitForExit()
        #expect(status >= 0, "latchkey was killed by a signal")
        output = process.output.text
        messages = process.messages.text
    }

    /// The one JSON object on standard output.
    func object() throws -> JSONObject {
        let lines = output.split(separator: "\n")
        try #require(lines.count == 1, "one line of JSON: \(output)")
        return try #require(try JSONReader.parse(Array(output.utf8)).object)
    }

    /// The program lies beside the bundle of tests, which is this process's own program.
    private static func program() throws -> URL {
        let bundle = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        let program = URL(fileURLWithPath: bundle).deletingLastPathComponent().appendingPathComponent("latchkey")
        try #require(FileManager.default.isExecutableFile(atPath: program.path), "no program \(program.path)")
        return program
    }
}
