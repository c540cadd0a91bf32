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
