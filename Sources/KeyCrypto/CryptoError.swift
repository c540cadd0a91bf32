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

extension CryptoError: CustomStringConvertible {
    /// Words for the log and for people, without anything of a key.
    package var description: String {
        switch self {
        case .operationFailed(let operation): "OpenSSL could not \(operation)"
        case .randomnessUnavailable: "the operating system gave no random bytes"
        case .notAKey(let expected): "the bytes are no key of the kind that is needed: \(expected)"
        case .passphraseMissing: "the key is encrypted, and no passphrase was given"
        case .passphraseWrong: "the key does not open with the passphrase"
        case .notACertificate: "the bytes are no certificate in DER or PEM"
        case .authenticationFailed: "the authentication tag or the padding does not fit"
        case .wrongSize(let expected, let actual): "\(actual) bytes were given where \(expected) are needed"
        }
    }
}
