import Foundation
import TestSupport
import Testing

/// A server for one test alone, which may kill it: `Scripts/with-postgresql` starts it again.
final class OwnServer: Sendable {
    let server: DatabaseServer
    private let process: ChildProcess

    init() throws {
        let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent("Scripts/with-postgresql").path
        process = try ChildProcess(program: script, arguments: ["/bin/sh", "-c", "env; echo ready; exec sleep 900"])
        let lines = try #require(Self.environment(of: process), "\(process.messages.text)")
        let pairs = lines.map { $0.split(separator: "=", maxSplits: 1).map { String($0) } }.filter { $0.count == 2 }
        server = try #require(DatabaseServer(Dictionary(pairs.map { ($0[0], $0[1]) }) { first, _ in first }))
    }

    /// A new cluster takes its time where hundreds of tests run beside it.
    private static func environment(of process: ChildProcess) -> [Substring]? {
        for _ in 0..<10 {
            let lines = process.output.wait { bytes in
                let text = String(decoding: bytes, as: UTF8.self)
                return text.contains("\nready\n") ? text.split(separator: "\n") : nil
            }
            if let lines { return lines }
        }
        return nil
    }

    /// Ends the server's first process as a crash would; the others notice.
    func crash() throws {
        kill(try server.processID(), SIGKILL)
    }

    func stop() {
        process.signal(SIGTERM)
        _ = process.waitForExit()
    }
}
