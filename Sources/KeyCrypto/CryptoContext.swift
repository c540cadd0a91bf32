package import ByteCoding
import COpenSSL

/// The ciphers and digests of one thread, fetched once.
///
/// OpenSSL's look-up of an algorithm takes a lock and costs more than the work on a short message, so each loop has its own context and
/// hands it to whoever computes. One thread at a time may use it.
///
/// AES is AES-128 without padding throughout (protocol, section 1). Sizes are in bytes.
@safe
package final class CryptoContext {
    private enum Mode { case cbc, ecb }
    private enum Digest { case sha1, sha256 }

    private let cbc: OpaquePointer
    private let ecb: OpaquePointer
    private let sha1Algorithm: OpaquePointer
    private let sha256Algorithm: OpaquePointer
    private let cipherContext: OpaquePointer
    private let digestContext: OpaquePointer
    private var randomPool: [UInt8] = []
    private var randomOffset = 0

    /// Fetches everything; throws `operationFailed` where the installation lacks an algorithm.
    package init() throws(CryptoError) {
        // Every pointer is checked here once and freed in `deinit`; a failure leaks a few fetched objects as the process ends.
        guard let cbc = unsafe EVP_CIPHER_fetch(nil, "AES-128-CBC", nil),
            let ecb = unsafe EVP_CIPHER_fetch(nil, "AES-128-ECB", nil),
            let sha1 = unsafe EVP_MD_fetch(nil, "SHA1", nil),
            let sha256 = unsafe EVP_MD_fetch(nil, "SHA2-256", nil),
            let cipherContext = unsafe EVP_CIPHER_CTX_new(), let digestContext = unsafe EVP_MD_CTX_new()
        else { throw .operationFailed("fetch algorithms") }
        unsafe self.cbc = cbc
        unsafe self.ecb = ecb
        unsafe self.sha1Algorithm = sha1
        unsafe self.sha256Algorithm = sha256
        unsafe self.cipherContext = cipherContext
        unsafe self.digestContext = digestContext
    }

    deinit {
        unsafe EVP_CIPHER_free(cbc)
        unsafe EVP_CIPHER_free(ecb)
        unsafe EVP_MD_free(sha1Algorithm)
        unsafe EVP_MD_free(sha256Algorithm)
        unsafe EVP_CIPHER_CTX_free(cipherContext)
        unsafe EVP_MD_CTX_free(digestContext)
    }

    // MARK: - AES

    /// Decrypts a whole number of blocks; the plain bytes are not secret.
    package func decryptCBC(
        _ bytes: [UInt8], in range: Range<Int>, key: borrowing SecretBytes, iv: Bytes16
    ) throws(CryptoError) -> [UInt8] {
        try start(.cbc, encrypting: false, key: key, keyOffset: 0, iv: iv)
        return try unsafe process(bytes.span.bytes.extracting(range))
    }

    /// Decrypts a whole number of blocks into secret memory.
    package func decryptCBCSecret(
        _ bytes: [UInt8], in range: Range<Int>, key: borrowing SecretBytes, iv: Bytes16
    ) throws(CryptoError) -> SecretBytes {
        try start(.cbc, encrypting: false, key: key, keyOffset: 0, iv: iv)
        let plain = SecretBytes(count: range.count)
        let input = unsafe bytes.span.bytes.extracting(range)
        try unsafe plain.withUnsafeMemory { (output) throws(CryptoError) in try unsafe update(input, into: output) }
        return plain
    }

    /// Encrypts a whole number of blocks.
    package func encryptCBC(_ bytes: [UInt8], key: borrowing SecretBytes, iv: Bytes16) throws(CryptoError) -> [UInt8] {
        try start(.cbc, encrypting: true, key: key, keyOffset: 0, iv: iv)
        return try unsafe process(bytes.span.bytes)
    }

    /// Encrypts a secret (a whole number of blocks) under another one; what comes out is fit to be sent.
    package func encryptCBC(
        secret: borrowing SecretBytes, key: borrowing SecretBytes, iv: Bytes16
    ) throws(CryptoError) -> [UInt8] {
        try start(.cbc, encrypting: true, key: key, keyOffset: 0, iv: iv)
        return try secret.withBytes { (bytes) throws(CryptoError) in try process(bytes) }
    }

    /// Encrypts one secret block under the 16 bytes of `key` from `keyOffset`.
    package func encryptBlock(
        secret: borrowing SecretBytes, key: borrowing SecretBytes, keyOffset: Int = 0
    ) throws(CryptoError) -> Bytes16 {
        try start(.ecb, encrypting: true, key: key, keyOffset: keyOffset, iv: nil)
        let wrapped = try secret.withBytes { (bytes) throws(CryptoError) in try process(bytes) }
        guard let block = Bytes16(wrapped) else { throw .wrongSize(expected: 16, actual: wrapped.count) }
        return block
    }

    /// Encrypts one block that need not stay secret into a key.
    package func deriveKey(from block: Bytes16, key: borrowing SecretBytes) throws(CryptoError) -> SecretBytes {
        try start(.ecb, encrypting: true, key: key, keyOffset: 0, iv: nil)
        return try secretBlock(block)
    }

    /// Decrypts one block into a key, under the 16 bytes of `key` from `keyOffset`.
    package func unwrapBlock(
        _ block: Bytes16, key: borrowing SecretBytes, keyOffset: Int = 0
    ) throws(CryptoError) -> SecretBytes {
        try start(.ecb, encrypting: false, key: key, keyOffset: keyOffset, iv: nil)
        return try secretBlock(block)
    }

    private func secretBlock(_ block: Bytes16) throws(CryptoError) -> SecretBytes {
        let derived = SecretBytes(count: 16)
        var words = (block.high.bigEndian, block.low.bigEndian)
        try unsafe derived.withUnsafeMemory { (output) throws(CryptoError) in
            try unsafe withUnsafeBytes(of: &words) { (input) throws(CryptoError) in
                try unsafe update(RawSpan(_unsafeBytes: input), into: output)
            }
        }
        return derived
    }

    private func start(
        _ mode: Mode, encrypting: Bool, key: borrowing SecretBytes, keyOffset: Int, iv: Bytes16?
    ) throws(CryptoError) {
        guard key.count >= keyOffset + 16 else { throw .wrongSize(expected: keyOffset + 16, actual: key.count) }
        var ivWords = (iv?.high.bigEndian ?? 0, iv?.low.bigEndian ?? 0)
        let started = unsafe key.withUnsafeMemory { keyBytes in
            // OpenSSL copies 16 key bytes, which the guard showed to be there, and 16 bytes of the vector.
            unsafe withUnsafeBytes(of: &ivWords) { ivBytes in
                unsafe EVP_CipherInit_ex2(
                    cipherContext, mode == .cbc ? cbc : ecb, keyBytes + keyOffset,
                    ivBytes.bindMemory(to: UInt8.self).baseAddress,
                    encrypting ? 1 : 0, nil) == 1 && EVP_CIPHER_CTX_set_padding(cipherContext, 0) == 1
            }
        }
        guard started else { throw .operationFailed("start AES") }
    }

    private func process(_ input: RawSpan) throws(CryptoError) -> [UInt8] {
        var failure: CryptoError?
        let output = unsafe [UInt8](unsafeUninitializedCapacity: input.byteCount) { buffer, initializedCount in
            // The output of whole blocks without padding is as long as the input; on failure none counts as written.
            do throws(CryptoError) {
                if let base = buffer.baseAddress { try unsafe update(input, into: base) }
                initializedCount = input.byteCount
            } catch {
                failure = error
                initializedCount = 0
            }
        }
        if let failure { throw failure }
        return output
    }

    private func update(_ input: RawSpan, into output: UnsafeMutablePointer<UInt8>) throws(CryptoError) {
        guard input.byteCount % 16 == 0 else {
            throw .wrongSize(expected: (input.byteCount + 15) & ~15, actual: input.byteCount)
        }
        var written: Int32 = 0
        let updated = unsafe input.withUnsafeBytes { bytes in
            unsafe EVP_CipherUpdate(
                cipherContext, output, &written, bytes.bindMemory(to: UInt8.self).baseAddress, Int32(bytes.count))
        }
        guard updated == 1, Int(written) == input.byteCount else { throw .operationFailed("run AES") }
    }

    // MARK: - Digests

    /// SHA-1 (20 bytes) of a part of `bytes`.
    package func sha1(_ bytes: [UInt8], in range: Range<Int>) throws(CryptoError) -> [UInt8] {
        try unsafe digest(.sha1, size: 20, bytes.span.bytes.extracting(range))
    }

    /// The first 16 bytes of the SHA-1 of a part of a secret, as a key: the anti-replay key is one (protocol, section 3.3).
    package func sha1Key(of secret: borrowing SecretBytes, in range: Range<Int>) throws(CryptoError) -> SecretBytes {
        let full = SecretBytes(count: 20)
        try secret.withBytes { (bytes) throws(CryptoError) in
            try unsafe full.withUnsafeMemory { (output) throws(CryptoError) in
                try unsafe digest(.sha1, bytes.extracting(range), into: output)
            }
        }
        return full.copy(0..<16)
    }

    /// SHA-256 (32 bytes).
    package func sha256(_ bytes: [UInt8]) throws(CryptoError) -> [UInt8] {
        try unsafe digest(.sha256, size: 32, bytes.span.bytes)
    }

    private func digest(_ algorithm: Digest, size: Int, _ input: RawSpan) throws(CryptoError) -> [UInt8] {
        var output = [UInt8](repeating: 0, count: size)
        try unsafe output.withUnsafeMutableBufferPointer { (buffer) throws(CryptoError) in
            guard let base = buffer.baseAddress else { return }
            try unsafe digest(algorithm, input, into: base)
        }
        return output
    }

    /// `output` has room for the digest of `algorithm`.
    private func digest(
        _ algorithm: Digest, _ input: RawSpan, into output: UnsafeMutablePointer<UInt8>
    ) throws(CryptoError) {
        let done = unsafe input.withUnsafeBytes { bytes in
            unsafe EVP_DigestInit_ex2(digestContext, algorithm == .sha1 ? sha1Algorithm : sha256Algorithm, nil) == 1
                && EVP_DigestUpdate(digestContext, bytes.baseAddress, bytes.count) == 1
                && EVP_DigestFinal_ex(digestContext, output, nil) == 1
        }
        guard done else { throw .operationFailed("digest") }
    }

    // MARK: - Random bytes

    /// Random bytes that need not stay secret, drawn 1 KiB at a time; each is handed out once.
    package func randomBytes(count: Int) throws(CryptoError) -> ArraySlice<UInt8> {
        if randomPool.count - randomOffset < count {
            randomPool = try RandomBytes.generate(count: max(1024, count))
            randomOffset = 0
        }
        defer { randomOffset += count }
        return randomPool[randomOffset..<randomOffset + count]
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

    /// A number from 0 up to `bound` (at most 256), which must be a power of two so that all are alike.
    package func randomIndex(below bound: Int) throws(CryptoError) -> Int {
        precondition(bound > 0 && bound <= 256 && bound & (bound - 1) == 0, "a power of two up to 256")
        let byte = try randomBytes(count: 1).first ?? 0
        return Int(byte) & (bound - 1)
    }
}
