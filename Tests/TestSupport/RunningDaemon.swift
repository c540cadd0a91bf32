package import ByteCoding

/// The real `latchkeyd` on free loopback ports. It is killed when its last owner releases it.
package final class RunningDaemon: Sendable {
    package let process: ChildProcess
    /// The addresses that the daemon has logged, `127.0.0.1:PORT`.
    package let publicAddress: String
    package let adminAddress: String

    package static let freeAddresses = [
        "LATCHKEY_LISTEN": "127.0.0.1:0", "LATCHKEY_ADMIN_LISTEN": "127.0.0.1:0",
    ]

    /// Starts the daemon of a folder and waits until it reports that it is ready.
    package convenience init(_ folder: DevelopmentFolder, environment: [String: String] = [:]) throws {
        try self.init(try Self.start(folder, environment: environment))
    }

    /// Starts the daemon with a listening socket, which it gets under the name `public` in the same way as from
    /// systemd. Waits until the daemon is ready.
    package convenience init(_ folder: DevelopmentFolder, passing socket: ListeningTestSocket) throws {
        // Only the process itself knows its number in advance.
        let script = "LISTEN_PID=$$ exec \"$0\" \"$@\""
        let arguments = ["-c", script, try BuiltProgram.path("latchkeyd"), "--config", folder.configuration]
        let environment = [
            "LATCHKEY_LISTEN": "systemd:public", "LATCHKEY_ADMIN_LISTEN": "127.0.0.1:0", "LISTEN_FDS": "1",
            "LISTEN_FDNAMES": "public",
        ]
        try self.init(
            try ChildProcess(
                program: "/bin/sh", arguments: arguments, environment: environment, passing: [socket.descriptor]))
    }

    private init(_ process: ChildProcess) throws {
        self.process = process
        guard Self.line(process, event: "ready") != nil,
            let publicLine = Self.line(process, event: "listening", "listener", "public"),
            let adminLine = Self.line(process, event: "listening", "listener", "admin"),
            let publicAddress = publicLine["address"]?.string, let adminAddress = adminLine["address"]?.string
        else { throw DaemonNotReady(messages: process.messages.text) }
        self.publicAddress = publicAddress
        self.adminAddress = adminAddress
    }

    /// Starts the daemon without waiting for anything.
    package static func start(
        _ folder: DevelopmentFolder, arguments: [String] = [], environment: [String: String] = [:]
    ) throws -> ChildProcess {
        try ChildProcess(
            program: BuiltProgram.path("latchkeyd"), arguments: ["--config", folder.configuration] + arguments,
            environment: freeAddresses.merging(environment) { $1 })
    }

    /// Connects to the public listener.
    package func connect() throws -> LoopbackConnection { try LoopbackConnection(publicAddress) }

    /// Connects to the admin listener.
    package func connectAsAdmin() throws -> LoopbackConnection { try LoopbackConnection(adminAddress) }

    /// Waits for a line of the log; nil if the daemon ends without it.
    package func line(event: String) -> JSONObject? { Self.line(process, event: event) }

    /// All lines of the log so far.
    package var log: [JSONObject] { Self.lines(in: process.messages.bytes) }

    /// Returns the resident memory in bytes, as counted by the kernel.
    package func residentBytes() throws -> Int {
        let fields = try TextFile.read("/proc/\(process.processID)/statm").split(separator: " ")
        guard fields.count > 1, let pages = Int(fields[1]) else { throw DaemonNotReady(messages: "no statm") }
        return pages * 4096
    }

    private static func line(
        _ process: ChildProcess, event: String, _ name: String? = nil, _ value: String? = nil
    ) -> JSONObject? {
        process.messages.wait { bytes in
            lines(in: bytes).first { line in
                line["event"]?.string == event && (name.map { line[$0]?.string == value } ?? true)
            }
        }
    }

    /// Returns the complete lines. A message that is not JSON is left out.
    private static func lines(in bytes: [UInt8]) -> [JSONObject] {
        guard let end = bytes.lastIndex(of: UInt8(ascii: "\n")) else { return [] }
        return bytes[..<end].split(separator: UInt8(ascii: "\n")).compactMap {
            (try? JSONReader.parse(Array($0)))?.object
        }
    }
}

package struct DaemonNotReady: Error {
    package let messages: String
}
