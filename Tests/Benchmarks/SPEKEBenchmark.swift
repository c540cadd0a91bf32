import ByteCoding
import ContentKeys
import Foundation
import KeyCrypto
import PackagerAPI

/// Measures answers to packagers with two keys each: their cost in process, and the rate of a daemon on one core. The
/// reference is a minimal WSGI server that fills a string template.
///
/// The WSGI server stores nothing. The daemon writes a ledger row for each delivered key, and waits until it is on
/// disk.
struct SPEKEBenchmark {
    private static let connectionCount = 64
    private static let goal = 10.0
    private static let serverCore = 0
    /// The packager that `latchkey init` makes.
    private static let packager = "development"
    private let plan: BenchmarkPlan
    /// The core of the client, or nil on a machine with one core.
    private let clientCore: Int?

    init(_ plan: BenchmarkPlan) {
        self.plan = plan
        clientCore = ProcessInfo.processInfo.activeProcessorCount > 1 ? 1 : nil
    }

    func run() throws {
        for systems in SPEKEDocuments.Systems.allCases { try measureInProcess(systems) }
        try measureServers()
    }

    // MARK: - Servers

    private func measureServers() throws {
        let daemon = try BenchmarkDaemon(core: Self.serverCore)
        let documents = SPEKEDocuments(.fairPlay)
        let secret = try String(contentsOf: daemon.folder.appending(path: "secrets/packager"), encoding: .utf8)
        let credential = "\(Self.packager):\(secret.trimmingCharacters(in: .whitespacesAndNewlines))"
        let headers = [
            "Authorization": "Basic \(Base64.encode(Array(credential.utf8)))",
            "Content-Type": "application/xml", "X-Speke-Version": "2.0",
        ]
        let script = try documents.writeScript(in: daemon.folder, headers: headers)
        let others = try WSGIServer.Kind.allCases.map { kind in
            (kind, try WSGIServer(kind, credential: credential, core: Self.serverCore))
        }
        for port in [daemon.port] + others.map(\.1.port) { try check(documents.bodies[0], headers, port) }
        // The first requests make the keys.
        _ = try rate(daemon.port, script)
        var ours: [Double] = []
        var costs: [Double] = []
        var theirs = [[Double]](repeating: [], count: others.count)
        for _ in 0..<plan.rounds {
            let before = try daemon.cpuSeconds()
            let load = try rate(daemon.port, script)
            costs.append((try daemon.cpuSeconds() - before) / Double(load.count))
            ours.append(load.rate)
            for (index, other) in others.enumerated() {
                theirs[index].append(try rate(other.1.port, script).rate)
            }
        }
        print(
            """
            SPEKE v2.0 over HTTP/1.1, two keys in a document, \(Self.connectionCount) connections, servers on one core: \
            \(formatted(ours.median)) answers/s, daemon CPU \(formatted(costs.median * 1e6, decimals: 1)) us per answer
            """)
        for (rates, other) in zip(theirs, others) {
            let ratios = zip(ours, rates).map { $0 / $1 }
            print(
                """
                  \(formatted(ratios.median, decimals: 1)) x Python behind \(other.0.rawValue), \
                \(formatted(rates.median)) answers/s (goal at least \(formatted(Self.goal)))
                """)
        }
    }

    private func rate(_ port: UInt16, _ script: URL) throws -> (rate: Double, count: Int) {
        try LoadTool.wrk(
            "http://127.0.0.1:\(port)/speke/v2.0/copyProtection", script: script, connections: Self.connectionCount,
            seconds: plan.secondsPerRound, core: clientCore)
    }

    /// Checks that a server's answer has the expected elements, two keys among them.
    private func check(_ body: [UInt8], _ headers: [String: String], _ port: UInt16) throws {
        let fields = headers.map { "\($0.key): \($0.value)\r\n" }.joined()
        let head = """
            POST /speke/v2.0/copyProtection HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: \(body.count)\r\n\(fields)\r\n
            """
        let answer = String(
            decoding: try BlockingConnection(port: port).exchange(Array(head.utf8) + body), as: UTF8.self)
        let counts = ["</pskc:PlainValue>", "</cpix:HLSSignalingData>", "explicitIV=", "<cpix:ContentKeyUsageRule "]
            .map { answer.components(separatedBy: $0).count - 1 }
        guard counts == [2, 4, 2, 2] else { throw BenchmarkError("a server gives another answer: \(answer)") }
    }

    // MARK: - In process

    private func measureInProcess(_ systems: SPEKEDocuments.Systems) throws {
        let documents = SPEKEDocuments(systems).bodies
        let requests = try documents.map { try CPIXRequest(parsing: $0, version: .v20) }
        let keys = try requests.map { try Self.keys(for: $0) }
        let recent = RecentDocuments()
        let count = plan.isShort ? 5_000 : 20_000
        var (reading, answering, again): ([Double], [Double], [Double]) = ([], [], [])
        for _ in 0..<plan.rounds {
            reading.append(
                try microseconds(count) { index in
                    try CPIXRequest(parsing: documents[index % documents.count], version: .v20).keys.count == 2
                })
            answering.append(
                try microseconds(count) { index in
                    let index = index % requests.count
                    return try CPIXAnswer(to: requests[index], keys: keys[index], urls: .standard).bytes.count > 1_000
                })
            again.append(
                try microseconds(count) { index in
                    let index = index % documents.count
                    let document = try recent.document(documents[index], version: .v20)
                    return try document.answer(keys: keys[index], urls: .standard).bytes.count > 1_000
                })
        }
        print(
            """
            A CPIX document with two keys for \(systems.rawValue), on one core: read in \
            \(formatted(reading.median, decimals: 1)) us, answered in \(formatted(answering.median, decimals: 1)) us; \
            both in \(formatted(again.median, decimals: 1)) us if it comes again
            """)
    }

    private static func keys(for request: CPIXRequest) throws -> [PackagedKey] {
        try request.keys.map { requested in
            let (key, iv) = try KeyGeneration.generate()
            return try PackagedKey(keyID: requested.keyID, key: key, iv: iv)
        }
    }

    /// The microseconds of one call. Each call must return true.
    private func microseconds(_ count: Int, _ body: (Int) throws -> Bool) throws -> Double {
        let start = ContinuousClock.now
        for index in 0..<count {
            guard try body(index) else { throw BenchmarkError("a document was read or answered wrongly") }
        }
        return (ContinuousClock.now - start) / .microseconds(1) / Double(count)
    }
}

/// A minimal SPEKE server in Python (`wsgi_speke.py`), in one of Debian's WSGI servers.
final class WSGIServer {
    enum Kind: String, CaseIterable {
        /// Python's own server, which has no keep-alive.
        case wsgiref
        case waitress
        case gunicorn
    }

    let port: UInt16
    private let process = Process()

    /// Starts the server. `credential` is "user:password", as in Basic.
    init(_ kind: Kind, credential: String, core: Int) throws {
        port = try FreePort.find()
        let script = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "wsgi_speke.py")
        process.executableURL = URL(filePath: "/usr/bin/taskset")
        // Debian's Python has these servers installed.
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
