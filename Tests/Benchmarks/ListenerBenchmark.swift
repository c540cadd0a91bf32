import ByteCoding
import DeviceSimulation
import FairPlay
import Foundation
import KeyCrypto
import Synchronization

/// Measures licenses over HTTP from a running daemon, with 64 keep-alive connections, distinct SPCs and several tokens.
///
/// The load uses the same cores, so the daemon's CPU time says more than the rate.
struct ListenerBenchmark {
    private static let connectionCount = 64
    private static let cpuGoal = 1.35
    private let plan: BenchmarkPlan

    init(_ plan: BenchmarkPlan) {
        self.plan = plan
    }

    func run() throws {
        let target = try LicenseTarget(try BenchmarkDaemon())
        for version in [SPCVersion.v1, .v2] {
            try measure(version, target)
        }
    }

    private func measure(_ version: SPCVersion, _ target: LicenseTarget) throws {
        let load = try target.load(version)
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
            let round = try target.run(load, connections: Self.connectionCount, seconds: seconds)
            rates.append(round.rate)
            costs.append(round.cpuPerLicense)
            ratios.append(round.cpuPerLicense / operation)
            busyRatios.append(round.cpuPerLicense / busyOperation)
        }
        let goal = version == .v1 ? " (goal at most \(Self.cpuGoal))" : ""
        print(
            """
            SPC version \(version.rawValue) over HTTP, \(Self.connectionCount) connections: \(formatted(rates.median)) \
            licenses/s, daemon CPU \(formatted(costs.median * 1e6, decimals: 1)) us per license, \
            \(formatted(ratios.median, decimals: 2)) x one RSA-\(bits) operation on an idle machine, \
            \(formatted(busyRatios.median, decimals: 2)) x one with all cores as busy as here\(goal)
            """)
    }
}
