import ByteCoding
package import KeyCrypto

/// The contents of a token that is to be signed.
package struct TokenContents: Equatable, Sendable {
    package var issuer: String
    package var audience: String
    package var subject: String?
    /// `jti`. The caller chooses it, because it is random.
    package var tokenID: String?
    /// `iat` in seconds since 1970.
    package var issuedAt: Int64
    /// `nbf` in seconds since 1970.
    package var notBefore: Int64?
    /// `exp` in seconds since 1970.
    package var expiresAt: Int64
    package var rights: [Right]

    package init(
        issuer: String, audience: String, subject: String? = nil, tokenID: String? = nil, issuedAt: Int64,
        notBefore: Int64? = nil, expiresAt: Int64, rights: [Right]
    ) {
        self.issuer = issuer
        self.audience = audience
        self.subject = subject
        self.tokenID = tokenID
        self.issuedAt = issuedAt
        self.notBefore = notBefore
        self.expiresAt = expiresAt
        self.rights = rights
    }

    /// The payload in the native vocabulary.
    var json: [UInt8] {
        JSONWriter.object { writer in
            writer.member("iss", issuer)
            writer.member("aud", audience)
            if let subject { writer.member("sub", subject) }
            writer.member("iat", issuedAt)
            if let notBefore { writer.member("nbf", notBefore) }
            writer.member("exp", expiresAt)
            if let tokenID { writer.member("jti", tokenID) }
            writer.array("rights") { writer in for right in rights { right.write(to: &writer) } }
        }
    }
}

/// Signs tokens: for development, for tests, and for operators without an issuer of their own.
package struct TokenMinter: Sendable {
    private enum Material: Sendable {
        case es256(ES256PrivateKey)
        case edDSA(Ed25519PrivateKey)
        case rs256(RSAPrivateKey)
        case hs256(HMACSHA256Key)
    }

    private let keyID: String
    private let material: Material

    package init(keyID: String, es256 key: ES256PrivateKey) {
        self.keyID = keyID
        material = .es256(key)
    }

    package init(keyID: String, edDSA key: Ed25519PrivateKey) {
        self.keyID = keyID
        material = .edDSA(key)
    }

    /// Makes a minter with an RSA key of at least 2048 bits.
    package init(keyID: String, rs256 key: RSAPrivateKey) {
        self.keyID = keyID
        material = .rs256(key)
    }

    /// Makes a minter with an HS256 secret. Throws the errors of the same initializer of `VerificationKey`.
    package init(keyID: String, hs256 secret: borrowing SecretBytes) throws(IssuerSetError) {
        self.keyID = keyID
        material = .hs256(try SharedSecretCheck.key(from: secret))
    }

    /// Returns a compact token in its canonical form. The contents are not checked: that is the verifier's task.
    package func mint(_ contents: TokenContents) throws(CryptoError) -> String {
        try sign(contents.json)
    }

    /// Returns the payload of a token in another dialect, for `sign`. Throws for a claim that the dialect cannot
    /// express.
    package func payload(_ contents: TokenContents, in dialect: TokenDialect) throws(UnsayableClaim) -> [UInt8] {
        try contents.payload(in: dialect, keyID: keyID)
    }

    /// Returns a compact token with this payload.
    package func sign(_ payload: [UInt8]) throws(CryptoError) -> String {
        let signed = Base64URL.encode(header) + "." + Base64URL.encode(payload)
        return signed + "." + Base64URL.encode(try signature(for: Array(signed.utf8)))
    }

    private var algorithm: SigningAlgorithm {
        switch material {
        case .es256: .es256
        case .edDSA: .edDSA
        case .rs256: .rs256
        case .hs256: .hs256
        }
    }

    private var header: [UInt8] {
        JSONWriter.object { writer in
            writer.member("alg", algorithm.rawValue)
            writer.member("kid", keyID)
            writer.member("typ", "JWT")
        }
    }

    private func signature(for message: [UInt8]) throws(CryptoError) -> [UInt8] {
        switch material {
        case .es256(let key): try key.signature(for: message)
        case .edDSA(let key): try key.signature(for: message)
        case .rs256(let key): try key.rs256Signature(for: message)
        case .hs256(let key): try key.code(for: message[...])
        }
    }
}
