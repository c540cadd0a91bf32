import Foundation

/// A minimal SPEKE server in Python behind WSGI (`wsgi_speke.py`), by one of the servers that Debian has.
final class WSGIServer {
    enum Kind: String, CaseIterable {
        /// Python's own. It has no keep-alive.
        case wsgiref
        case waitress
        case gunicorn
    }

    let port: UInt16
    private let process = Process()

    /// `credential` is a user with its password, as Basic has them.
    init(_ kind: Kind, credential: String, core: Int) throws {
        port = try FreePort.find()
        let script = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "wsgi_speke.py")
        process.executableURL = URL(filePath: "/usr/bin/taskset")
        // Debian's Python, for which the servers are installed.
        process.arguments = ["-c", "\(core)", "/usr/bin/python3", script.path, kind.rawValue, "\(port)"]
        process.environment = ProcessInfo.processInfo.environment.merging(["SPEKE_CREDENTIAL": credential]) { $1 }
        try process.run()
        try awaitConnections()
    }

    deinit {
        process.terminate()
        process.waitUntilExit()
    }

    private func awaitConnections() throws {
        let deadline = ContinuousClock.now + .seconds(10)
        while (try? BlockingConnection(port: port)) == nil {
            guard process.isRunning, ContinuousClock.now < deadline else {
                throw BenchmarkError("the WSGI server did not start")
            }
            usleep(20_000)
        }
    }
}
