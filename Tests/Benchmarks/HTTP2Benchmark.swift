/// Measures requests per second over HTTP/2 compared with HTTP/1.1: same answer, same client, same number of requests
/// in flight.
///
/// `/livez` costs the daemon almost nothing, so the protocol itself is measured. The client is `h2load`, which supports
/// both.
struct HTTP2Benchmark {
    private static let requestsInFlight = 128
    private static let streamsPerConnection = 8
    private let plan: BenchmarkPlan

    init(_ plan: BenchmarkPlan) {
        self.plan = plan
    }

    func run() throws {
        let daemon = try BenchmarkDaemon()
        var ratios: [Double] = []
        var costRatios: [Double] = []
        var rates: [Double] = []
        for _ in 0..<plan.rounds {
            let first = try measure(daemon, ["--h1", "-c", "\(Self.requestsInFlight)"])
            let second = try measure(
                daemon,
                ["-c", "\(Self.requestsInFlight / Self.streamsPerConnection)", "-m", "\(Self.streamsPerConnection)"])
            rates.append(second.rate)
            ratios.append(second.rate / first.rate)
            costRatios.append(second.cpuPerRequest / first.cpuPerRequest)
        }
        print(
            """
            GET /livez over HTTP/2, \(Self.requestsInFlight) requests in flight, \(Self.streamsPerConnection) on a connection: \
            \(formatted(rates.median)) requests/s, \(formatted(ratios.median, decimals: 2)) x HTTP/1.1 with one on a connection; \
            daemon CPU per request \(formatted(costRatios.median, decimals: 2)) x
            """)
    }

    private func measure(
        _ daemon: BenchmarkDaemon, _ options: [String]
    ) throws -> (rate: Double, cpuPerRequest: Double) {
        let before = try daemon.cpuSeconds()
        let load = try LoadTool.h2load(
            "http://127.0.0.1:\(daemon.port)/livez", options, seconds: plan.secondsPerRound)
        return (load.rate, (try daemon.cpuSeconds() - before) / Double(load.count))
    }
}
