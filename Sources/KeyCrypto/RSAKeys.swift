import COpenSSL
import Synchronization

/// The digest of an OAEP padding, for both the label and MGF1. The label is empty.
package enum OAEPDigest: Sendable, Equatable {
    /// SPC version 1 (protocol, section 1.1).
    case sha1
    /// SPC version 2 and 3.
    case sha256

    var name: String {
        switch self {
        case .sha1: "SHA1"
        case .sha256: "SHA256"
        }
    }
}

/// An RSA private key, which all loops share. Each loop has its own contexts for it.
package final class RSAPrivateKey: Sendable {
    let key: OpenSSLKey
    /// Whether the file of the key was encrypted.
    package let wasEncrypted: Bool
    /// The key for an accelerator, made at its first use; nil inside if no accelerator can use the key.
    private let numbers = Mutex<RSAPrivateNumbers??>(.none)
    /// The contexts of the loops, each with a copy of the key.
    private let contexts = Mutex<[WeakContext]>([])

    private struct WeakContext {
        weak var context: RSAOperationContext?
    }

    private init(_ key: OpenSSLKey, wasEncrypted: Bool = false) {
        self.key = key
        self.wasEncrypted = wasEncrypted
    }

    /// Frees the copies of the key at once. The loops themselves notice only at their next use of another key. No loop
    /// uses a copy now, because it holds the key while it does.
    deinit {
        for entry in contexts.withLock({ $0 }) { entry.context?.end() }
    }

    /// Notes a context that has a copy of this key.
    func note(_ context: RSAOperationContext) {
        contexts.withLock { contexts in
            contexts.removeAll { $0.context == nil }
            contexts.append(WeakContext(context: context))
        }
    }

    /// Reads a key in PEM or DER, PKCS#8 or PKCS#1. The passphrase is used if the key is encrypted.
    ///
    /// Throws `notAKey`, `passphraseMissing` or `passphraseWrong`.
    package convenience init(parsing bytes: [UInt8], passphrase: SharedSecret? = nil) throws(CryptoError) {
        guard let reading = try PrivateKeyReader.read(bytes, passphrase: passphrase), reading.key.isKind("RSA") else {
            throw .notAKey("an RSA private key in PEM or DER")
        }
        self.init(reading.key, wasEncrypted: reading.wasEncrypted)
    }

    /// Generates a key with a modulus of `bits` bits (1024 or 2048 in FairPlay).
    package static func generate(bits: Int) throws(CryptoError) -> RSAPrivateKey {
        guard let key = unsafe OpenSSLKey(owning: latchkey_rsa_generate(bits)) else {
            throw .operationFailed("generate an RSA key")
        }
        return RSAPrivateKey(key)
    }

    /// The size of the modulus and of every ciphertext, in bytes.
    package var modulusSize: Int { key.size }

    package var publicKey: RSAPublicKey { RSAPublicKey(key) }

    /// The key for an accelerator; nil if no accelerator can use it.
    var acceleratedNumbers: RSAPrivateNumbers? {
        numbers.withLock { numbers in
            if let known = numbers { return known }
            let made = RSAPrivateNumbers(key)
            numbers = .some(made)
            return made
        }
    }

    /// Returns the key as unencrypted PKCS#8 PEM.
    package func privatePEM() throws(CryptoError) -> SecretBytes {
        try key.privatePEM()
    }
}

/// An RSA public key, with which devices encrypt.
package final class RSAPublicKey: Sendable {
    let key: OpenSSLKey

    init(_ key: OpenSSLKey) {
        self.key = key
    }

    /// Reads a SubjectPublicKeyInfo in PEM or DER. Throws `notAKey`.
    package convenience init(parsing bytes: [UInt8]) throws(CryptoError) {
        guard let key = OpenSSLKey.publicKey(from: bytes), key.isKind("RSA") else {
            throw .notAKey("an RSA public key in PEM or DER")
        }
        self.init(key)
    }

    package var modulusSize: Int { key.size }

    package func matches(_ privateKey: RSAPrivateKey) -> Bool {
        key.hasSamePublicPart(as: privateKey.key)
    }

    /// Encrypts with OAEP and an empty label. The result has `modulusSize` bytes.
    package func encrypt(_ message: borrowing SecretBytes, padding: OAEPDigest) throws(CryptoError) -> [UInt8] {
        guard let context = RSAOperationContext(key: key, padding: padding, decrypting: false) else {
            throw .operationFailed("start RSA")
        }
        return try context.encrypt(message)
    }

    /// Encrypts a block of `modulusSize` bytes without a padding, for a caller that has padded it.
    package func encryptUnpadded(_ block: [UInt8]) throws(CryptoError) -> [UInt8] {
        guard block.count == modulusSize else { throw .wrongSize(expected: modulusSize, actual: block.count) }
        guard let context = unsafe EVP_PKEY_CTX_new_from_pkey(nil, key.pointer, nil) else {
            throw .operationFailed("start RSA")
        }
        defer { unsafe EVP_PKEY_CTX_free(context) }
        var output = [UInt8](repeating: 0, count: modulusSize)
        var size = modulusSize
        // Safe: `output` has room for one modulus, which is the size of the result.
        let encrypted =
            unsafe EVP_PKEY_encrypt_init(context) == 1
            && EVP_PKEY_CTX_set_rsa_padding(context, RSA_NO_PADDING) == 1
            && EVP_PKEY_encrypt(context, &output, &size, block, block.count) == 1
        guard encrypted, size == modulusSize else { throw .operationFailed("encrypt with RSA") }
        return output
    }
}

/// The owner of an `EVP_PKEY_CTX` that is prepared for OAEP in one direction. Only one thread at a time may use it, and
/// any thread may end it when no other one uses it any more.
@safe
final class RSAOperationContext: @unchecked Sendable {
    // Safe to send: `end` takes the context out atomically, and the rest never changes.
    private let freed = Atomic<Bool>(false)
    private let context: OpaquePointer
    private let modulusSize: Int
    /// The modulus, big-endian with `modulusSize` bytes. It is not secret.
    private let modulus: [UInt8]

    init?(key: OpenSSLKey, padding: OAEPDigest, decrypting: Bool) {
        // Each context has its own copy of the key: threads that share a key must wait for its blinding. The context
        // keeps the copy alive.
        guard let copy = unsafe OpenSSLKey(owning: EVP_PKEY_dup(key.pointer)),
            let context = unsafe EVP_PKEY_CTX_new_from_pkey(nil, copy.pointer, nil)
        else { return nil }
        unsafe self.context = context
        self.modulusSize = key.size
        self.modulus = key.modulus
        guard modulus.count == modulusSize else { return nil }
        let prepared =
            unsafe (decrypting ? EVP_PKEY_decrypt_init(context) : EVP_PKEY_encrypt_init(context)) == 1
            && EVP_PKEY_CTX_set_rsa_padding(context, RSA_PKCS1_OAEP_PADDING) == 1
            && EVP_PKEY_CTX_set_rsa_oaep_md_name(context, padding.name, nil) == 1
            && EVP_PKEY_CTX_set_rsa_mgf1_md_name(context, padding.name, nil) == 1
        if !prepared { return nil }
    }

    deinit {
        end()
    }

    /// Frees the context with its copy of the key. It must not be used again.
    func end() {
        guard !freed.exchange(true, ordering: .acquiringAndReleasing) else { return }
        unsafe EVP_PKEY_CTX_free(context)
    }

    func encrypt(_ message: borrowing SecretBytes) throws(CryptoError) -> [UInt8] {
        var output = [UInt8](repeating: 0, count: modulusSize)
        var size = modulusSize
        let encrypted = unsafe message.withUnsafeMemory { bytes in
            // Safe: `output` has room for one modulus, which is the size of the result.
            unsafe output.withUnsafeMutableBufferPointer { buffer in
                unsafe EVP_PKEY_encrypt(context, buffer.baseAddress, &size, bytes, message.count)
            }
        }
        guard encrypted == 1, size == modulusSize else { throw .operationFailed("encrypt with RSA") }
        return output
    }

    /// Decrypts into `output`, which is at least one modulus long. Returns the size of the message; nil if the padding
    /// is wrong.
    ///
    /// OpenSSL refuses a ciphertext of another size, or one that is not below the modulus, before the private
    /// operation. Such a refusal must take as long as any other one. So the operation then runs with another number,
    /// and its result is dropped.
    func decrypt(_ ciphertext: RawSpan, into output: borrowing SecretBytes) -> Int? {
        precondition(output.count >= modulusSize, "the output has room for a whole modulus")
        let bytes = unsafe ciphertext.withUnsafeBytes { unsafe [UInt8]($0) }
        guard bytes.count == modulusSize, bytes.lexicographicallyPrecedes(modulus) else {
            let standIn = [UInt8](repeating: 0, count: modulusSize - 1) + [2]
            _ = decryptNumber(standIn, into: output)
            return nil
        }
        return decryptNumber(bytes, into: output)
    }

    private func decryptNumber(_ ciphertext: [UInt8], into output: borrowing SecretBytes) -> Int? {
        var size = output.count
        let decrypted = unsafe output.withUnsafeMemory { memory in
            // Safe: `output` has `size` bytes, at least as many as the modulus.
            unsafe EVP_PKEY_decrypt(context, memory, &size, ciphertext, ciphertext.count)
        }
        // The error queue is cleared in every case, so that a refusal and a success take the same time.
        ERR_clear_error()
        return decrypted == 1 ? size : nil
    }
}
