package import KeyCrypto

/// A key that checks tokens, pinned to one algorithm: a token cannot choose how it is verified.
///
/// An ES256 key has no other use than as a public key, and an HS256 secret is refused where it looks like a public key, so that one can
/// never pass for the other (RFC 8725, section 2.1).
package struct VerificationKey: Sendable {
    /// The fewest bytes of an HS256 secret (RFC 7518, section 3.2).
    package static let secretSizeMinimum = 32

    /// The `kid` that selects this key.
    package let id: String

    private let material: Material

    private enum Material: Sendable {
        case es256(ES256PublicKey)
        case hs256(HMACSHA256Key)
    }

    /// A key for ECDSA P-256 signatures.
    package init(id: String, es256 key: ES256PublicKey) {
        self.id = id
        material = .es256(key)
    }

    /// A key for HMAC-SHA-256 codes. Throws `secretTooShort` and `secretIsAPublicKey`; `cryptoFailed` where OpenSSL has no HMAC.
    package init(id: String, hs256 secret: borrowing SecretBytes) throws(IssuerSetError) {
        self.id = id
        material = .hs256(try SharedSecretCheck.key(from: secret))
    }

    /// The one algorithm that this key verifies.
    package var algorithm: SigningAlgorithm {
        switch material {
        case .es256: .es256
        case .hs256: .hs256
        }
    }

    func isValidSignature(of token: Token) -> Bool {
        switch material {
        case .es256(let key): key.isValidSignature(token.signature[...], for: token.signedBytes)
        case .hs256(let key): key.isValid(token.signature[...], for: token.signedBytes)
        }
    }
}

/// Turns bytes into an HS256 key, for verifying and for minting.
enum SharedSecretCheck {
    static func key(from secret: borrowing SecretBytes) throws(IssuerSetError) -> HMACSHA256Key {
        guard secret.count >= VerificationKey.secretSizeMinimum else { throw .secretTooShort(size: secret.count) }
        guard !isPublicKey(secret) else { throw .secretIsAPublicKey }
        do throws(CryptoError) {
            return try HMACSHA256Key(secret)
        } catch {
            throw .cryptoFailed
        }
    }

    /// How a key file in PEM begins, and a P-256 public key in DER (SubjectPublicKeyInfo, RFC 5480). No random secret begins so.
    private static let publicKeyPrefixes: [[UInt8]] = [
        Array("-----BEGIN ".utf8),
        [0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01],
    ]

    private static func isPublicKey(_ secret: borrowing SecretBytes) -> Bool {
        for prefix in publicKeyPrefixes where secret.copy(0..<prefix.count).isEqual(to: SecretBytes(copying: prefix)) {
            return true
        }
        return false
    }
}
