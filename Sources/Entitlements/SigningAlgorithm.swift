/// The signature algorithms that a key can be pinned to (RFC 7518, section 3.1), by their exact names.
///
/// `none` is no case, in any spelling, so no key can ever ask for it.
package enum SigningAlgorithm: String, Sendable {
    /// ECDSA over P-256 and SHA-256; the signature is r ‖ s, 64 bytes.
    case es256 = "ES256"
    /// HMAC with SHA-256; the signature is 32 bytes.
    case hs256 = "HS256"
}
