import Synchronization

/// One session key to be unwrapped: a lane of a batch.
///
/// The key always has 16 bytes: until the backend has run, and if the padding or the size does not fit, it
/// is a random one. What follows then runs through the same code for good and bad ciphertexts alike, and fails at its
/// end.
///
/// A settled job holds the session key alone, and may be read by all threads: it is never written again.
package final class RSAUnwrapJob: Sendable {
    package static let sessionKeySize = 16

    fileprivate struct Input {
        let key: RSAPrivateKey
        let padding: OAEPDigest
        let message: [UInt8]
        let range: Range<Int>
    }

    /// Nil once the backend has taken it, so that what is remembered of a job keeps no message and no private key.
    private let input: Mutex<Input?>
    private let genuine = Atomic<Bool>(false)

    /// The session key, 16 bytes; random unless `isGenuine`.
    package let sessionKey: SecretBytes
    /// Whether the ciphertext held a session key of 16 bytes. False until the backend has run.
    package var isGenuine: Bool { genuine.load(ordering: .acquiring) }

    /// `range` of `message` is the ciphertext; `decoy` is the random key that stands in for one that cannot be had.
    package init(
        key: RSAPrivateKey, padding: OAEPDigest, message: [UInt8], range: Range<Int>, decoy: consuming SecretBytes
    ) {
        precondition(decoy.count == Self.sessionKeySize, "a session key has 16 bytes")
        input = Mutex(Input(key: key, padding: padding, message: message, range: range))
        self.sessionKey = decoy
    }

    /// What is to be unwrapped, once.
    fileprivate func takeInput() -> Input? { input.withLock { $0.take() } }

    /// Takes over the first 16 bytes of `output` if they are the whole message, in a time that does not depend on it.
    fileprivate func settle(output: borrowing SecretBytes, size: Int?) {
        let fits = size == Self.sessionKeySize
        let mask: UInt8 = fits ? 0xFF : 0
        unsafe sessionKey.withUnsafeMemory { target in
            unsafe output.withUnsafeMemory { source in
                // Both have at least 16 bytes: the one by `init`, the other holds a whole modulus.
                for index in 0..<Self.sessionKeySize {
                    unsafe target[index] = (source[index] & mask) | (target[index] & ~mask)
                }
            }
        }
        genuine.store(fits, ordering: .releasing)
    }
}

/// How many private operations a process has run: the counter that shows that a refused token bought none.
package final class RSAOperationCount: Sendable {
    private let total = Atomic<UInt64>(0)
    private let batches = Atomic<UInt64>(0)

    package init() {}

    package var value: UInt64 { total.load(ordering: .relaxed) }
    /// In how many batches they were run.
    package var batchCount: UInt64 { batches.load(ordering: .relaxed) }

    func addBatch(of count: Int) {
        total.wrappingAdd(UInt64(count), ordering: .relaxed)
        batches.wrappingAdd(1, ordering: .relaxed)
    }
}

/// Unwraps session keys in batches. A backend belongs to one loop.
///
/// RSA is nearly all of a licence's cost, so requests of one turn are collected and handed over together; a backend
/// that computes several lanes at once uses that.
package protocol RSAUnwrapper: AnyObject {
    /// How many jobs are best handed over at once.
    var groupSize: Int { get }
    /// Up to how many jobs gain nothing from waiting for more.
    var loneGroupMaximum: Int { get }

    /// Settles every job of the batch; a job whose ciphertext does not open keeps its random key.
    func unwrap(_ batch: [RSAUnwrapJob])
}

/// The backend that is always there: OpenSSL, one operation after another, with contexts prepared once per key.
package final class OpenSSLRSAUnwrapper: RSAUnwrapper {
    private struct ContextName: Hashable {
        let key: ObjectIdentifier
        let padding: OAEPDigest
    }

    /// A few operations between two looks at the sockets; each one costs what it costs alone.
    package let groupSize = 4
    package let loneGroupMaximum = 4

    private let count: RSAOperationCount
    // A context keeps its key alive, so that no identifier is ever used for a second key.
    private var contexts: [ContextName: (key: RSAPrivateKey, context: RSAOperationContext)] = [:]
    /// Where a message lands before its size is known: as long as the largest modulus (4096 bits).
    private let output = SecretBytes(count: 512)

    package init(counting count: RSAOperationCount) {
        self.count = count
    }

    package func unwrap(_ batch: [RSAUnwrapJob]) {
        count.addBatch(of: batch.count)
        for job in batch {
            job.settle(output: output, size: decrypt(job))
        }
    }

    private func decrypt(_ job: RSAUnwrapJob) -> Int? {
        guard let input = job.takeInput(), let context = context(for: input) else { return nil }
        let message = input.message
        return unsafe context.decrypt(message.span.bytes.extracting(input.range), into: output)
    }

    private func context(for input: RSAUnwrapJob.Input) -> RSAOperationContext? {
        let name = ContextName(key: ObjectIdentifier(input.key), padding: input.padding)
        if let known = contexts[name] { return known.context }
        guard input.key.modulusSize <= output.count,
            let made = RSAOperationContext(key: input.key.key, padding: input.padding, decrypting: true)
        else { return nil }
        contexts[name] = (input.key, made)
        return made
    }
}
