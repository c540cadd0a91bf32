import Foundation
package import KeyCrypto
import TestSupport
package import Testing

/// The server that `Scripts/with-postgresql` has started, as it describes itself in the environment.
package struct DatabaseServer: Sendable {
    package let url: String
    package let socketURL: String
    package let passwordFile: String
    package let otherAuthority: String
    package let processIDFile: String

    /// Nil if there is no server; the suites are then skipped.
    package static let current = DatabaseServer(ProcessInfo.processInfo.environment)
    /// Why they are.
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

extension Trait where Self == ConditionTrait {
    /// The suite is skipped, with the reason, if there is no server.
    package static var needsPostgreSQL: Self {
        .enabled(if: DatabaseServer.current != nil, Comment(rawValue: DatabaseServer.absence))
    }
}

package struct DatabaseServerError: Error {
    package let messages: String
}

/// A server for one test alone, which may kill it: `Scripts/with-postgresql` starts it again.
package final class OwnServer: Sendable {
    package let server: DatabaseServer
    private let process: ChildProcess

    package init() throws {
        let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent("Scripts/with-postgresql").path
        process = try ChildProcess(program: script, arguments: ["/bin/sh", "-c", "env; echo ready; exec sleep 900"])
        // A new cluster takes its time beside tests that keep the machine busy: up to four times as long as everything
        // else.
        let lines = (0..<4).lazy.compactMap { [process] _ in Self.description(by: process) }.first ?? []
        let pairs = lines.map { $0.split(separator: "=", maxSplits: 1).map { String($0) } }
        let environment = pairs.filter { $0.count == 2 }.map { ($0[0], $0[1]) }
        guard let server = DatabaseServer(Dictionary(environment) { first, _ in first }) else {
            throw DatabaseServerError(messages: process.messages.text)
        }
        self.server = server
    }

    /// The lines in which the script's command has said where the server is; nil if it has not in time.
    private static func description(by process: ChildProcess) -> [Substring]? {
        process.output.wait { bytes in
            let text = String(decoding: bytes, as: UTF8.self)
            return text.contains("\nready\n") ? text.split(separator: "\n") : nil
        }
    }

    /// Ends the server's first process as a crash would; the others notice.
    package func crash() throws {
        kill(try server.processID(), SIGKILL)
    }

    /// Stops all processes of the server as they are: it takes connections and answers nothing.
    package func pause() throws {
        for process in try processes() { kill(process, SIGSTOP) }
    }

    /// Lets them go on.
    package func goOn() throws {
        for process in try processes() { kill(process, SIGCONT) }
    }

    /// The first process, which makes no others while it is stopped, and its children.
    private func processes() throws -> [Int32] {
        let first = try server.processID()
        let text = try String(contentsOfFile: "/proc/\(first)/task/\(first)/children", encoding: .utf8)
        return [first] + text.split(separator: " ").compactMap { Int32($0) }
    }

    /// Ends the server for good.
    package func stop() {
        process.signal(SIGTERM)
        _ = process.waitForExit()
    }
}
