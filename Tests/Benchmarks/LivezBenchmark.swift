/// Measures `GET /livez` on open connections: the cost of the listener itself. The references are nginx with the same
/// answer from a file and from memory.
///
/// The client is `wrk` with one thread. It uses the same cores as the servers, which take turns.
struct LivezBenchmark {
    private static let connectionCount = 64
    private static let goal = 1.2
    private let plan: BenchmarkPlan

    init(_ plan: BenchmarkPlan) {
        self.plan = plan
    }

    func run() throws {
        let (daemon, nginx) = (try BenchmarkDaemon(), try NginxServer())
        var (file, memory) = (Comparison(), Comparison())
        for _ in 0..<plan.rounds {
            let theirFile = try measure(nginx.port, "/file", nginx.cpuSeconds)
            let ours = try measure(daemon.port, "/livez", daemon.cpuSeconds)
            let theirMemory = try measure(nginx.port, "/livez", nginx.cpuSeconds)
            file.note(ours, theirFile)
            memory.note(ours, theirMemory)
        }
        print(
            """
            GET /livez over HTTP/1.1, \(Self.connectionCount) connections that stay open: \(formatted(file.rates.median)) requests/s, \
            \(file.ratio) x nginx with a static file (goal at least \(Self.goal)), \(memory.ratio) x nginx with the answer in its \
            configuration; CPU per request \(file.costRatio) x and \(memory.costRatio) x
            """)
    }

    private struct Comparison {
        var rates: [Double] = []
        private var ratios: [Double] = []
        private var costRatios: [Double] = []

        var ratio: String { formatted(ratios.median, decimals: 2) }
        var costRatio: String { formatted(costRatios.median, decimals: 2) }

        mutating func note(_ ours: Measurement, _ theirs: Measurement) {
            rates.append(ours.rate)
            ratios.append(ours.rate / theirs.rate)
            costRatios.append(ours.cpuPerRequest / theirs.cpuPerRequest)
        }
    }

    private typealias Measurement = (rate: Double, cpuPerRequest: Double)

    private func measure(
        _ port: UInt16, _ path: String, _ cpuSeconds: () throws -> Double
    ) throws -> Measurement {
        let before = try cpuSeconds()
        let load = try LoadTool.wrk(
            "http://127.0.0.1:\(port)\(path)", connections: Self.connectionCount, seconds: plan.secondsPerRound)
        return (load.rate, (try cpuSeconds() - before) / Double(load.count))
    }
}
