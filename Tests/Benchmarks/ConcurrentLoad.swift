import EventLoops
import Synchronization
import Telemetry

/// Tasks on one loop. Each waits for its call before it makes the next one, as requests do in the daemon.
final class ConcurrentLoad: Sendable {
    private let loop: LoopContext
    private let inFlight: Int
    private let next = Atomic<UInt64>(0)

    init(_ loop: LoopContext, inFlight: Int) {
        self.loop = loop
        self.inFlight = inFlight
    }

    /// The calls per second. Each call gets a new number, also across several measurements.
    func rate(for duration: Duration, _ body: @escaping @Sendable (UInt64) async throws -> Void) -> Double {
        let latencies = latencies(for: duration, body)
        return Double(latencies.count) / (duration / .seconds(1))
    }

    /// The durations of the calls, in seconds.
    func latencies(
        for duration: Duration, _ body: @escaping @Sendable (UInt64) async throws -> Void
    ) -> [Double] {
        let start = ContinuousClock.now
        let ended = Monitor((tasks: 0, latencies: [Double](), failures: 0))
        for _ in 0..<inFlight {
            loop.spawn { [self] in
                var latencies: [Double] = []
                var failures = 0
                var now = ContinuousClock.now
                while now < start + duration {
                    do {
                        try await body(next.add(1, ordering: .relaxed).oldValue)
                        let end = ContinuousClock.now
                        latencies.append(now.duration(to: end) / .seconds(1))
                        now = end
                    } catch {
                        failures += 1
                        now = .now
                    }
                }
                ended.update { $0 = ($0.tasks + 1, $0.latencies + latencies, $0.failures + failures) }
            }
        }
        let (latencies, failures) = ended.wait { $0.tasks == inFlight ? ($0.latencies, $0.failures) : nil }
        precondition(failures == 0, "the benchmark's own store failed")
        return latencies
    }
}
