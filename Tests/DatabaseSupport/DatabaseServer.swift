import Foundation
package import KeyCrypto
import TestSupport

/// The PostgreSQL server that `Scripts/with-postgresql` has started, described by its environment variables.
package struct DatabaseServer: Sendable {
    package let url: String
    package let socketURL: String
    package let passwordFile: String
    package let otherAuthority: String
    package let processIDFile: String

    /// The server. If it is nil, no server runs, and the suites that need one are skipped.
    package static let current = DatabaseServer(ProcessInfo.processInfo.environment)
    /// The reason why the suites are skipped.
    package static let absence = "LATCHKEY_POSTGRESQL names no server: Scripts/with-postgresql swift test starts one"

    init?(_ environment: [String: String]) {
        guard let url = environment["LATCHKEY_POSTGRESQL"], let socketURL = environment["LATCHKEY_POSTGRESQL_SOCKET"],
            let passwordFile = environment["LATCHKEY_POSTGRESQL_PASSWORD_FILE"],
            let otherAuthority = environment["LATCHKEY_POSTGRESQL_OTHER_CA"],
            let processIDFile = environment["LATCHKEY_POSTGRESQL_PID_FILE"]
        else { return nil }
        self.url = url
        self.socketURL = socketURL
        self.passwordFile = passwordFile
        self.otherAuthority = otherAuthority
        self.processIDFile = processIDFile
    }

    package func password() throws -> SharedSecret {
        let text = try String(contentsOfFile: passwordFile, encoding: .utf8)
        return SharedSecret(SecretBytes(copying: Array(text.utf8.prefix { $0 != UInt8(ascii: "\n") })))
    }

    /// The process id of the server that runs now.
    package func processID() throws -> Int32 {
        let text = try String(contentsOfFile: processIDFile, encoding: .utf8)
        guard let number = text.split(separator: "\n").first.flatMap({ Int32($0) }) else {
            throw DatabaseServerError(messages: "no process id in \(processIDFile)")
        }
        return number
    }
}

package struct DatabaseServerError: Error {
    package let messages: String
}

/// A server for only one test, which may kill it: `Scripts/with-postgresql` starts it again.
package final class OwnServer: Sendable {
    package let server: DatabaseServer
    private let process: ChildProcess

    package init() throws {
        let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent("Scripts/with-postgresql").path
        process = try ChildProcess(program: script, arguments: ["/bin/sh", "-c", "env; echo ready; exec sleep 900"])
        // Starting a new cluster may take long while other tests keep the machine busy: up to four times as long as
        // other waits.
        let lines = (0..<4).lazy.compactMap { [process] _ in Self.description(by: process) }.first ?? []
        let pairs = lines.map { $0.split(separator: "=", maxSplits: 1).map { String($0) } }
        let environment = pairs.filter { $0.count == 2 }.map { ($0[0], $0[1]) }
        guard let server = DatabaseServer(Dictionary(environment) { first, _ in first }) else {
            throw DatabaseServerError(messages: process.messages.text)
        }
        self.server = server
    }

    /// The lines with which the script's command describes the server, or nil if it has not done so in time.
    private static func description(by process: ChildProcess) -> [Substring]? {
        process.output.wait { bytes in
            let text = String(decoding: bytes, as: UTF8.self)
            return text.contains("\nready\n") ? text.split(separator: "\n") : nil
        }
    }

    /// Kills the server's first process, as in a crash. The other processes notice that.
    package func crash() throws {
        kill(try server.processID(), SIGKILL)
    }

    /// Pauses all processes of the server: it accepts connections but answers nothing.
    package func pause() throws {
        for process in try processes() { kill(process, SIGSTOP) }
    }

    /// Lets the paused processes continue.
    package func goOn() throws {
        for process in try processes() { kill(process, SIGCONT) }
    }

    /// The first process and its children. While it is paused, the first process starts no others.
    private func processes() throws -> [Int32] {
        let first = try server.processID()
        let text = try String(contentsOfFile: "/proc/\(first)/task/\(first)/children", encoding: .utf8)
        return [first] + text.split(separator: " ").compactMap { Int32($0) }
    }

    /// Ends the server. It cannot be started again.
    package func stop() {
        process.signal(SIGTERM)
        _ = process.waitForExit()
    }
}
