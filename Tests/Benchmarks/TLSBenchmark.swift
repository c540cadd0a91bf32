import FairPlay
import Foundation

/// Measures licences per second over TLS 1.3 relative to plain HTTP, on open connections, from two daemons that take
/// turns.
///
/// The client is `wrk`, which uses little CPU time. `ListenerBenchmark` checks the licences.
struct TLSBenchmark {
    private static let connectionCount = 64
    private static let goal = 0.9
    private let plan: BenchmarkPlan

    init(_ plan: BenchmarkPlan) {
        self.plan = plan
    }

    func run() throws {
        let plain = try LicenseTarget(try BenchmarkDaemon())
        let encrypted = try LicenseTarget(try BenchmarkDaemon(speaksTLS: true))
        for version in [SPCVersion.v1, .v2] {
            try compare(version, plain, encrypted)
        }
    }

    private func compare(_ version: SPCVersion, _ plain: LicenseTarget, _ encrypted: LicenseTarget) throws {
        let (plainScript, encryptedScript) = (try plain.writeScript(version), try encrypted.writeScript(version))
        var rates: [Double] = []
        var ratios: [Double] = []
        var costRatios: [Double] = []
        for _ in 0..<plan.rounds {
            let without = try measure("http", plain.daemon, plainScript)
            let with = try measure("https", encrypted.daemon, encryptedScript)
            rates.append(with.rate)
            ratios.append(with.rate / without.rate)
            costRatios.append(with.cpuPerLicense / without.cpuPerLicense)
        }
        print(
            """
            SPC version \(version.rawValue) over TLS, \(Self.connectionCount) connections that stay open: \(formatted(rates.median)) \
            licences/s, \(formatted(ratios.median, decimals: 2)) x plain HTTP (goal at least \(Self.goal)); \
            daemon CPU per licence \(formatted(costRatios.median, decimals: 2)) x
            """)
    }

    private func measure(
        _ scheme: String, _ daemon: BenchmarkDaemon, _ script: URL
    ) throws -> (rate: Double, cpuPerLicense: Double) {
        let before = try daemon.cpuSeconds()
        let load = try LoadTool.wrk(
            "\(scheme)://127.0.0.1:\(daemon.port)/fps/license", script: script, connections: Self.connectionCount,
            seconds: plan.secondsPerRound)
        return (load.rate, (try daemon.cpuSeconds() - before) / Double(load.count))
    }
}
