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

    init(arguments: [String], input: String = "", environment: [String: String] = [:]) async throws {
        let folder = try TemporaryDirectory()
        try folder.write(input.utf8, to: "input")
        try folder.write([], to: "output")
        try folder.write([], to: "messages")
        let process = Process()
        process.executableURL = try Self.program()
        process.arguments = arguments
        process.environment = ["PATH": "/usr/bin:/bin", "HOME": folder.path].merging(environment) { $1 }
        // Files rather than pipes: nobody has to read while the process writes.
        process.standardInput = try FileHandle(forReadingFrom: URL(fileURLWithPath: folder.path("input")))
        process.standardOutput = try FileHandle(forWritingTo: URL(fileURLWithPath: folder.path("output")))
        process.standardError = try FileHandle(forWritingTo: URL(fileURLWithPath: folder.path("messages")))
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            process.terminationHandler = { _ in continuation.resume() }
            do {
                try process.run()
            } catch {
                process.terminationHandler = nil
                continuation.resume(throwing: error)
            }
        }
        #expect(process.terminationReason == .exit, "latchkey was killed by a signal")
        status = process.terminationStatus
        output = String(decoding: try folder.read("output"), as: UTF8.self)
        messages = String(decoding: try folder.read("messages"), as: UTF8.self)
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
