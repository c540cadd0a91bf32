/// Compares an accelerator with OpenSSL before it serves: with keys of both sizes, two different keys in a batch, full
/// and partial batches, both paddings, and ciphertexts that must be refused.
enum AcceleratorSelfTest {
    private static let laneCounts = [AcceleratorLibrary.laneCount, 3, 1]

    static func run(_ library: AcceleratorLibrary) throws(AcceleratorRefusal) {
        guard let lanes = RSALanes(library) else { throw .cryptography(.operationFailed("fetch algorithms")) }
        for size in RSAPrivateNumbers.sizes {
            let isSame: Bool
            do throws(CryptoError) {
                let keys = [try RSAPrivateKey.generate(bits: size * 8), try RSAPrivateKey.generate(bits: size * 8)]
                isSame = try computesTheSame(lanes, keys)
            } catch {
                throw .cryptography(error)
            }
            guard isSame else { throw .selfTestFailed(bits: size * 8) }
        }
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
}
