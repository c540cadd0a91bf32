/// Why a cryptographic operation failed. It contains no key material and no text of OpenSSL.
package enum CryptoError: Error, Equatable, Sendable {
    /// OpenSSL failed, because there is no memory, or because the installation is broken. The text names the operation.
    case operationFailed(String)
    /// The random generator failed.
    case randomnessUnavailable
    /// The bytes are not a key of the expected kind. The text names that kind.
    case notAKey(String)
    /// The key is encrypted, but no passphrase was given.
    case passphraseMissing
    /// The passphrase is wrong, or OpenSSL does not know the encryption of the key.
    case passphraseWrong
    /// The bytes are not an X.509 certificate in DER or PEM.
    case notACertificate
    /// An authentication tag is wrong: the key is a wrong one, or the bytes were changed.
    case authenticationFailed
    /// The algorithm does not allow the size.
    case wrongSize(expected: Int, actual: Int)
}
