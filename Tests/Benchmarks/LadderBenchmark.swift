import ByteCoding
import EventLoops
import FairPlay
import Foundation
import KeyCrypto
import LadderWorkers
import Synchronization
import TestSupport

/// Measures calls per second through a pool of worker processes, relative to one worker times their number, and the
/// effect on other loops.
///
/// The module is the stand-in, which computes or sleeps for a given time. The callers are tasks on their own loop, as
/// in the daemon. They share the machine's cores with the workers. Workers that compute cannot use the core time of
/// callers and pool. So the benchmark also prints the ratio to linear growth up to the cores that are left. Workers
/// that wait need no core.
struct LadderBenchmark {
    private static let serviceMicroseconds = [50, 200, 1_000]
    private static let goal = 0.9
    private let plan: BenchmarkPlan

    init(_ plan: BenchmarkPlan) {
        self.plan = plan
    }

    func run() async throws {
        let workerCounts = Array(1...max(2, Processors.count))
        for microseconds in Self.serviceMicroseconds {
            try await compare(workerCounts, busy: microseconds)
            try await compare(workerCounts, sleep: microseconds)
        }
        for microseconds in Self.serviceMicroseconds {
            try await measureOtherLoops(workers: workerCounts.last ?? 1, microseconds)
        }
    }

    /// Compares worker counts. Their rounds alternate, because the machine's speed varies.
    private func compare(_ workerCounts: [Int], busy: Int = 0, sleep: Int = 0) async throws {
        var figures: [Int: [LadderFigures]] = [:]
        let benches = try workerCounts.map { try LadderBench(workers: $0, busy: busy, sleep: sleep) }
        for _ in 0..<plan.rounds {
            for (count, bench) in zip(workerCounts, benches) {
                figures[count, default: []].append(try await bench.measure(for: .seconds(plan.secondsPerRound)))
            }
        }
        let single = figures[1] ?? []
        let name = busy > 0 ? "busy \(busy) us" : "sleeping \(sleep) us"
        for count in workerCounts {
            let own = figures[count] ?? []
            let linear = zip(own, single).map { $0.rate / ($1.rate * Double(count)) }.median
            let possible = zip(own, single).map { own, single in
                own.rate / (single.rate * (busy > 0 ? min(Double(count), own.coresLeft) : Double(count)))
            }.median
            let rate = own.map(\.rate).median
            print(
                """
                module \(name), \(count) worker\(count == 1 ? "" : "s"): \(formatted(rate)) calls/s, \
                \(formatted(linear, decimals: 3)) of linear in workers, \
                \(formatted(possible, decimals: 3)) of linear up to the cores that this process leaves (goal \(Self.goal)); \
                it takes \(formatted(own.map(\.ownMicroseconds).median, decimals: 1)) us a call; \
                \(formatted(rate * Double(busy + sleep) / 1_000_000 / Double(count), decimals: 3)) of calls without any cost
                """)
        }
    }

    /// Measures how long a trivial task takes on another loop, from the calling thread to the loop that runs it. It is
    /// measured alone, beside the same number of processes that only compute, and beside the pool.
    private func measureOtherLoops(workers: Int, _ microseconds: Int) async throws {
        let probe = try LoopProbe()
        for kind in ["busy", "sleeping"] {
            let bench = try LadderBench(
                workers: workers, busy: kind == "busy" ? microseconds : 0, sleep: kind == "busy" ? 0 : microseconds)
            var quiet: [Double] = []
            var burning: [Double] = []
            var loaded: [Double] = []
            for _ in 0..<plan.rounds {
                quiet.append(probe.p99(for: .seconds(plan.secondsPerRound)))
                burning.append(try withBurners(workers) { probe.p99(for: .seconds(plan.secondsPerRound)) })
                async let figures = bench.measure(for: .seconds(plan.secondsPerRound))
                loaded.append(probe.p99(for: .seconds(plan.secondsPerRound)))
                _ = try await figures
            }
            print(
                """
                other loops, module \(kind) \(microseconds) us on \(workers) workers: p99 of a trivial task \
                \(formatted(quiet.median * 1e6)) us without load, \(formatted(burning.median * 1e6)) us beside \(workers) processes \
                that only compute, \(formatted(loaded.median * 1e6)) us beside the pool
                """)
        }
    }

    private func withBurners(_ count: Int, _ body: () -> Double) throws -> Double {
        let burners = try (0..<count).map { _ in
            try ChildProcess(program: "/bin/sh", arguments: ["-c", "while :; do :; done"])
        }
        defer { for burner in burners { burner.signal(SIGKILL) } }
        return body()
    }
}

/// A pool and its callers.
private final class LadderBench: Sendable {
    private let group: EventLoopGroup
    private let pool: LadderWorkerPool
    private let call: LadderCall
    private let laneCount: Int

    init(workers: Int, busy: Int, sleep: Int) throws {
        var options = StandInOptions(.applicationSecret(LadderBenchCall.applicationSecret))
        options.busyMicroseconds = busy
        options.sleepMicroseconds = sleep
        var configuration = LadderModuleConfiguration(
            libraryPath: try StandInModule.build(), kind: .module(data: options.data))
        configuration.workerCount = workers
        configuration.programPath = try BuiltProgram.path("latchkeyd")
        // One loop for the workers and one that serves requests.
        group = try EventLoopGroup(count: 2)
        pool = LadderWorkerPool(configuration, on: group.loops[0], for: [group.loops[1]])
        call = try LadderBenchCall.make()
        laneCount = 8 * workers
        try pool.waitUntilStarted()
    }

    deinit {
        pool.stop(within: .seconds(5))
        group.stop(within: .seconds(5))
    }

    /// Measures the pool with eight calls in flight for each worker.
    func measure(for duration: Duration) async throws -> LadderFigures {
        let processorStart = LadderFigures.ownProcessorSeconds
        let tally = Tally(lanes: laneCount)
        let start = ContinuousClock.now
        let count = await withCheckedContinuation { continuation in
            tally.whenDone { continuation.resume(returning: $0) }
            for _ in 0..<laneCount {
                group.loops[1].spawn { [pool, call] in
                    var count = 0
                    while ContinuousClock.now - start < duration {
                        do throws(LadderModuleError) {
                            _ = try await pool.answer(call)
                            count += 1
                        } catch {
                            return tally.fail("\(error)")
                        }
                    }
                    tally.laneEnded(count)
                }
            }
        }
        if let failure = tally.failure { throw BenchmarkError("a call failed: \(failure)") }
        return LadderFigures(
            count: Double(count), seconds: (ContinuousClock.now - start) / .seconds(1),
            ownProcessorSeconds: LadderFigures.ownProcessorSeconds - processorStart)
    }
}

/// The figures of one round.
private struct LadderFigures {
    let count: Double
    let seconds: Double
    /// The processor time of this process, with callers and pool but without the workers.
    let ownProcessorSeconds: Double

    /// The answers per second.
    var rate: Double { count / seconds }

    var ownMicroseconds: Double { ownProcessorSeconds / count * 1_000_000 }

    /// The number of cores that were left for the workers.
    var coresLeft: Double { Double(Processors.count) - ownProcessorSeconds / seconds }

    static var ownProcessorSeconds: Double {
        var time = timespec()
        // Safe: a local structure.
        unsafe clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}

/// Counts the finished calls of all lanes, and signals when the last lane has ended.
private final class Tally: Sendable {
    private struct State {
        var lanesLeft: Int
        var count = 0
        var failure: String?
        var done: (@Sendable (Int) -> Void)?
    }

    private let state: Mutex<State>

    init(lanes: Int) {
        state = Mutex(State(lanesLeft: lanes))
    }

    var failure: String? { state.withLock { $0.failure } }

    func whenDone(_ body: @escaping @Sendable (Int) -> Void) {
        state.withLock { $0.done = body }
    }

    func fail(_ reason: String) {
        state.withLock { $0.failure = reason }
        laneEnded(0)
    }

    func laneEnded(_ count: Int) {
        let done: (@Sendable (Int) -> Void)?
        let total: Int
        (done, total) = state.withLock { state in
            state.lanesLeft -= 1
            state.count += count
            return (state.lanesLeft == 0 ? state.done : nil, state.count)
        }
        done?(total)
    }
}

/// A loop that only runs trivial tasks, one at a time, a thousand per second.
private final class LoopProbe: Sendable {
    private let group: EventLoopGroup

    init() throws {
        group = try EventLoopGroup(count: 1, name: "probe")
    }

    deinit {
        group.stop(within: .seconds(5))
    }

    /// The 99th percentile in seconds.
    func p99(for duration: Duration) -> Double {
        let times = Mutex<[Double]>([])
        let end = ContinuousClock.now + duration
        while ContinuousClock.now < end {
            let done = DispatchSemaphore(value: 0)
            let start = ContinuousClock.now
            group.loops[0].spawn {
                let time = (ContinuousClock.now - start) / .seconds(1)
                times.withLock { $0.append(time) }
                done.signal()
            }
            done.wait()
            usleep(1_000)
        }
        let sorted = times.withLock { $0.sorted() }
        return sorted[sorted.count * 99 / 100]
    }
}

/// A valid call for the stand-in module.
private enum LadderBenchCall {
    static let applicationSecret = [UInt8](0x10...0x1F)

    static func make() throws -> LadderCall {
        let crypto = try CryptoContext()
        let ladder = try ApplicationSecretKeyLadder(.applicationSecret, SecretBytes(copying: applicationSecret))
        let r2 = Array(try crypto.randomBytes(count: 21))
        let plain = Array(try crypto.randomBytes(count: 96))
        let iv = try crypto.randomBytes16()
        let encrypted = try crypto.encryptCBC(plain, key: ladder.deriveDASk(r2: r2[...], using: crypto), iv: iv)
        return LadderCall(
            content: .init(key: SharedSecret(try .random(count: 16)), iv: try crypto.randomBytes16(), kind: .video),
            blocks: .init(
                sessionKeyBlock: iv.bytes + encrypted, r2: r2, integrity: Bytes16(plain, at: 80), video: nil),
            keyFormats: [0x58b3_8165_af0e_3d5a], protocolVersionUsed: 1,
            certificateHash: [UInt8](repeating: 1, count: 20), wanted: .generic)
    }
}
