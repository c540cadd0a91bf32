package import ByteCoding
import COpenSSL

/// The ciphers and digests of one thread, fetched once.
///
/// OpenSSL's look-up of an algorithm takes a lock and costs more than the work on a short message. So each loop has its
/// own context. Only one thread at a time may use it.
///
/// AES is always AES-128 without padding (protocol, section 1). Sizes are in bytes.
package final class CryptoContext {
    // If an OpenSSL context changes its algorithm, it builds its state again. So each algorithm has its own context.
    private let cbc: CipherContext
    private let ecb: CipherContext
    private let cmacContext: CMACContext
    private let sha1Context: DigestContext
    private let sha256Context: DigestContext
    private var randomPool: [UInt8] = []
    private var randomOffset = 0
    private let secretPool = SecretBytes(count: 1024)
    private var secretOffset = 1024

    /// Fetches all algorithms. Throws `operationFailed` if OpenSSL lacks one of them.
    package init() throws(CryptoError) {
        guard let cbc = CipherContext("AES-128-CBC"), let ecb = CipherContext("AES-128-ECB"),
            let cmac = CMACContext(), let sha1 = DigestContext("SHA1"), let sha256 = DigestContext("SHA2-256")
        else { throw .operationFailed("fetch algorithms") }
        self.cbc = cbc
        self.ecb = ecb
        cmacContext = cmac
        sha1Context = sha1
        sha256Context = sha256
    }

    // MARK: - AES

    /// Decrypts a whole number of blocks into ordinary memory, for plain bytes that are not secret.
    package func decryptCBC(
        _ bytes: [UInt8], in range: Range<Int>, key: borrowing SecretBytes, iv: Bytes16
    ) throws(CryptoError) -> [UInt8] {
        try cbc.start(encrypting: false, key: key, iv: iv)
        defer { cbc.forgetKey() }
        return try unsafe cbc.process(bytes.span.bytes.extracting(range))
    }

    /// Decrypts a whole number of blocks into secret memory.
    package func decryptCBCSecret(
        _ bytes: [UInt8], in range: Range<Int>, key: borrowing SecretBytes, iv: Bytes16
    ) throws(CryptoError) -> SecretBytes {
        try cbc.start(encrypting: false, key: key, iv: iv)
        defer { cbc.forgetKey() }
        let plain = SecretBytes(count: range.count)
        let input = unsafe bytes.span.bytes.extracting(range)
        try unsafe plain.withUnsafeMemory { (output) throws(CryptoError) in try unsafe cbc.update(input, into: output) }
        return plain
    }

    /// Encrypts a whole number of blocks.
    package func encryptCBC(_ bytes: [UInt8], key: borrowing SecretBytes, iv: Bytes16) throws(CryptoError) -> [UInt8] {
        try cbc.start(encrypting: true, key: key, iv: iv)
        defer { cbc.forgetKey() }
        return try unsafe cbc.process(bytes.span.bytes)
    }

    /// Encrypts a secret, which is a whole number of blocks, with another secret. The result may be sent.
    package func encryptCBC(
        secret: borrowing SecretBytes, key: borrowing SecretBytes, iv: Bytes16
    ) throws(CryptoError) -> [UInt8] {
        try cbc.start(encrypting: true, key: key, iv: iv)
        defer { cbc.forgetKey() }
        return try secret.withBytes { (bytes) throws(CryptoError) in try cbc.process(bytes) }
    }

    /// Encrypts one secret block with the 16 bytes of `key` from `keyOffset` on.
    package func encryptBlock(
        secret: borrowing SecretBytes, key: borrowing SecretBytes, keyOffset: Int = 0
    ) throws(CryptoError) -> Bytes16 {
        try ecb.start(encrypting: true, key: key, keyOffset: keyOffset)
        defer { ecb.forgetKey() }
        let wrapped = try secret.withBytes { (bytes) throws(CryptoError) in try ecb.process(bytes) }
        guard let block = Bytes16(wrapped) else { throw .wrongSize(expected: 16, actual: wrapped.count) }
        return block
    }

    /// Derives a key: the encryption of one block, which need not be secret.
    package func deriveKey(from block: Bytes16, key: borrowing SecretBytes) throws(CryptoError) -> SecretBytes {
        try ecb.start(encrypting: true, key: key)
        defer { ecb.forgetKey() }
        return try secretBlock(block)
    }

    /// Decrypts one block to a key, with the 16 bytes of `key` from `keyOffset` on.
    package func unwrapBlock(
        _ block: Bytes16, key: borrowing SecretBytes, keyOffset: Int = 0
    ) throws(CryptoError) -> SecretBytes {
        try ecb.start(encrypting: false, key: key, keyOffset: keyOffset)
        defer { ecb.forgetKey() }
        return try secretBlock(block)
    }

    private func secretBlock(_ block: Bytes16) throws(CryptoError) -> SecretBytes {
        let derived = SecretBytes(count: 16)
        var words = (block.high.bigEndian, block.low.bigEndian)
        try unsafe derived.withUnsafeMemory { (output) throws(CryptoError) in
            try unsafe withUnsafeBytes(of: &words) { (input) throws(CryptoError) in
                try unsafe ecb.update(RawSpan(_unsafeBytes: input), into: output)
            }
        }
        return derived
    }

    /// Returns the AES-128-CMAC (RFC 4493) of the concatenated parts: 16 bytes, which must be compared with
    /// `ConstantTime`.
    ///
    /// The key has 16 bytes. Throws `wrongSize` for another size.
    package func cmac(of parts: [ArraySlice<UInt8>], key: borrowing SecretBytes) throws(CryptoError) -> [UInt8] {
        try cmacContext.code(of: parts, key: key)
    }

    // MARK: - Digests

    /// Returns the SHA-1 (20 bytes) of a part of `bytes`.
    package func sha1(_ bytes: [UInt8], in range: Range<Int>) throws(CryptoError) -> [UInt8] {
        try unsafe sha1Context.digest(bytes.span.bytes.extracting(range))
    }

    /// Returns the first 16 bytes of the SHA-1 of a part of a secret, as a key. The anti-replay key is made so
    /// (protocol, section 3.3).
    package func sha1Key(of secret: borrowing SecretBytes, in range: Range<Int>) throws(CryptoError) -> SecretBytes {
        let full = SecretBytes(count: 20)
        try secret.withBytes { (bytes) throws(CryptoError) in
            try unsafe full.withUnsafeMemory { (output) throws(CryptoError) in
                try unsafe sha1Context.digest(bytes.extracting(range), into: output)
            }
        }
        return full.copy(0..<16)
    }

    /// Returns the SHA-256 (32 bytes) of `bytes`.
    package func sha256(_ bytes: [UInt8]) throws(CryptoError) -> [UInt8] {
        try unsafe sha256Context.digest(bytes.span.bytes)
    }

    package func sha256(_ bytes: ArraySlice<UInt8>) throws(CryptoError) -> [UInt8] {
        try unsafe sha256Context.digest(bytes.span.bytes)
    }

    /// Returns the SHA-256 of `bytes` without an array on the heap.
    package func sha256(of bytes: [UInt8]) throws(CryptoError) -> Bytes32 {
        // Safe: a SHA-256 has 32 bytes.
        try unsafe Bytes32 { (output) throws(CryptoError) in
            try unsafe sha256Context.digest(bytes.span.bytes, into: output)
        }
    }

    // MARK: - Random bytes

    /// Returns random bytes that need not be secret. They are generated 1 KiB at a time, and each byte is used once.
    package func randomBytes(count: Int) throws(CryptoError) -> ArraySlice<UInt8> {
        if randomPool.count - randomOffset < count {
            randomPool = try RandomBytes.generate(count: max(1024, count))
            randomOffset = 0
        }
        defer { randomOffset += count }
        return randomPool[randomOffset..<randomOffset + count]
    }

    /// Returns a random secret of at most 128 bytes. The bytes are generated 1 KiB at a time, and are wiped from the
    /// pool when they are returned.
    package func randomSecret(count: Int) throws(CryptoError) -> SecretBytes {
        if secretPool.count - secretOffset < count {
            try secretPool.fillWithRandomBytes()
            secretOffset = 0
        }
        defer { secretOffset += count }
        return secretPool.take(secretOffset..<secretOffset + count)
    }

    package func randomBytes16() throws(CryptoError) -> Bytes16 {
        let bytes = try randomBytes(count: 16)
        var block = Bytes16.zero
        for (index, byte) in bytes.enumerated() {
            if index < 8 {
                block.high = block.high << 8 | UInt64(byte)
            } else {
                block.low = block.low << 8 | UInt64(byte)
            }
        }
        return block
    }

    /// Returns a random number from 0 up to, but not including, `bound`.
    ///
    /// The bound is at most 256, and must be a power of two, so that all numbers are equally likely.
    package func randomIndex(below bound: Int) throws(CryptoError) -> Int {
        precondition(bound > 0 && bound <= 256 && bound & (bound - 1) == 0, "a power of two up to 256")
        let byte = try randomBytes(count: 1).first ?? 0
        return Int(byte) & (bound - 1)
    }
}

/// AES-128-CMAC (RFC 4493): the owner of an `EVP_MAC_CTX`. Only one thread at a time may use it.
@safe
final class CMACContext {
    private let context: OpaquePointer

    /// The size of a key and of a code in bytes.
    static let size = 16

    /// Fetches the algorithm; nil if OpenSSL has no CMAC.
    init?() {
        guard let algorithm = unsafe EVP_MAC_fetch(nil, "CMAC", nil) else { return nil }
        // The context has its own reference.
        defer { unsafe EVP_MAC_free(algorithm) }
        guard let context = unsafe EVP_MAC_CTX_new(algorithm) else { return nil }
        unsafe self.context = context
    }

    deinit {
        unsafe EVP_MAC_CTX_free(context)
    }

    /// Returns the code of the concatenated parts. The key has 16 bytes.
    func code(of parts: [ArraySlice<UInt8>], key: borrowing SecretBytes) throws(CryptoError) -> [UInt8] {
        guard key.count == Self.size else { throw .wrongSize(expected: Self.size, actual: key.count) }
        // Safe: OpenSSL copies the key during the call.
        let started = unsafe key.withUnsafeMemory { bytes in
            unsafe latchkey_cmac_aes128_init(context, bytes, key.count) == 1
        }
        guard started else { throw .operationFailed("start CMAC") }
        for part in parts {
            // An empty part is skipped, because it may have no address.
            let updated = unsafe part.withUnsafeBufferPointer { bytes in
                unsafe bytes.isEmpty || EVP_MAC_update(context, bytes.baseAddress, bytes.count) == 1
            }
            guard updated else { throw .operationFailed("run CMAC") }
        }
        var output = [UInt8](repeating: 0, count: Self.size)
        var size = 0
        // Safe: `output` has room for the whole code.
        let finished = unsafe EVP_MAC_final(context, &output, &size, Self.size) == 1
        guard finished, size == Self.size else { throw .operationFailed("run CMAC") }
        return output
    }
}

/// One digest: the owner of an `EVP_MD_CTX`. Only one thread at a time may use it.
@safe
final class DigestContext {
    private let algorithm: OpaquePointer
    private let context: OpaquePointer
    /// The size of a digest in bytes.
    private let size: Int

    /// Fetches the algorithm; nil if OpenSSL has no algorithm with this name.
    init?(_ name: String) {
        guard let algorithm = unsafe EVP_MD_fetch(nil, name, nil) else { return nil }
        guard let context = unsafe EVP_MD_CTX_new() else {
            unsafe EVP_MD_free(algorithm)
            return nil
        }
        unsafe self.algorithm = algorithm
        unsafe self.context = context
        size = unsafe Int(EVP_MD_get_size(algorithm))
    }

    deinit {
        unsafe EVP_MD_CTX_free(context)
        unsafe EVP_MD_free(algorithm)
    }

    func digest(_ input: RawSpan) throws(CryptoError) -> [UInt8] {
        var output = [UInt8](repeating: 0, count: size)
        try unsafe output.withUnsafeMutableBufferPointer { (buffer) throws(CryptoError) in
            guard let base = buffer.baseAddress else { return }
            try unsafe digest(input, into: base)
        }
        return output
    }

    /// Computes a digest into `output`, which has room for one.
    func digest(_ input: RawSpan, into output: UnsafeMutablePointer<UInt8>) throws(CryptoError) {
        let done = unsafe input.withUnsafeBytes { bytes in
            unsafe EVP_DigestInit_ex2(context, algorithm, nil) == 1
                && EVP_DigestUpdate(context, bytes.baseAddress, bytes.count) == 1
                && EVP_DigestFinal_ex(context, output, nil) == 1
        }
        guard done else { throw .operationFailed("digest") }
    }
}
