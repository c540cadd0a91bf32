import COpenSSL

/// The digest of an OAEP padding, used for the label and for MGF1 alike; the label is empty.
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

/// An RSA private key; shared by all loops, which keep their own contexts for it.
package final class RSAPrivateKey: Sendable {
    let key: OpenSSLKey
    /// Whether the bytes that it was read from were encrypted.
    package let wasEncrypted: Bool

    private init(_ key: OpenSSLKey, wasEncrypted: Bool = false) {
        self.key = key
        self.wasEncrypted = wasEncrypted
    }

    /// PEM or DER, PKCS#8 or PKCS#1; the passphrase is used if they are encrypted.
    ///
    /// Throws `notAKey`, `passphraseMissing` or `passphraseWrong`.
    package convenience init(parsing bytes: [UInt8], passphrase: SharedSecret? = nil) throws(CryptoError) {
        guard let reading = try PrivateKeyReader.read(bytes, passphrase: passphrase), reading.key.isKind("RSA") else {
            throw .notAKey("an RSA private key in PEM or DER")
        }
        self.init(reading.key, wasEncrypted: reading.wasEncrypted)
    }

    /// A fresh key with a modulus of `bits` (1024 or 2048 in FairPlay).
    package static func generate(bits: Int) throws(CryptoError) -> RSAPrivateKey {
        guard let key = unsafe OpenSSLKey(owning: latchkey_rsa_generate(bits)) else {
            throw .operationFailed("generate an RSA key")
        }
        return RSAPrivateKey(key)
    }

    /// The size of the modulus and of every ciphertext, in bytes.
    package var modulusSize: Int { key.size }

    package var publicKey: RSAPublicKey { RSAPublicKey(key) }

    /// PKCS#8 PEM without encryption.
    package func privatePEM() throws(CryptoError) -> SecretBytes {
        try key.privatePEM()
    }
}

/// An RSA public key, as a device uses it.
package final class RSAPublicKey: Sendable {
    let key: OpenSSLKey

    init(_ key: OpenSSLKey) {
        self.key = key
    }

    /// SubjectPublicKeyInfo in PEM or DER. Throws `notAKey`.
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

    /// OAEP with an empty label. The result has `modulusSize` bytes.
    package func encrypt(_ message: borrowing SecretBytes, padding: OAEPDigest) throws(CryptoError) -> [UInt8] {
        guard let context = RSAOperationContext(key: key, padding: padding, decrypting: false) else {
            throw .operationFailed("start RSA")
        }
        return try context.encrypt(message)
    }
}

/// The one owner of an `EVP_PKEY_CTX`, prepared for OAEP in one direction; one thread at a time may use it.
@safe
final class RSAOperationContext {
    private let context: OpaquePointer
    private let modulusSize: Int
    /// Big-endian, `modulusSize` bytes; public.
    private let modulus: [UInt8]

    init?(key: OpenSSLKey, padding: OAEPDigest, decrypting: Bool) {
        // A copy of the key for each context: threads that share one take turns at its blinding. The context keeps the
        // copy alive.
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
        unsafe EVP_PKEY_CTX_free(context)
    }

    func encrypt(_ message: borrowing SecretBytes) throws(CryptoError) -> [UInt8] {
        var output = [UInt8](repeating: 0, count: modulusSize)
        var size = modulusSize
        let encrypted = unsafe message.withUnsafeMemory { bytes in
            // `output` has room for one modulus, which is what OAEP gives.
            unsafe output.withUnsafeMutableBufferPointer { buffer in
                unsafe EVP_PKEY_encrypt(context, buffer.baseAddress, &size, bytes, message.count)
            }
        }
        guard encrypted == 1, size == modulusSize else { throw .operationFailed("encrypt with RSA") }
        return output
    }

    /// Decrypts into `output` (at least one modulus long) and gives the size of the message, or nil if the padding
    /// does not fit.
    ///
    /// A ciphertext that is no number below the modulus, or of another size, is refused by OpenSSL before the private
    /// operation. Whether it is one is public, but the refusal shall cost what the others cost: the operation then runs
    /// on a stand-in, and its result is dropped.
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
            // `output` has `size` bytes, at least as many as the modulus.
            unsafe EVP_PKEY_decrypt(context, memory, &size, ciphertext, ciphertext.count)
        }
        // The queue is cleared on every path, so that a refusal costs what a success costs and leaves no text behind.
        ERR_clear_error()
        return decrypted == 1 ? size : nil
    }
}
