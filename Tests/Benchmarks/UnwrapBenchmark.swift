import Foundation
import KeyCrypto

/// Measures how many session keys both RSA backends unwrap per second on one core, against `openssl speed`.
///
/// `LATCHKEY_ACCELERATOR` names the library of the accelerator; otherwise the installed one is used. Without a library
/// that can run on this processor, only OpenSSL is measured, and the output says why.
struct UnwrapBenchmark {
    /// As many jobs as an accelerator takes in one batch.
    private static let batchSize = 8
    private let plan: BenchmarkPlan

    init(_ plan: BenchmarkPlan) {
        self.plan = plan
    }

    func run() throws {
        let accelerator = MeasuredAccelerator.find()
        for bits in [1024, 2048] {
            let wrapped = try Wrapped(bits: bits)
            var rates: (openSSL: [Double], accelerated: [Double], reference: [Double]) = ([], [], [])
            for _ in 0..<plan.rounds {
                rates.reference.append(
                    try OpenSSLSpeed.privateOperationsPerSecond(bits: bits, seconds: plan.secondsPerRound))
                rates.openSSL.append(
                    try rate(wrapped, OpenSSLRSAUnwrapper(counting: RSAOperationCount())))
                guard let accelerator else { continue }
                rates.accelerated.append(
                    try rate(wrapped, AcceleratedRSAUnwrapper(accelerator, counting: RSAOperationCount())))
            }
            report("OpenSSL", bits, rates.openSSL, against: rates.reference, "openssl speed")
            if accelerator != nil { report("accelerator", bits, rates.accelerated, against: rates.openSSL, "OpenSSL") }
        }
    }

    private func report(_ name: String, _ bits: Int, _ rates: [Double], against others: [Double], _ other: String) {
        let ratio = zip(rates, others).map { $0 / $1 }.median
        print("RSA-\(bits), \(name): \(formatted(rates.median))/s, \(formatted(ratio, decimals: 2)) of \(other)")
    }

    /// The session keys per second that a backend unwraps in full batches.
    private func rate(_ wrapped: Wrapped, _ unwrapper: any RSAUnwrapper) throws -> Double {
        var count = 0
        let start = ContinuousClock.now
        let end = start + .seconds(plan.secondsPerRound)
        repeat {
            let jobs = (0..<Self.batchSize).map { _ in wrapped.job }
            unwrapper.unwrap(jobs)
            guard jobs.allSatisfy(\.isGenuine) else { throw BenchmarkError("a session key was not found") }
            count += jobs.count
        } while ContinuousClock.now < end
        return Double(count) / (start.duration(to: .now) / .seconds(1))
    }

    /// A wrapped session key.
    private struct Wrapped {
        let key: RSAPrivateKey
        let message: [UInt8]

        init(bits: Int) throws {
            key = try .generate(bits: bits)
            message = try key.publicKey.encrypt(SecretBytes.random(count: 16), padding: .sha1)
        }

        var job: RSAUnwrapJob {
            RSAUnwrapJob(
                key: key, padding: .sha1, message: message, range: 0..<message.count, decoy: SecretBytes(count: 16))
        }
    }
}
