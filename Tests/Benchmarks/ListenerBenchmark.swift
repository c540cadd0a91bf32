import ByteCoding
import DeviceSimulation
import FairPlay
import Foundation
import KeyCrypto
import Synchronization

/// Licences over HTTP from the real daemon: 64 keep-alive connections, distinct SPCs, several tokens. The load comes from the same cores, so
/// the daemon's own CPU time says more than the rate.
struct ListenerBenchmark {
    private static let connectionCount = 64
    private static let cpuGoal = 1.35
    private let plan: BenchmarkPlan

    init(_ plan: BenchmarkPlan) {
        self.plan = plan
    }

    func run() throws {
        let daemon = try BenchmarkDaemon()
        try BenchmarkDaemon.tool([
            "keys", "import", "--config", daemon.configuration, "--content", "movie-1", "--key",
            Hexadecimal.encode(BenchmarkLicensing.contentKey), "--iv", Hexadecimal.encode(BenchmarkLicensing.contentIV),
        ])
        let tokens = try (0..<8).map { index in
            try BenchmarkDaemon.tool([
                "token", "mint", "--config", daemon.configuration, "--content", "movie-1", "--lease", "300",
                "--subject", "viewer-\(index)",
            ])
        }
        for version in [SPCVersion.v1, .v2] {
            try measure(version, daemon, tokens)
        }
    }

    private func measure(_ version: SPCVersion, _ daemon: BenchmarkDaemon, _ tokens: [String]) throws {
        let requests = try makeRequests(version, daemon)
        let bits = version == .v1 ? 1024 : 2048
        var ratios: [Double] = []
        var busyRatios: [Double] = []
        var rates: [Double] = []
        var costs: [Double] = []
        for _ in 0..<plan.rounds {
            let seconds = plan.secondsPerRound
            let operation = 1 / (try OpenSSLSpeed.privateOperationsPerSecond(bits: bits, seconds: seconds))
            let cores = ProcessInfo.processInfo.activeProcessorCount
            let busyOperation =
                1 / (try OpenSSLSpeed.privateOperationsPerSecond(bits: bits, seconds: seconds, processes: cores))
            let round = try runRound(requests, daemon, tokens)
            rates.append(round.rate)
            costs.append(round.cpuPerLicense)
            ratios.append(round.cpuPerLicense / operation)
            busyRatios.append(round.cpuPerLicense / busyOperation)
        }
        let goal = version == .v1 ? " (goal at most \(Self.cpuGoal))" : ""
        print(
            """
            SPC version \(version.rawValue) over HTTP, \(Self.connectionCount) connections: \(formatted(rates.median)) \
            licences/s, daemon CPU \(formatted(costs.median * 1e6, decimals: 1)) us per licence, \
            \(formatted(ratios.median, decimals: 2)) x one RSA-\(bits) operation on an idle machine, \
            \(formatted(busyRatios.median, decimals: 2)) x one with all cores as busy as here\(goal)
            """)
    }

    private func makeRequests(_ version: SPCVersion, _ daemon: BenchmarkDaemon) throws -> [DeviceRequest] {
        let fairplay = daemon.folder.appending(path: "fairplay")
        let bits = version == .v1 ? "1024" : "2048"
        let certificate = try Certificate(
            parsing: [UInt8](Data(contentsOf: fairplay.appending(path: "certificate-\(bits).der"))))
        let secret = try String(contentsOf: fairplay.appending(path: "application-secret.hex"), encoding: .utf8)
        let ladder = try ApplicationSecretKeyLadder(
            .applicationSecret,
            SecretBytes(copying: Hexadecimal.decode(secret.trimmingCharacters(in: .whitespacesAndNewlines))))
        let device = SimulatedDevice(certificate: certificate, ladder: ladder, using: try CryptoContext())
        let options = BenchmarkLicensing.deviceOptions(version)
        return try (0..<1_000).map { _ in try device.makeRequest(options) }
    }

    private func runRound(
        _ requests: [DeviceRequest], _ daemon: BenchmarkDaemon, _ tokens: [String]
    ) throws -> (rate: Double, cpuPerLicense: Double) {
        let load = ListenerLoad(requests: requests, tokens: tokens, port: daemon.port)
        let cpuBefore = try daemon.cpuSeconds()
        let start = ContinuousClock.now
        let count = try load.run(connections: Self.connectionCount, for: .seconds(plan.secondsPerRound))
        let elapsed = (ContinuousClock.now - start) / .seconds(1)
        let cpu = try daemon.cpuSeconds() - cpuBefore
        return (Double(count) / elapsed, cpu / Double(count))
    }
}

/// The threads of one round.
private final class ListenerLoad: Sendable {
    private struct Outcome {
        var count = 0
        var failure: (any Error)?
    }

    private let requests: [DeviceRequest]
    private let messages: [[UInt8]]
    private let port: UInt16
    private let outcome = Mutex(Outcome())

    init(requests: [DeviceRequest], tokens: [String], port: UInt16) {
        self.requests = requests
        self.port = port
        messages = requests.enumerated().map { index, request in
            let head = """
                POST /fps/license HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer \(tokens[index % tokens.count])\r\n\
                Content-Type: application/octet-stream\r\nContent-Length: \(request.message.count)\r\n\r\n
                """
            return Array(head.utf8) + request.message
        }
    }

    /// How many licences came; throws the first failure, and when an opened licence was wrong.
    func run(connections: Int, for duration: Duration) throws -> Int {
        let deadline = ContinuousClock.now + duration
        let group = DispatchGroup()
        for index in 0..<connections {
            group.enter()
            let thread = Thread { [self] in
                work(from: index, step: connections, until: deadline)
                group.leave()
            }
            thread.start()
        }
        group.wait()
        let final = outcome.withLock { $0 }
        if let failure = final.failure { throw failure }
        return final.count
    }

    private func work(from first: Int, step: Int, until deadline: ContinuousClock.Instant) {
        do {
            let connection = try BlockingConnection(port: port)
            let crypto = try CryptoContext()
            var index = first
            var count = 0
            while ContinuousClock.now < deadline {
                let position = index % requests.count
                let ckc = try connection.exchange(messages[position])
                count += 1
                if count % 97 == 1 { try BenchmarkLicensing.check(ckc, for: requests[position], using: crypto) }
                index += step
            }
            outcome.withLock { $0.count += count }
        } catch {
            outcome.withLock { $0.failure = $0.failure ?? error }
        }
    }
}
