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

extension VerificationKey {
    /// Checks that the token was signed with this key. A verdict about this key is believed.
    ///
    /// Throws `signatureInvalid`; `cryptoFailed` if OpenSSL cannot tell, because a good token must not be refused then.
    func checkSignature(of token: Token, knowing verdict: SignatureVerdict?) throws(EntitlementError) {
        let isValid: Bool? =
            if let key = es256 {
                key === verdict?.key ? verdict?.isValid : key.verify(token.signature[...], for: token.signedBytes)
            } else {
                isValidSignature(of: token)
            }
        guard let isValid else { throw .cryptoFailed }
        guard isValid else { throw .signatureInvalid }
    }

    func isValidSignature(of token: Token) -> Bool {
        isValid(token.signature[...], for: token.signedBytes)
    }
}
