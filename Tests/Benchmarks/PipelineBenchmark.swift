import ByteCoding
import DeviceSimulation
import Entitlements
import EventLoops
import FairPlay
import Foundation
import Glibc
import KeyCrypto
import Licensing
import Synchronization

/// Measures everything from a request's bytes to its CKC on one loop, without HTTP: token from the cache, RSA, key from
/// SQLite, gate, CKC. RSA is computed by OpenSSL, and then by the accelerator if there is one.
struct PipelineBenchmark {
    private static let goals: [SPCVersion: Double] = [.v1: 0.92, .v2: 0.98]
    private static let acceleratedGoals: [SPCVersion: Double] = [.v1: 3.5, .v2: 2.6]
    private let plan: BenchmarkPlan
    /// The index of the next request over all rounds, so that no SPC is repeated while its session key is cached.
    private let turn = Turn()

    init(_ plan: BenchmarkPlan) {
        self.plan = plan
    }

    func run() async throws {
        let folder = URL(filePath: NSTemporaryDirectory()).appending(path: "latchkey-benchmark-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try await run(
            BenchmarkLicensing(
                databasePath: folder.appending(path: "keys.db").path,
                requestCount: BenchmarkLicensing.distinctRequestCount))
        guard let accelerator = MeasuredAccelerator.find() else { return }
        try await run(
            BenchmarkLicensing(
                databasePath: folder.appending(path: "accelerated.db").path,
                requestCount: BenchmarkLicensing.distinctRequestCount, accelerator: accelerator))
        guard accelerator.wrongResultCount == 0 else { throw BenchmarkError("the accelerator has computed wrongly") }
    }

    private func run(_ licensing: BenchmarkLicensing) async throws {
        let group = try EventLoopGroup(count: 1, computing: true)
        defer { group.stop(within: .seconds(5)) }
        for version in [SPCVersion.v1, .v2] {
            try await compare(version, licensing, on: group.loops[0])
        }
        let copies = licensing.shared.copyCount
        guard copies == 0 else { throw BenchmarkError("\(copies) SPCs were opened from memory, without RSA") }
    }

    /// Compares with `openssl speed`. Rounds alternate, because the machine's speed varies.
    private func compare(_ version: SPCVersion, _ licensing: BenchmarkLicensing, on loop: LoopContext) async throws {
        let bits = version == .v1 ? 1024 : 2048
        var speeds: [Double] = []
        var rates: [Double] = []
        for _ in 0..<plan.rounds {
            speeds.append(try OpenSSLSpeed.privateOperationsPerSecond(bits: bits, seconds: plan.secondsPerRound))
            rates.append(try await measure(version, licensing, on: loop))
        }
        let ratio = zip(rates, speeds).map { $0 / $1 }.median
        let goal = (licensing.accelerator == nil ? Self.goals : Self.acceleratedGoals)[version] ?? 1
        print(
            """
            SPC version \(version.rawValue)\(licensing.accelerator == nil ? "" : ", accelerator"), one core: openssl speed rsa\(bits) \(formatted(speeds.median)) operations/s, \
            in-process CKCs \(formatted(rates.median))/s, ratio \(formatted(ratio, decimals: 3)) (goal \(goal))
            """)
    }

    /// The licenses per second of the loop's CPU time, which `openssl speed` uses too, with 16 requests in flight on
    /// one loop. Every 97th license is opened afterwards.
    private func measure(
        _ version: SPCVersion, _ licensing: BenchmarkLicensing, on loop: LoopContext
    ) async throws -> Double {
        let requests = licensing.requests[version] ?? []
        let fields = licensing.tokens.map { "Bearer " + String(decoding: $0, as: UTF8.self) }
        let seconds = plan.secondsPerRound
        let progress = Progress()
        let start = ContinuousClock.now
        let cpuStart = await ThreadTime.read(on: loop)
        await withCheckedContinuation { continuation in
            let laneCount = 16
            let finish = Finish(lanesLeft: laneCount, continuation)
            for _ in 0..<laneCount {
                loop.spawn {
                    while ContinuousClock.now - start < .seconds(seconds) {
                        let index = turn.take()
                        let position = index % requests.count
                        let request = LicenseRequest(message: requests[position].message)
                        let field = fields[index % fields.count]
                        do throws(LicenseError) {
                            let now = BenchmarkLicensing.now
                            let pipeline = try licensing.pipelines.pipeline(on: loop)
                            let carriers = TokenCarriers(fieldValues: { $0 == "Authorization" ? [field] : [] })
                            let admission = try pipeline.admissionControl.admit(
                                request, presenting: carriers, under: licensing.rules, now: now)
                            switch try await pipeline.answer(admission, now: now) {
                            case .license(let license): progress.note(license.ckc, position: position)
                            case .syncReport, .playbackEnded: progress.fail("an ordinary SPC was taken for another")
                            }
                        } catch {
                            progress.fail("\(error)")
                        }
                    }
                    finish.laneEnded()
                }
            }
        }
        return try progress.rate(over: await ThreadTime.read(on: loop) - cpuStart, requests)
    }
}

/// A counter for several tasks.
private final class Turn: Sendable {
    private let next = Atomic(0)

    func take() -> Int { next.add(1, ordering: .relaxed).oldValue }
}

/// The CPU time of a loop's thread.
private enum ThreadTime {
    static func read(on loop: LoopContext) async -> Duration {
        await withCheckedContinuation { continuation in
            _ = loop.execute {
                var time = timespec()
                // Safe: the structure is only written during the call.
                unsafe clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
                continuation.resume(returning: .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec))
            }
        }
    }
}

/// Resumes when the last lane has ended.
private final class Finish: Sendable {
    private let lanesLeft: Mutex<Int>
    private let continuation: CheckedContinuation<Void, Never>

    init(lanesLeft: Int, _ continuation: CheckedContinuation<Void, Never>) {
        self.lanesLeft = Mutex(lanesLeft)
        self.continuation = continuation
    }

    func laneEnded() {
        let isLast = lanesLeft.withLock { left in
            left -= 1
            return left == 0
        }
        if isLast { continuation.resume() }
    }
}

/// The number of licenses, some of them to open later, and the first failure.
private final class Progress: Sendable {
    private struct State {
        var count = 0
        var samples: [(ckc: [UInt8], position: Int)] = []
        var failure: String?
    }

    private let state = Mutex(State())

    func note(_ ckc: [UInt8], position: Int) {
        state.withLock { state in
            state.count += 1
            if state.count % 97 == 0 { state.samples.append((ckc, position)) }
        }
    }

    func fail(_ reason: String) {
        state.withLock { $0.failure = $0.failure ?? reason }
    }

    func rate(over elapsed: Duration, _ requests: [DeviceRequest]) throws -> Double {
        let final = state.withLock { $0 }
        if let failure = final.failure { throw BenchmarkError("a request was refused: \(failure)") }
        let crypto = try CryptoContext()
        for sample in final.samples {
            try BenchmarkLicensing.check(sample.ckc, for: requests[sample.position], using: crypto)
        }
        return Double(final.count) / (elapsed / .seconds(1))
    }
}
