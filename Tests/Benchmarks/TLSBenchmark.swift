import FairPlay

/// Licences per second over TLS 1.3 against plain HTTP, both on connections that stay open, from two daemons that take turns.
struct TLSBenchmark {
    private static let connectionCount = 64
    private static let goal = 0.9
    private let plan: BenchmarkPlan

    init(_ plan: BenchmarkPlan) {
        self.plan = plan
    }

    func run() throws {
        let plain = try LicenseTarget(try BenchmarkDaemon())
        let encrypted = try LicenseTarget(try BenchmarkDaemon(speaksTLS: true), tls: try BenchmarkTLSSettings())
        for version in [SPCVersion.v1, .v2] {
            try compare(version, plain, encrypted)
        }
    }

    private func compare(_ version: SPCVersion, _ plain: LicenseTarget, _ encrypted: LicenseTarget) throws {
        let (plainLoad, encryptedLoad) = (try plain.load(version), try encrypted.load(version))
        var rates: [Double] = []
        var ratios: [Double] = []
        var costRatios: [Double] = []
        for _ in 0..<plan.rounds {
            let without = try plain.run(plainLoad, connections: Self.connectionCount, seconds: plan.secondsPerRound)
            let with = try encrypted.run(encryptedLoad, connections: Self.connectionCount, seconds: plan.secondsPerRound)
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
}
