import Synchronization

/// A job of a batch: one session key to unwrap.
///
/// The key always has 16 bytes. It is random until the backend has run, and stays random if the padding or the size is
/// wrong. So the following steps run the same code for valid and invalid ciphertexts, and fail at the end.
///
/// After the backend has run, a job contains only the session key. It is never written again, so all threads may read
/// it.
package final class RSAUnwrapJob: Sendable {
    package static let sessionKeySize = 16

    struct Input {
        let key: RSAPrivateKey
        let padding: OAEPDigest
        let message: [UInt8]
        let range: Range<Int>
    }

    /// The input; nil after the backend has taken it, so that a stored job keeps no message and no private key.
    private let input: Mutex<Input?>
    private let genuine = Atomic<Bool>(false)
    /// The size of the key's modulus in bytes.
    package let modulusSize: Int

    /// The session key, 16 bytes; random unless `isGenuine`.
    package let sessionKey: SecretBytes
    /// Whether the ciphertext contained a session key of 16 bytes. False until the backend has run.
    package var isGenuine: Bool { genuine.load(ordering: .acquiring) }

    /// Makes a job. `range` of `message` is the ciphertext. `decoy` is the random key that is used if unwrapping fails.
    package init(
        key: RSAPrivateKey, padding: OAEPDigest, message: [UInt8], range: Range<Int>, decoy: consuming SecretBytes
    ) {
        precondition(decoy.count == Self.sessionKeySize, "a session key has 16 bytes")
        modulusSize = key.modulusSize
        input = Mutex(Input(key: key, padding: padding, message: message, range: range))
        self.sessionKey = decoy
    }

    /// Returns the input, once.
    func takeInput() -> Input? { input.withLock { $0.take() } }

    /// Whether an accelerator can use the key. False after the input was taken.
    var canBeAccelerated: Bool { input.withLock { $0?.key.acceleratedNumbers != nil } }

    /// Copies the first 16 bytes of `output` to the session key if they are the whole message, in constant time.
    func settle(output: borrowing SecretBytes, size: Int?) {
        let fits = size == Self.sessionKeySize
        let mask: UInt8 = fits ? 0xFF : 0
        unsafe sessionKey.withUnsafeMemory { target in
            unsafe output.withUnsafeMemory { source in
                // Safe: both have at least 16 bytes. `init` has checked one, and the other contains a whole modulus.
                for index in 0..<Self.sessionKeySize {
                    unsafe target[index] = (source[index] & mask) | (target[index] & ~mask)
                }
            }
        }
        genuine.store(fits, ordering: .releasing)
    }
}

/// The number of RSA private operations of the process. It can show that a refused token has caused none.
package final class RSAOperationCount: Sendable {
    private let all = BatchCount()
    private let accelerated = BatchCount()

    package init() {}

    package var value: UInt64 { all.members }
    /// The number of batches.
    package var batchCount: UInt64 { all.batches }
    /// The number of operations that ran side by side with others, in an accelerator.
    package var acceleratedCount: UInt64 { accelerated.members }
    /// The number of batches of these operations. `acceleratedCount` divided by it tells how full the batches were.
    package var acceleratedBatchCount: UInt64 { accelerated.batches }

    func addBatch(of count: Int) { all.add(count) }

    func addAcceleratedBatch(of count: Int) {
        all.add(count)
        accelerated.add(count)
    }
}

/// Unwraps session keys in batches. A backend belongs to one loop, and runs on the thread beside it or on the loop,
/// never on both at once.
///
/// RSA is nearly the whole cost of a license. So requests are collected and unwrapped together, for backends that can
/// compute several operations in parallel.
package protocol RSAUnwrapper: AnyObject {
    /// The best number of jobs in one batch.
    var groupSize: Int { get }
    /// The largest number of jobs that should not wait for more jobs.
    var loneGroupMaximum: Int { get }

    /// Whether a batch with these jobs has room for one more.
    func hasRoom(for job: RSAUnwrapJob, after batch: [RSAUnwrapJob]) -> Bool

    /// Settles all jobs of the batch. A job whose ciphertext cannot be decrypted keeps its random key.
    func unwrap(_ batch: [RSAUnwrapJob])
}

/// The default backend: OpenSSL, which runs one operation after another, with one prepared context per key.
package final class OpenSSLRSAUnwrapper: RSAUnwrapper {
    private struct ContextName: Hashable {
        let key: ObjectIdentifier
        let padding: OAEPDigest
    }

    /// A larger batch would hardly be cheaper per operation, and its first request would wait longer for its last one.
    package let groupSize = 4
    package let loneGroupMaximum = 4
    /// More than a configuration has credentials.
    private static let contextCountMaximum = 256

    private let count: RSAOperationCount
    /// An entry does not keep its key alive: a key that was replaced must not stay in memory.
    private struct Entry {
        weak var key: RSAPrivateKey?
        let context: RSAOperationContext
    }

    private var contexts: [ContextName: Entry] = [:]
    /// The buffer for a message before its size is known. It is as long as the largest modulus (4096 bits).
    private let output = SecretBytes(count: 512)

    package init(counting count: RSAOperationCount) {
        self.count = count
    }

    package func hasRoom(for job: RSAUnwrapJob, after batch: [RSAUnwrapJob]) -> Bool { batch.count < groupSize }

    package func unwrap(_ batch: [RSAUnwrapJob]) {
        count.addBatch(of: batch.count)
        for job in batch {
            if let input = job.takeInput() { settle(job, input) }
        }
    }

    /// Settles one job, whose input was taken.
    func settle(_ job: RSAUnwrapJob, _ input: RSAUnwrapJob.Input) {
        job.settle(output: output, size: decrypt(input))
    }

    private func decrypt(_ input: RSAUnwrapJob.Input) -> Int? {
        guard let context = context(for: input) else { return nil }
        let message = input.message
        return unsafe context.decrypt(message.span.bytes.extracting(input.range), into: output)
    }

    private func context(for input: RSAUnwrapJob.Input) -> RSAOperationContext? {
        let name = ContextName(key: ObjectIdentifier(input.key), padding: input.padding)
        // Another key may have got the object identifier of a key that was released.
        if let known = contexts[name], known.key === input.key { return known.context }
        guard input.key.modulusSize <= output.count,
            let made = RSAOperationContext(key: input.key.key, padding: input.padding, decrypting: true)
        else { return nil }
        // Each reload brings new keys. The contexts of the old ones must not pile up.
        contexts = contexts.filter { $0.value.key != nil }
        if contexts.count >= Self.contextCountMaximum { contexts.removeAll() }
        input.key.note(made)
        contexts[name] = Entry(key: input.key, context: made)
        return made
    }
}
