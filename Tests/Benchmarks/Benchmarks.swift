import Foundation

/// Measures one run on one machine, and prints the figures as ratios.
///
/// The benchmarks are separate from the tests: they do not check whether the server is right, and no test checks its
/// speed.
@main
struct Benchmarks {
    static func main() async {
        let given = Set(CommandLine.arguments.dropFirst())
        if given.contains("--help") { return print(usage) }
        let settled = given.first { $0.hasPrefix("--decisions=") }
        let words = given.subtracting([settled].compactMap(\.self))
        let parts = [
            "pipeline", "tokens", "listener", "shapes", "tls", "livez", "http2", "handshakes", "timing", "ladder",
            "decisions", "keys", "purge", "speke", "unwraps",
        ]
        let others = ["settlements", "--short"]
        guard words.isSubset(of: parts + others) else {
            let unknown = words.subtracting(parts + others).sorted().joined(separator: " ")
            print("benchmark: there is no part \(unknown)\n\n\(usage)")
            exit(2)
        }
        let plan = BenchmarkPlan(isShort: words.contains("--short"))
        let isAll = words.isDisjoint(with: parts + ["settlements"])
        let chosen = parts.filter { isAll || words.contains($0) }
        do {
            if chosen.contains("pipeline") { try await PipelineBenchmark(plan).run() }
            if chosen.contains("tokens") { try TokenBenchmark(plan).run() }
            if chosen.contains("listener") { try ListenerBenchmark(plan).run() }
            if chosen.contains("shapes") { try ShapeBenchmark(plan).run() }
            if chosen.contains("tls") { try TLSBenchmark(plan).run() }
            if chosen.contains("livez") { try LivezBenchmark(plan).run() }
            if chosen.contains("http2") { try HTTP2Benchmark(plan).run() }
            if chosen.contains("handshakes") { try HandshakeBenchmark(plan).run() }
            if chosen.contains("timing") { try RefusalTimingBenchmark(plan).run() }
            if chosen.contains("ladder") { try await LadderBenchmark(plan).run() }
            if chosen.contains("decisions") {
                try await DecisionBenchmark(plan).run()
                try await SettlementBenchmark(plan).run()
            }
            if chosen.contains("keys") { try await KeyBenchmark(plan).run() }
            if chosen.contains("purge") { try PurgeBenchmark(plan).run() }
            if chosen.contains("speke") { try SPEKEBenchmark(plan).run() }
            if chosen.contains("unwraps") { try UnwrapBenchmark(plan).run() }
            if words.contains("settlements") {
                try SettlementBenchmark(plan).measure(
                    count: settled.flatMap { Int($0.dropFirst("--decisions=".count)) })
            }
        } catch {
            print("benchmark: \(error)")
            exit(1)
        }
    }

    private static let usage = """
        latchkey-benchmarks [--short] [PART...]

          pipeline   CKCs per second and core in process against openssl speed, and with an accelerator if there is one
          tokens     a token's check from the cache, and without it against EVP_DigestVerify alone
          listener   licenses per second over HTTP, and the daemon's CPU per license against one RSA operation
          shapes     licenses per second for form and JSON bodies against raw ones, and what reading such a body takes
          tls        licenses per second over TLS against plain HTTP, on connections that stay open, by latchkey bench
          livez      requests per second on connections that stay open against nginx with a static answer, by wrk
          http2      requests per second over HTTP/2 against HTTP/1.1, by h2load
          handshakes TLS handshakes per second, full and resumed, against nginx with the same certificate
          timing     whether refusals differ in time (Welch's t), and whether the check would notice
          ladder     calls per second through worker processes against their number, and the latency of other loops beside them
          decisions  license decisions per second through the SQLite writer with the ledger against without it, and rows of the ledger;
                     settlements per second in PostgreSQL against bare commits
          keys       a million keys in SQLite and PostgreSQL: import, opening, memory, look-ups against bare sqlite3 and libpq
          purge      how long a decision takes to commit while a month of the ledger is purged, against the time without
          speke      answers to packagers with two keys per second and core, against minimal servers of WSGI in Python
          unwraps    RSA unwraps per second of both backends against openssl speed; LATCHKEY_ACCELERATOR names the library
          settlements  one run of Scripts/bench settlements as a line of JSON; with --decisions=N, only settles so many
          --short    shorter rounds, for a first look

        What needs PostgreSQL runs under Scripts/with-postgresql, and is left out elsewhere. Without names all of them run. Exits 1 when an answer was wrong or the timing check fails.
        """
}

/// The durations and the numbers of rounds.
struct BenchmarkPlan: Sendable {
    let isShort: Bool
    let rounds: Int
    let secondsPerRound: Int
    let timingSampleCount: Int

    init(isShort: Bool) {
        self.isShort = isShort
        // Many short rounds alternate with the rounds of the reference, because the speed of a shared machine changes
        // within seconds.
        rounds = isShort ? 1 : 9
        secondsPerRound = 1
        timingSampleCount = isShort ? 4_000 : 20_000
    }
}

struct BenchmarkError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}

extension [Double] {
    /// The median. For an even count, it is the upper of the two middle values.
    var median: Double {
        sorted()[count / 2]
    }
}

func formatted(_ value: Double, decimals: Int = 0) -> String {
    String(format: "%.\(decimals)f", value)
}
