package import ByteCoding

/// One finished run of the `latchkey` program that was built with these tests.
package struct LatchkeyProcess {
    package let status: Int32
    package let output: String
    package let messages: String

    package init(_ arguments: String..., input: String = "", environment: [String: String] = [:]) async throws {
        try await self.init(arguments: arguments, input: input, environment: environment)
    }

    /// Runs the program and waits for it on the test's thread, so that no more programs run at a time than there are
    /// processors.
    package init(arguments: [String], input: String = "", environment: [String: String] = [:]) async throws {
        let folder = try TemporaryDirectory()
        try folder.write(input.utf8, to: "input")
        // The input is a file and not a pipe, so that no code must write while the process reads.
        let script = "exec \"$0\" \"$@\" <\"$HOME/input\""
        let process = try ChildProcess(
            program: "/bin/sh", arguments: ["-c", script, BuiltProgram.path("latchkey")] + arguments,
            environment: ["HOME": folder.path].merging(environment) { $1 })
        status = process.waitForExit()
        output = process.output.text
        messages = process.messages.text
        guard status >= 0 else {
            throw DevelopmentFolderError(command: arguments.joined(separator: " "), "was killed by a signal")
        }
    }

    /// Returns the only JSON object on standard output. Throws if there is not exactly one.
    package func object() throws -> JSONObject {
        let lines = output.split(separator: "\n")
        guard lines.count == 1, let object = try JSONReader.parse(Array(output.utf8)).object else {
            throw DevelopmentFolderError(command: "latchkey", "did not print one JSON object: \(output)")
        }
        return object
    }
}
