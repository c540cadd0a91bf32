import DeviceSimulation
import FairPlay
import Foundation
import KeyCrypto
import TestSupport

/// Measures whether the time of a refusal reveals how far an SPC got. Classes of bad SPCs are measured in turn and
/// compared by Welch's t-test.
///
/// The measured time ends with the fields of the log line, which is written before the answer. The important pair is a
/// bad wrapped key and a good one with an unreadable payload (`garbagePayload`). The other SPCs have a usual number of
/// blocks, and their senders know the payload key. The method itself is checked too: it must detect a variant of the
/// server that stops at the first failure.
struct RefusalTimingBenchmark {
    /// The usual bound for such measurements.
    private static let bound = 4.5
    private let plan: BenchmarkPlan

    init(_ plan: BenchmarkPlan) {
        self.plan = plan
    }

    func run() throws {
        let stand = try RefusalStand()
        let reference = SPCFault.container(.corruptedWrappedKey)
        var isUniform = true
        let faults: [PayloadFault] = [
            .garbagePayload, .wrongIntegrity, .missingR2, .duplicateTagIdentical, .versionUsedNine,
        ]
        for fault in faults.map({ SPCFault.payload($0) }) {
            let t = try stand.compare(reference, fault, sampleCount: plan.timingSampleCount, returnsEarly: false)
            isUniform = isUniform && abs(t) < Self.bound
            print("refusal time, \(reference) against \(fault): t = \(formatted(t, decimals: 2)) (bound \(Self.bound))")
        }
        let caught = try stand.compare(
            reference, .payload(.wrongIntegrity), sampleCount: plan.timingSampleCount, returnsEarly: true)
        print("the same for a server that returns early: t = \(formatted(caught, decimals: 2)) (must exceed the bound)")
        guard abs(caught) >= Self.bound else { throw BenchmarkError("the check would not notice an early return") }
        guard isUniform else { throw BenchmarkError("refusals differ in time") }
    }
}

/// Runs the refusal of an envelope on one core.
private final class RefusalStand {
    private let crypto: CryptoContext
    private let device: SimulatedDevice
    private let credentials: CredentialSet
    private let opener: SPCOpener
    /// Counts the characters of log lines, so that the compiler cannot leave out making them.
    private var loggedCharacterCount = 0
    private let unwrapper = OpenSSLRSAUnwrapper(counting: RSAOperationCount())

    init() throws {
        let fixture = try TestCredential.shared.get()
        crypto = try CryptoContext()
        device = try fixture.makeDevice(.v1, using: crypto)
        credentials = try CredentialSet([fixture.credential])
        opener = try SPCOpener(using: crypto)
    }

    /// Measures both classes in turn, in random order within each pair. Leaves out the slowest tenth, which comes from
    /// the machine.
    func compare(_ one: SPCFault, _ other: SPCFault, sampleCount: Int, returnsEarly: Bool) throws -> Double {
        let first = try envelopes(with: one)
        let second = try envelopes(with: other)
        var times: [[Double]] = [[], []]
        for sample in 0..<sampleCount {
            let pair = [first[sample % first.count], second[sample % second.count]]
            let isSwapped = Bool.random()
            for turn in 0..<2 {
                let index = isSwapped ? 1 - turn : turn
                times[index].append(try measure(pair[index], returnsEarly: returnsEarly))
            }
        }
        let limit = (times[0] + times[1]).sorted()[sampleCount * 2 * 9 / 10]
        var test = WelchTest()
        for time in times[0] where time < limit { test.add(first: time) }
        for time in times[1] where time < limit { test.add(second: time) }
        return test.t
    }

    /// Distinct SPCs of about the same size. A fault that adds or removes a block changes the size by that block.
    private func envelopes(with fault: SPCFault) throws -> [SPCEnvelope] {
        var options = DeviceOptions(version: .v1, assetID: Array("movie-1".utf8))
        options.unknownBlockCount = 0
        options.otherBlocks = (0..<10).map { DeviceBlock(0xABCD_0000_0000_0000 + $0, [UInt8](repeating: 1, count: 40)) }
        options.shufflesBlocks = false
        return try (0..<64).map { _ in try SPCEnvelope(parsing: device.makeRequest(options, with: fault).message) }
    }

    private func measure(_ envelope: SPCEnvelope, returnsEarly: Bool) throws -> Double {
        let start = ContinuousClock.now
        let key = try credentials.key(for: envelope)
        let job = try opener.unwrapJob(for: envelope, with: key)
        unwrapper.unwrap([job])
        var wasRefused = returnsEarly && !job.isGenuine
        if !wasRefused {
            do throws(SPCError) {
                _ = try opener.open(envelope, with: key, unwrapped: job, servedVersions: [1])
            } catch {
                if case .rejected(let rejection) = error {
                    loggedCharacterCount += rejection.logged.name.description.utf8.count
                }
                wasRefused = true
            }
        }
        let elapsed = ContinuousClock.now - start
        guard wasRefused else { throw BenchmarkError("a bad SPC was accepted") }
        return elapsed / .nanoseconds(1)
    }
}

/// Welch's t for two samples with different variances: the distance of their means in standard errors.
struct WelchTest {
    private(set) var first = Moments()
    private(set) var second = Moments()

    mutating func add(first value: Double) { first.add(value) }
    mutating func add(second value: Double) { second.add(value) }

    var t: Double {
        let error = (first.variance / first.count + second.variance / second.count).squareRoot()
        return error > 0 ? (first.mean - second.mean) / error : 0
    }

    /// Mean and variance, updated one value at a time (Welford).
    struct Moments {
        private(set) var count = 0.0
        private(set) var mean = 0.0
        private var squares = 0.0

        var variance: Double { count > 1 ? squares / (count - 1) : 0 }

        mutating func add(_ value: Double) {
            count += 1
            let difference = value - mean
            mean += difference / count
            squares += difference * (value - mean)
        }
    }
}
