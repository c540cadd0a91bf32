import Foundation

/// nginx with a static answer, the same number of workers as the daemon has loops, and no access log.
///
/// `/livez` answers from memory, `/file` from a file of the same size.
final class NginxServer {
    let port: UInt16
    private let folder: URL
    private let process = Process()
    private let workers: [Int32]

    /// Starts nginx, with TLS if a certificate and its key are given, otherwise with plain HTTP.
    init(certificate: URL? = nil, privateKey: URL? = nil) throws {
        port = try FreePort.find()
        folder = URL(filePath: NSTemporaryDirectory()).appending(path: "latchkey-nginx-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let file = folder.appending(path: "nginx.conf")
        let text = Self.configuration(port: port, certificate, privateKey, in: folder)
        try text.write(to: file, atomically: false, encoding: .utf8)
        try "ok\n".write(to: folder.appending(path: "file"), atomically: false, encoding: .utf8)
        process.executableURL = URL(filePath: "/usr/sbin/nginx")
        process.arguments = ["-p", folder.path, "-c", file.path, "-e", folder.appending(path: "error.log").path]
        try process.run()
        workers = try Self.awaitWorkers(of: process, port: port)
    }

    deinit {
        process.terminate()
        process.waitUntilExit()
        // A failure is ignored: it only leaves a folder in /tmp.
        try? FileManager.default.removeItem(at: folder)
    }

    /// The user and system time of the workers, in seconds.
    func cpuSeconds() throws -> Double {
        try workers.reduce(0) { try $0 + ProcessTime.seconds(of: $1) }
    }

    private static func configuration(port: UInt16, _ certificate: URL?, _ privateKey: URL?, in folder: URL) -> String {
        let tls =
            if let certificate, let privateKey {
                """
                ssl_certificate \(certificate.path);
                ssl_certificate_key \(privateKey.path);
                ssl_protocols TLSv1.2 TLSv1.3;
                ssl_session_tickets on;
                """
            } else {
                ""
            }
        return """
            daemon off;
            worker_processes \(ProcessInfo.processInfo.activeProcessorCount);
            pid \(folder.path)/nginx.pid;
            events { worker_connections 4096; }
            http {
                access_log off;
                keepalive_requests 1000000000;
                client_body_temp_path \(folder.path)/body;
                proxy_temp_path \(folder.path)/proxy;
                fastcgi_temp_path \(folder.path)/fastcgi;
                uwsgi_temp_path \(folder.path)/uwsgi;
                scgi_temp_path \(folder.path)/scgi;
                server {
                    listen 127.0.0.1:\(port) reuseport\(certificate == nil ? "" : " ssl");
                    \(tls)
                    default_type text/plain;
                    location = /livez { return 200 "ok\\n"; }
                    location = /file { root \(folder.path); }
                }
            }
            """
    }

    /// Waits until the port answers, and returns the workers' process ids.
    private static func awaitWorkers(of process: Process, port: UInt16) throws -> [Int32] {
        let deadline = ContinuousClock.now + .seconds(10)
        while ContinuousClock.now < deadline {
            guard process.isRunning else { throw BenchmarkError("nginx did not start") }
            let master = process.processIdentifier
            let children = try String(
                contentsOf: URL(filePath: "/proc/\(master)/task/\(master)/children"), encoding: .utf8)
            let workers = children.split(separator: " ").compactMap { Int32($0) }
            if workers.count == ProcessInfo.processInfo.activeProcessorCount,
                (try? BlockingConnection(port: port)) != nil
            {
                return workers
            }
            usleep(20_000)
        }
        throw BenchmarkError("nginx did not start")
    }
}
