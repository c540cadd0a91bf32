package import KeyCrypto

/// Why files do not make a credential.
package enum CredentialError: Error, Equatable, Sendable {
    case noCertificate
    case wrongKeySize(expected: Int, actual: Int)
    case keyMismatch(bits: Int)
    /// SPC version 3 is enabled, and there is no 2048-bit key that could open it.
    case version3WithoutKey2048
    case cryptography(CryptoError)
    /// Two credentials have the same certificate hash for the same version.
    case duplicateHash(first: String, second: String)
}
