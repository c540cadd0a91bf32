/// `GET /livez` on connections that stay open against nginx with the same answer from memory: what the listener itself costs.
///
/// The client is `wrk` with one thread, on the same cores as the servers, which take turns.
struct LivezBenchmark {
    private static let connectionCount = 64
    private static let goal = 1.2
    private let plan: BenchmarkPlan

    init(_ plan: BenchmarkPlan) {
        self.plan = plan
    }

    func run() throws {
        let (daemon, nginx) = (try BenchmarkDaemon(), try NginxServer())
        var rates: [Double] = []
        var ratios: [Double] = []
        var costRatios: [Double] = []
        for _ in 0..<plan.rounds {
            let theirs = try measure(nginx.port, nginx.cpuSeconds)
            let ours = try measure(daemon.port, daemon.cpuSeconds)
            rates.append(ours.rate)
            ratios.append(ours.rate / theirs.rate)
            costRatios.append(ours.cpuPerRequest / theirs.cpuPerRequest)
        }
        print(
            """
            GET /livez over HTTP/1.1, \(Self.connectionCount) connections that stay open: \(formatted(rates.median)) requests/s, \
            \(formatted(ratios.median, decimals: 2)) x nginx with a static answer (goal at least \(Self.goal)); \
            CPU per request \(formatted(costRatios.median, decimals: 2)) x
            """)
    }

    private func measure(
        _ port: UInt16, _ cpuSeconds: () throws -> Double
    ) throws -> (rate: Double, cpuPerRequest: Double) {
        let before = try cpuSeconds()
        let load = try LoadTool.wrk(
            "http://127.0.0.1:\(port)/livez", connections: Self.connectionCount, seconds: plan.secondsPerRound)
        return (load.rate, (try cpuSeconds() - before) / Double(load.count))
    }
}
