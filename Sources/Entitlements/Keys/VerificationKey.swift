import ByteCoding
package import KeyCrypto

/// A key that checks tokens, pinned to one algorithm: a token cannot choose how it is verified.
///
/// A public key is never used as an HS256 secret, and an HS256 secret that looks like a public key is refused. So one
/// can never be taken for the other (RFC 8725, section 2.1).
package struct VerificationKey: Sendable {
    /// The most bytes that a key id may have.
    package static let idSizeMaximum = 200
    /// The fewest bytes of an HS256 secret (RFC 7518, section 3.2).
    package static let secretSizeMinimum = 32

    /// The `kid` that selects this key.
    package let id: String
    package let state: KeyState
    /// Identifies the key itself, without its ID and its state. It has no secret.
    let fingerprint: [UInt8]

    private let material: Material

    private enum Material: Sendable {
        case es256(ES256PublicKey)
        case edDSA(Ed25519PublicKey)
        case rs256(RS256PublicKey)
        case hs256(HMACSHA256Key)

        /// Nil if OpenSSL fails.
        var fingerprint: [UInt8]? {
            switch self {
            case .es256(let key):
                // The x coordinate is at the same place in every form of a point. The key with the other y coordinate
                // counts as the same key, which harms no one: only the holder of the one can sign with the other.
                KeyFingerprint.der(of: try? key.publicPEM()).map { [1] + $0.dropFirst(27).prefix(32) }
            case .edDSA(let key): KeyFingerprint.der(of: try? key.publicPEM()).map { [2] + $0 }
            case .rs256(let key): KeyFingerprint.der(of: try? key.publicPEM()).map { [3] + $0 }
            case .hs256(let key): (try? key.code(for: Array("latchkey key fingerprint".utf8)[...])).map { [4] + $0 }
            }
        }
    }

    private init(_ id: String, _ state: KeyState, _ material: Material) {
        self.id = id
        self.state = state
        self.material = material
        fingerprint = material.fingerprint ?? [0] + Array(id.utf8)
    }

    /// A key for ECDSA P-256 signatures.
    package init(id: String, es256 key: ES256PublicKey, state: KeyState = .active) {
        self.init(id, state, .es256(key))
    }

    /// A key for Ed25519 signatures.
    package init(id: String, edDSA key: Ed25519PublicKey, state: KeyState = .active) {
        self.init(id, state, .edDSA(key))
    }

    /// A key for RSA signatures.
    package init(id: String, rs256 key: RS256PublicKey, state: KeyState = .active) {
        self.init(id, state, .rs256(key))
    }

    /// A key for HMAC-SHA-256 codes. Throws `secretTooShort` and `secretIsAPublicKey`; `cryptoFailed` if OpenSSL has
    /// no HMAC.
    package init(
        id: String, hs256 secret: borrowing SecretBytes, state: KeyState = .active
    ) throws(IssuerSetError) {
        self.init(id, state, .hs256(try SharedSecretCheck.key(from: secret)))
    }

    /// The one algorithm that this key verifies.
    package var algorithm: SigningAlgorithm {
        switch material {
        case .es256: .es256
        case .edDSA: .edDSA
        case .rs256: .rs256
        case .hs256: .hs256
        }
    }

    /// The key for ES256 signatures; nil if it is pinned to another algorithm.
    var es256: ES256PublicKey? {
        if case .es256(let key) = material { key } else { nil }
    }

    /// The size of a signature in bytes.
    var signatureSize: Int {
        switch material {
        case .es256, .edDSA: 64
        case .rs256(let key): key.signatureSize
        case .hs256: 32
        }
    }

    func isValid(_ signature: ArraySlice<UInt8>, for bytes: ArraySlice<UInt8>) -> Bool {
        switch material {
        case .es256(let key): key.isValidSignature(signature, for: bytes)
        case .edDSA(let key): key.isValidSignature(signature, for: bytes)
        case .rs256(let key): key.isValidSignature(signature, for: bytes)
        case .hs256(let key): key.isValid(signature, for: bytes)
        }
    }
}

private enum KeyFingerprint {
    /// The bytes of a public key that is written as PEM.
    static func der(of pem: [UInt8]?) -> [UInt8]? {
        guard let pem else { return nil }
        let lines = pem.split(separator: UInt8(ascii: "\n")).filter { $0.first != UInt8(ascii: "-") }
        return try? Base64.decode(Array(lines.joined()))
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

    /// The first bytes of key files in PEM, and of public keys in DER (SubjectPublicKeyInfo) for P-256 (RFC 5480) and
    /// Ed25519 (RFC 8410). A random secret practically never begins with them.
    private static let publicKeyPrefixes: [[UInt8]] = [
        Array("-----BEGIN ".utf8),
        [0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01],
        [0x30, 0x2A, 0x30, 0x05, 0x06, 0x03, 0x2B, 0x65, 0x70],
    ]
    /// The algorithm in a public key in DER for RSA (RFC 8017).
    private static let rsaAlgorithm: [UInt8] = [
        0x30, 0x0D, 0x06, 0x09, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01, 0x01,
    ]

    private static func isPublicKey(_ secret: borrowing SecretBytes) -> Bool {
        for prefix in publicKeyPrefixes where begins(secret, with: prefix, at: 0) { return true }
        // With 2048 bits or more, the sequence has more than 255 bytes, and so a header of 4 bytes.
        return begins(secret, with: [0x30, 0x82], at: 0) && begins(secret, with: rsaAlgorithm, at: 4)
    }

    private static func begins(_ secret: borrowing SecretBytes, with prefix: [UInt8], at offset: Int) -> Bool {
        secret.copy(offset..<offset + prefix.count).isEqual(to: SecretBytes(copying: prefix))
    }
}

/// The state of a key (entitlement, section 4.2).
package enum KeyState: Equatable, Sendable {
    /// The key is published before its use. It already verifies, because an issuer may start to use it at any time; it
    /// never signs.
    case next
    case active
    /// The key verifies until this second since 1970, which is excluded.
    case retiring(until: Int64)
    case revoked

    /// Throws `keyRevoked` and `keyRetired` if the key no longer verifies at `now`, in seconds since 1970.
    func check(now: Int64) throws(EntitlementError) {
        switch self {
        case .next, .active: return
        case .retiring(let end): if now >= end { throw .keyRetired }
        case .revoked: throw .keyRevoked
        }
    }

    /// The first second in which the key no longer verifies; nil if it has no known end.
    var end: Int64? {
        switch self {
        case .next, .active: nil
        case .retiring(let end): end
        case .revoked: .min
        }
    }
}

/// The signature algorithms to which a key can be pinned (RFC 7518, section 3.1; RFC 8037, section 3.1), by their exact
/// names.
///
/// There is deliberately no case for the algorithm `none`, so that no key can be pinned to it.
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
