import ByteCoding

/// Compares an accelerator with OpenSSL before it serves: their results, and then their speed.
///
/// RSA: keys of both sizes, two different keys in a batch, full and partial batches, both paddings, and ciphertexts
/// that must be refused. ES256: two different keys in a batch, full and partial batches, and in each lane a good
/// signature and every kind of bad one.
enum AcceleratorSelfTest {
    private static let laneCounts = [AcceleratorLibrary.laneCount, 3, 1]
    /// How often a batch is timed. The shortest time counts, because everything else on the machine only adds to it.
    private static let timedBatchCount = 5

    /// Returns how many jobs are worth a batch. Throws if any result differs.
    static func run(_ library: AcceleratorLibrary) throws(AcceleratorRefusal) -> AcceleratorBreakEven {
        let breakEven = try compareRSA(library)
        guard verifiesTheSame(ES256Lanes(library), try wrap(AcceleratorRefusal.cryptography, try es256Trials())) else {
            throw .selfTestFailed(.es256)
        }
        return breakEven
    }

    // MARK: RSA

    private static func compareRSA(_ library: AcceleratorLibrary) throws(AcceleratorRefusal) -> AcceleratorBreakEven {
        guard let lanes = RSALanes(library) else { throw .cryptography(.operationFailed("fetch algorithms")) }
        return AcceleratorBreakEven(
            jobs1024: try compareRSA(lanes, bits: 1024), jobs2048: try compareRSA(lanes, bits: 2048))
    }

    /// Compares the results and then the speed with one size of key. Returns how many jobs OpenSSL computes in the time
    /// of a batch.
    private static func compareRSA(_ lanes: RSALanes, bits: Int) throws(AcceleratorRefusal) -> Int {
        do throws(CryptoError) {
            let keys = [try RSAPrivateKey.generate(bits: bits), try RSAPrivateKey.generate(bits: bits)]
            if try computesTheSame(lanes, keys), let jobs = try breakEven(lanes, keys[0]) { return jobs }
        } catch {
            throw .cryptography(error)
        }
        throw .selfTestFailed(.rsa(bits: bits))
    }

    /// Returns how many jobs OpenSSL computes in the time of a batch; nil if a result is wrong.
    private static func breakEven(_ lanes: RSALanes, _ key: RSAPrivateKey) throws(CryptoError) -> Int? {
        let openSSL = OpenSSLRSAUnwrapper(counting: RSAOperationCount())
        let count = AcceleratorLibrary.laneCount
        var (batch, job) = (Duration.seconds(1), Duration.seconds(1))
        for _ in 0..<timedBatchCount {
            var trials: [Trial] = []
            for _ in 0..<count { trials.append(try Trial(0, key: key)) }
            let (inputs, references) = (trials.compactMap { $0.takeLane() }, trials.map(\.reference))
            let start = ContinuousClock.now
            let wrong = lanes.settle(inputs, size: key.modulusSize)
            let middle = ContinuousClock.now
            openSSL.unwrap(references)
            job = min(job, middle.duration(to: .now) / count)
            batch = min(batch, start.duration(to: middle))
            guard inputs.count == count, wrong.isEmpty, trials.allSatisfy(\.isSame) else { return nil }
        }
        return AcceleratorBreakEven.jobs(inTimeOf: batch, each: job)
    }

    private static func computesTheSame(_ lanes: RSALanes, _ keys: [RSAPrivateKey]) throws(CryptoError) -> Bool {
        for count in laneCounts {
            var trials: [Trial] = []
            for index in 0..<count { trials.append(try Trial(index, key: keys[index % keys.count])) }
            let inputs = trials.compactMap { $0.takeLane() }
            guard inputs.count == count, lanes.settle(inputs, size: keys[0].modulusSize).isEmpty else { return false }
            OpenSSLRSAUnwrapper(counting: RSAOperationCount()).unwrap(trials.map(\.reference))
            guard trials.allSatisfy(\.isSame) else { return false }
        }
        return true
    }

    /// A ciphertext with two jobs: one for the accelerator, and one for OpenSSL.
    private struct Trial {
        let job: RSAUnwrapJob
        let reference: RSAUnwrapJob
        private let key: RSAPrivateKey
        private let isGood: Bool

        /// Makes a trial. Most ciphertexts are good; some are random numbers, and some no numbers below the modulus.
        init(_ index: Int, key: RSAPrivateKey) throws(CryptoError) {
            let padding: OAEPDigest = index / 2 % 2 == 0 ? .sha1 : .sha256
            let secret = try SecretBytes.random(count: RSAUnwrapJob.sessionKeySize)
            var message = try key.publicKey.encrypt(secret, padding: padding)
            switch index {
            case 3: message = [0] + (try RandomBytes.generate(count: message.count - 1))
            case 4: message = [UInt8](repeating: 0xFF, count: message.count)
            default: break
            }
            let decoy = try SecretBytes.random(count: RSAUnwrapJob.sessionKeySize)
            job = RSAUnwrapJob(
                key: key, padding: padding, message: message, range: 0..<message.count, decoy: decoy.copy())
            reference = RSAUnwrapJob(
                key: key, padding: padding, message: message, range: 0..<message.count, decoy: decoy)
            self.key = key
            isGood = index != 3 && index != 4
        }

        /// Takes the accelerator's part, once; nil if it cannot use the key.
        func takeLane() -> RSALanes.Lane? {
            guard let numbers = key.acceleratedNumbers, let input = job.takeInput() else { return nil }
            return RSALanes.Lane(job: job, input: input, numbers: numbers)
        }

        var isSame: Bool {
            job.isGenuine == isGood && reference.isGenuine == isGood
                && job.sessionKey.isEqual(to: reference.sessionKey)
        }
    }

    // MARK: ES256

    /// The order of the group of P-256 (SP 800-186, section 3.2.1.3), big-endian. No r and no s may reach it.
    private static let groupOrder: [UInt8] = [
        0xFF, 0xFF, 0xFF, 0xFF, 0x00, 0x00, 0x00, 0x00, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF,
        0xBC, 0xE6, 0xFA, 0xAD, 0xA7, 0x17, 0x9E, 0x84, 0xF3, 0xB9, 0xCA, 0xC2, 0xFC, 0x63, 0x25, 0x51,
    ]

    /// Makes good signatures of two keys, and then bad ones: another message, another key, a bit of r and of s changed,
    /// r and s exchanged, and zero, the group's order, and the largest number in the place of each.
    private static func es256Trials() throws(CryptoError) -> [ES256Check] {
        let crypto = try CryptoContext()
        let keys = [try ES256PrivateKey.generate(), try ES256PrivateKey.generate()]
        var checks: [ES256Check] = []
        func add(_ signature: [UInt8], _ message: [UInt8], _ key: Int) throws(CryptoError) {
            let key = keys[key].publicKey
            guard key.fitsLanes, let check = ES256Check(signature[...], for: message[...], by: key, using: crypto)
            else { throw .operationFailed("prepare a signature") }
            checks.append(check)
        }
        for index in 0..<2 {
            let message = try RandomBytes.generate(count: 40 + index)
            let signature = try keys[index].signature(for: message)
            let (r, s) = (Array(signature.prefix(32)), Array(signature.suffix(32)))
            for _ in 0..<3 { try add(signature, message, index) }
            try add(signature, message + [0], index)
            try add(signature, message, 1 - index)
            for changed in [0, 31, 32, 63] {
                var bad = signature
                bad[changed] ^= 1
                try add(bad, message, index)
            }
            try add(s + r, message, index)
            for number in [[UInt8](repeating: 0, count: 32), groupOrder, [UInt8](repeating: 0xFF, count: 32)] {
                try add(number + s, message, index)
                try add(r + number, message, index)
            }
        }
        return checks
    }

    /// Runs every trial in every lane, and the first ones in partial batches.
    private static func verifiesTheSame(_ lanes: ES256Lanes, _ trials: [ES256Check]) -> Bool {
        let expected = trials.map { $0.verify() == true }
        let batches = trials.indices.map { start in
            (0..<AcceleratorLibrary.laneCount).map { (start + $0) % trials.count }
        }
        let partial = laneCounts.map { count in Array(0..<count) }
        return (batches + partial).allSatisfy { batch in
            lanes.verify(batch.map { trials[$0] }) == batch.map { expected[$0] }
        }
    }
}
