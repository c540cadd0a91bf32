import ByteCoding
import Foundation

/// A running daemon with its own development set-up, which `latchkey init` made. Both programs are beside this one.
final class BenchmarkDaemon {
    let folder: URL
    let port: UInt16
    let speaksTLS: Bool
    private let process = Process()
    private static let programs = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent()

    /// Starts the daemon, with plain HTTP on loopback or with TLS and the certificate of `latchkey init`.
    ///
    /// If a core is given, the daemon runs only on this core.
    init(speaksTLS: Bool = false, core: Int? = nil) throws {
        self.speaksTLS = speaksTLS
        folder = URL(filePath: NSTemporaryDirectory()).appending(path: "latchkey-benchmark-\(UUID().uuidString)")
        try Self.tool(["init", folder.path])
        if speaksTLS { try Self.addTLS(to: folder.appending(path: "latchkey.json5")) }
        let program = Self.programs.appending(path: "latchkeyd")
        let place = core.map { ["taskset", "-c", "\($0)"] } ?? []
        // Each of these programs replaces itself by the next one.
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = place + [program.path, "--config", folder.appending(path: "latchkey.json5").path]
        process.environment = ProcessInfo.processInfo.environment.merging([
            "LATCHKEY_LISTEN": "127.0.0.1:0", "LATCHKEY_ADMIN_LISTEN": "127.0.0.1:0",
        ]) { $1 }
        let log = Pipe()
        process.standardError = log
        try process.run()
        port = try Self.publicPort(in: log.fileHandleForReading)
        // The rest of its log is read and dropped, so that the daemon never waits for this program.
        log.fileHandleForReading.readabilityHandler = { _ = $0.availableData }
    }

    deinit {
        process.terminate()
        process.waitUntilExit()
        // A failure is ignored: it only leaves a folder in /tmp.
        try? FileManager.default.removeItem(at: folder)
    }

    /// The address of the public listener.
    var url: String { "\(speaksTLS ? "https" : "http")://127.0.0.1:\(port)" }
    var configuration: String { folder.appending(path: "latchkey.json5").path }
    var tlsCertificate: URL { folder.appending(path: "tls/certificate.pem") }
    var tlsPrivateKey: URL { folder.appending(path: "tls/private-key.pem") }

    /// The user and system time of the daemon, in seconds.
    func cpuSeconds() throws -> Double {
        try ProcessTime.seconds(of: process.processIdentifier)
    }

    private static func addTLS(to configuration: URL) throws {
        let text = try String(contentsOf: configuration, encoding: .utf8)
        let address = "address: \"127.0.0.1:8080\""
        let tls = "tls: { certificate: \"tls/certificate.pem\", privateKey: \"tls/private-key.pem\" }"
        guard text.contains(address) else { throw BenchmarkError("no public listener in \(configuration.path)") }
        try text.replacingOccurrences(of: address, with: "\(address), \(tls)")
            .write(to: configuration, atomically: false, encoding: .utf8)
    }

    /// Runs `latchkey` and returns its output.
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
