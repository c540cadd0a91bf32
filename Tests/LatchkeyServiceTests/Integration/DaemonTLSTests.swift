import ByteCoding
import Foundation
import KeyCrypto
import TestSupport
import Testing

/// A running daemon with TLS, and curl as its client.
@Suite(.tags(.startsProcesses), .serialized) struct DaemonTLSTests {
    private let folder: DevelopmentFolder

    init() throws {
        folder = try DevelopmentFolder()
        try edit(
            #"address: "127.0.0.1:8080""#,
            #"address: "127.0.0.1:8080", tls: { certificate: "tls/certificate.pem", privateKey: "tls/private-key.pem" }"#
        )
    }

    private func edit(_ old: String, _ new: String) throws {
        let text = try folder.text("latchkey.json5")
        #expect(text.contains(old))
        try folder.files.write((text.replacingOccurrences(of: old, with: new) + "\n").utf8, to: "latchkey.json5")
    }

    /// Runs curl. Returns its output and its exit status, which is 60 for an untrusted certificate.
    private func curl(
        _ daemon: RunningDaemon, trusting certificate: String, _ arguments: [String] = []
    ) throws -> (status: Int32, text: String) {
        let port = daemon.publicAddress.split(separator: ":").last ?? ""
        let process = try ChildProcess(
            program: "/usr/bin/curl",
            arguments: ["--silent", "--max-time", "20", "--cacert", folder.files.path(certificate)] + arguments
                + ["https://localhost:\(port)/livez"])
        return (process.waitForExit(), process.output.text)
    }

    private func wait(_ daemon: RunningDaemon, for event: String) throws {
        #expect(daemon.line(event: event) != nil)
    }

    @Test(arguments: [["--tls-max", "1.2"], ["--tlsv1.3"], ["--http1.1"], []])
    func servesWhatInitHasMade(arguments: [String]) throws {
        let daemon = try RunningDaemon(folder)
        let answer = try curl(daemon, trusting: "tls/certificate.pem", arguments + ["--write-out", " %{http_code}"])
        #expect(answer.status == 0)
        #expect(answer.text.hasSuffix(" 200"))
    }

    @Test func putsNewCertificatesInForceOnSIGHUP() throws {
        let socket = try NotifySocket(path: folder.files.path("notify"))
        let daemon = try RunningDaemon(folder, environment: ["NOTIFY_SOCKET": socket.path])
        #expect(socket.receive() == "READY=1\nSTATUS=Serving")
        let key = try ES256PrivateKey.generate()
        let certificate = try key.makeLocalTLSCertificate(now: Int64(Date().timeIntervalSince1970))
        try folder.files.write(certificate, to: "tls/new.pem")
        #expect(try curl(daemon, trusting: "tls/new.pem").status == 60)

        // New contents of the same files.
        try folder.files.write(certificate, to: "tls/certificate.pem")
        try folder.files.write(try key.privatePEM().revealed(), to: "tls/private-key.pem")
        daemon.process.signal(SIGHUP)
        #expect(socket.receive()?.hasPrefix("RELOADING=1\nMONOTONIC_USEC=") == true)
        #expect(socket.receive() == "READY=1\nSTATUS=Serving")
        try wait(daemon, for: "reloaded")
        #expect(try curl(daemon, trusting: "tls/new.pem").status == 0)
        #expect(!daemon.log.contains { $0["event"]?.string == "restart_needed" })
        let metrics = try MetricsText(
            parsing: daemon.connectAsAdmin().request(
                "GET", "/metrics", ["Authorization": "Bearer \(try folder.adminToken())"]
            ).text)
        #expect(metrics["latchkey_config_last_reload_successful"] == 1)
        let end = metrics[#"latchkey_certificate_expiry_timestamp_seconds{kind="tls",name="public[0]"}"#]
        #expect((end ?? 0) > Date().timeIntervalSince1970)
    }

    @Test func keepsItsCertificatesWhenTheNewOnesAreBad() throws {
        let daemon = try RunningDaemon(folder)
        let good = try folder.files.read("tls/certificate.pem")
        try folder.files.write(good, to: "tls/good.pem")
        let other = try ES256PrivateKey.generate()
        let bad: [[UInt8]] = [
            Array("no certificate".utf8), Array(good.dropLast(100)),
            try other.makeLocalTLSCertificate(now: Int64(Date().timeIntervalSince1970)),
        ]
        for (index, bytes) in bad.enumerated() {
            try folder.files.write(bytes, to: "tls/certificate.pem")
            daemon.process.signal(SIGHUP)
            let count: Int? = daemon.process.messages.wait { bytes in
                let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n")
                let found = lines.count { $0.contains("\"reload_failed\"") && $0.contains("listeners.public[0].tls") }
                return found > index ? found : nil
            }
            #expect(count == index + 1)
            #expect(try curl(daemon, trusting: "tls/good.pem").status == 0)
        }
    }

    @Test func saysWhatNeedsARestart() throws {
        let daemon = try RunningDaemon(folder)
        try edit("limits: { rates", "limits: { bodySizeMaximum: 2048, rates")
        try edit("logging: { level: \"debug\" }", "logging: { level: \"error\" }")
        daemon.process.signal(SIGHUP)
        #expect(daemon.line(event: "restart_needed")?["fields"]?.string == "limits.bodySizeMaximum")
    }

    @Test func servesOnAUnixSocketWithoutTLS() throws {
        try edit(
            #", tls: { certificate: "tls/certificate.pem", privateKey: "tls/private-key.pem" }"#, "")
        let path = folder.files.path("public.sock")
        let daemon = try RunningDaemon(folder, environment: ["LATCHKEY_LISTEN": "unix:\(path)"])
        #expect(daemon.publicAddress == "unix:\(path)")
        let process = try ChildProcess(
            program: "/usr/bin/curl",
            arguments: ["--silent", "--fail", "--max-time", "20", "--unix-socket", path, "http://localhost/livez"])
        #expect(process.waitForExit() == 0)
        daemon.process.signal(SIGTERM)
        #expect(daemon.process.waitForExit() == 0)
        #expect(!FileManager.default.fileExists(atPath: path))
    }
}
