package import ByteCoding
package import KeyCrypto

/// The SHA-256 of a whole token.
package struct TokenDigest: Hashable, Sendable {
    package let value: Bytes32

    package init(_ value: Bytes32) {
        self.value = value
    }

    /// Digests a token. `crypto` belongs to the calling thread.
    package init(of token: [UInt8], using crypto: CryptoContext) throws(CryptoError) {
        self.init(try crypto.sha256(of: token))
    }
}
