/// Why a cryptographic operation gave nothing; never holds key material or OpenSSL's own text.
package enum CryptoError: Error, Equatable, Sendable {
    /// OpenSSL refused an operation that should not fail: out of memory, or a broken installation.
    case operationFailed(String)
    /// The operating system gave no random bytes.
    case randomnessUnavailable
    /// The bytes are not a key, or not of the kind wanted; the text says what was expected.
    case notAKey(String)
    /// The key is encrypted, and no passphrase was given.
    case passphraseMissing
    /// The key does not open with the passphrase, or is encrypted in a way that this OpenSSL does not know.
    case passphraseWrong
    /// The bytes are not an X.509 certificate in DER or PEM.
    case notACertificate
    /// An authentication tag or a padding does not fit: wrong key, or altered bytes.
    case authenticationFailed
    /// A size that the algorithm does not take.
    case wrongSize(expected: Int, actual: Int)
}
