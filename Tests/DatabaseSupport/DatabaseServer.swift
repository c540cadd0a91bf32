import Foundation
package import KeyCrypto
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
