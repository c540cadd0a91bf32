import FairPlay
import Foundation
import PlayerMessages

/// Measures licenses per second for form and JSON bodies relative to raw bodies, from one daemon with 64 keep-alive
/// connections. The shapes take turns.
///
/// The daemon's CPU time for each license says more than the rate, because the load uses the same cores.
struct ShapeBenchmark {
    private static let connectionCount = 64
    private static let goal = 0.95
    /// The ratios are close to 1, and one round on a shared machine may be wrong by a tenth, so the median needs many
    /// rounds.
    private static let roundFactor = 3
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

    private struct Figures {
        var rates: [Double] = []
        var costs: [Double] = []
        /// The ratios to the raw bodies of the same round.
        var rateRatios: [Double] = []
        var costRatios: [Double] = []
    }

    private func measure(_ version: SPCVersion, _ target: LicenseTarget) throws {
        let shapes = LoadShape.allCases
        let loads = try shapes.map { try target.load(version, in: $0) }
        // One run of each shape is not counted, because only the first run meets an idle daemon.
        let connections = try target.connect(Self.connectionCount)
        for load in loads { _ = try target.run(load, over: connections, seconds: plan.secondsPerRound) }
        var figures = shapes.map { _ in Figures() }
        for round in 0..<plan.rounds * Self.roundFactor {
            // Each shape comes first equally often.
            let order = shapes.indices.map { ($0 + round) % shapes.count }
            var measured = [(rate: Double, cpuPerLicense: Double)](repeating: (0, 0), count: shapes.count)
            let connections = try target.connect(Self.connectionCount)
            for index in order {
                measured[index] = try target.run(loads[index], over: connections, seconds: plan.secondsPerRound)
            }
            for (index, one) in measured.enumerated() {
                figures[index].rates.append(one.rate)
                figures[index].costs.append(one.cpuPerLicense)
                figures[index].rateRatios.append(one.rate / measured[0].rate)
                figures[index].costRatios.append(one.cpuPerLicense / measured[0].cpuPerLicense)
            }
        }
        for index in shapes.indices { try report(version, shapes[index], figures[index], loads[index]) }
    }

    private func report(
        _ version: SPCVersion, _ shape: LoadShape, _ figures: Figures, _ load: LicenseLoad
    ) throws {
        var line = """
            SPC version \(version.rawValue), \(shape.rawValue) bodies: \(formatted(figures.rates.median)) licenses/s, \
            daemon CPU \(formatted(figures.costs.median * 1e6, decimals: 1)) us per license, \
            reading a body \(formatted(try microsecondsToRead(load), decimals: 2)) us
            """
        if shape != .raw {
            line += """
                ; \(formatted(figures.rateRatios.median, decimals: 3)) x the rate of raw bodies (goal at least \
                \(Self.goal)), \(formatted(figures.costRatios.median, decimals: 3)) x their CPU
                """
        }
        print(line)
    }

    /// The time to read one body on one core, without a server.
    private func microsecondsToRead(_ load: LicenseLoad) throws -> Double {
        let bodies = load.batch.bodies
        let count = plan.isShort ? 20_000 : 100_000
        var keyCount = 0
        let start = ContinuousClock.now
        for index in 0..<count {
            guard case .request(let request) = try PlayerMessageReader.read(bodies[index % bodies.count]) else {
                throw BenchmarkError("a request was taken for a report")
            }
            keyCount += request.keys.count
        }
        let elapsed = ContinuousClock.now - start
        guard keyCount == count else { throw BenchmarkError("a request has another number of keys") }
        return elapsed / .microseconds(1) / Double(count)
    }
}
