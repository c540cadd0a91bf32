package import KeyCrypto

/// What a check has found about the ES256 signature of a token.
struct SignatureVerdict: Sendable {
    /// The key with which the signature was checked. The verdict says nothing about any other key.
    let key: ES256PublicKey
    let isValid: Bool
}

/// The signature of a token that is not remembered. It can be checked in a batch, before the token is verified.
package struct PendingSignature: Sendable {
    package let check: ES256Check
    let token: TokenDigest
    let generation: UInt64
}
