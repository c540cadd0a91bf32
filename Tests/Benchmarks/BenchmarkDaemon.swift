import ByteCoding
import Foundation

/// The real daemon with a development set-up of its own, made by the real tool, both from beside this program.
final class BenchmarkDaemon {
    let folder: URL
    let port: UInt16
    private let process = Process()
    private static let programs = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent()

    init() throws {
        folder = URL(filePath: NSTemporaryDirectory()).appending(path: "latchkey-benchmark-\(UUID().uuidString)")
        try Self.tool(["init", folder.path])
        process.executableURL = Self.programs.appending(path: "latchkeyd")
        process.arguments = ["--config", folder.appending(path: "latchkey.json5").path]
        process.environment = ProcessInfo.processInfo.environment.merging([
            "LATCHKEY_LISTEN": "127.0.0.1:0", "LATCHKEY_ADMIN_LISTEN": "127.0.0.1:0",
        ]) { $1 }
        let log = Pipe()
        process.standardError = log
        try process.run()
        port = try Self.publicPort(in: log.fileHandleForReading)
        // Whatever else it logs is read and dropped, so that the daemon never waits for this program.
        log.fileHandleForReading.readabilityHandler = { _ = $0.availableData }
    }

    deinit {
        process.terminate()
        process.waitUntilExit()
        // A folder that stays behind is only in the way of the next look at /tmp.
        try? FileManager.default.removeItem(at: folder)
    }

    var configuration: String { folder.appending(path: "latchkey.json5").path }

    /// User and system time that the daemon has used, in seconds.
    func cpuSeconds() throws -> Double {
        let text = try String(contentsOf: URL(filePath: "/proc/\(process.processIdentifier)/stat"), encoding: .utf8)
        // The fields behind the name in parentheses: utime and stime are the 12th and 13th, in clock ticks.
        let fields = text.split(separator: ")").last?.split(separator: " ") ?? []
        guard fields.count > 13, let user = Double(fields[11]), let system = Double(fields[12]) else {
            throw BenchmarkError("cannot read the daemon's CPU time")
        }
        return (user + system) / Double(sysconf(Int32(_SC_CLK_TCK)))
    }

    /// Runs `latchkey` and gives what it prints.
    @discardableResult
    static func tool(_ arguments: [String]) throws -> String {
        let process = Process()
        let output = Pipe()
        process.executableURL = programs.appending(path: "latchkey")
        process.arguments = arguments
        process.standardOutput = output
        try process.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw BenchmarkError("latchkey \(arguments[0]) failed") }
        return text.trimmingCharacters(in: .whitespacesAndNewlines)
    }

    private static func publicPort(in log: FileHandle) throws -> UInt16 {
        var text = ""
        while !text.contains("\"event\":\"ready\"") {
            let data = log.availableData
            guard !data.isEmpty else { throw BenchmarkError("the daemon did not start: \(text)") }
            text += String(decoding: data, as: UTF8.self)
        }
        for line in text.split(separator: "\n") {
            let members = try JSONReader.parse(Array(line.utf8), dialect: .strict).object
            guard members?["listener"]?.string == "public",
                let address = members?["address"]?.string, let port = address.split(separator: ":").last
            else { continue }
            return UInt16(port) ?? 0
        }
        throw BenchmarkError("the daemon named no public listener")
    }
}
