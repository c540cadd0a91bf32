import FairPlay
import Foundation

/// Measures licenses per second over TLS 1.3 relative to plain HTTP, on open connections, from two daemons that take
/// turns.
///
/// The client is `latchkey bench`, and each SPC is new: the license of a repeated one is cheaper, and TLS would be a
/// larger part of it.
struct TLSBenchmark {
    private static let connectionCount = 64
    private static let goal = 0.9
    /// A second would be mostly connecting and the first use of everything.
    private static let secondsPerRound = 3
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
        var rates: [Double] = []
        var ratios: [Double] = []
        var costRatios: [Double] = []
        // More than the processors can compute in this time.
        let speed = try OpenSSLSpeed.privateOperationsPerSecond(bits: version == .v1 ? 1024 : 2048, seconds: 1)
        let cores = ProcessInfo.processInfo.activeProcessorCount
        let count = Int(speed) * cores * Self.secondsPerRound
        for _ in 0..<plan.rounds {
            let without = try measure(plain, version, count)
            let with = try measure(encrypted, version, count)
            rates.append(with.rate)
            ratios.append(with.rate / without.rate)
            costRatios.append(with.cpuPerLicense / without.cpuPerLicense)
        }
        print(
            """
            SPC version \(version.rawValue) over TLS, \(Self.connectionCount) connections that stay open: \(formatted(rates.median)) \
            licenses/s, \(formatted(ratios.median, decimals: 2)) x plain HTTP (goal at least \(Self.goal)); \
            daemon CPU per license \(formatted(costRatios.median, decimals: 2)) x
            """)
    }

    private func measure(
        _ target: LicenseTarget, _ version: SPCVersion, _ count: Int
    ) throws -> (rate: Double, cpuPerLicense: Double) {
        try target.bench(version, connections: Self.connectionCount, count: count, seconds: Self.secondsPerRound)
    }
}
