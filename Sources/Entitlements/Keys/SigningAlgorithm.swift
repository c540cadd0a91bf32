/// The signature algorithms that a key can be pinned to (RFC 7518, section 3.1; RFC 8037, section 3.1), by their exact
/// names.
///
/// `none` is no case, in any spelling, so no key can ever ask for it.
package enum SigningAlgorithm: String, Sendable, CaseIterable {
    /// ECDSA over P-256 and SHA-256; the signature is r ‖ s, 64 bytes.
    case es256 = "ES256"
    /// Ed25519; the signature is 64 bytes.
    case edDSA = "EdDSA"
    /// RSA, PKCS #1 v1.5, with SHA-256; the signature is as long as the modulus.
    case rs256 = "RS256"
    /// HMAC with SHA-256; the signature is 32 bytes.
    case hs256 = "HS256"
}
