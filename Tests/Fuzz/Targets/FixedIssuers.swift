import ByteCoding
import KeyCrypto
import TestSupport

@testable import Entitlements

/// A verifier with one issuer of each dialect, session tokens and sealed tokens, and the keys that sign for them. All
/// keys are fixed, and used nowhere else.
struct FixedIssuers {
    static let now: Int64 = 1_750_000_000
    static let audience = "latchkey"
    static let sealingKeyID: UInt32 = 1

    /// The key that signs a compact token, and the issuer to which it belongs.
    enum Signer: String, CaseIterable {
        case native = "hs"
        case nagra = "na"
        case axinom = "ax"
        case es256 = "es"
        case edDSA = "ed"

        /// The id of the key, at most 200 bytes.
        var keyID: String { rawValue }

        var algorithm: SigningAlgorithm {
            switch self {
            case .native, .nagra, .axinom: .hs256
            case .es256: .es256
            case .edDSA: .edDSA
            }
        }
    }

    let verifier: TokenVerifier
    let sessionKey: SessionTokens.Key
    let sealingKey: TokenSealingKey
    private let ecKey: ES256PrivateKey
    private let edKey: Ed25519PrivateKey
    private let stranger: HMACSHA256Key

    init() throws {
        ecKey = try ES256PrivateKey(
            parsing: Self.pkcs8("3041020100301306072a8648ce3d020106082a8648ce3d030107042730250201010420", 1))
        edKey = try Ed25519PrivateKey(parsing: Self.pkcs8("302e020100300506032b657004220420", 2))
        sealingKey = TokenSealingKey(id: Self.sealingKeyID, key: try AES256GCMKey(Self.secret(3)))
        stranger = try HMACSHA256Key(Self.secret(4))
        let sessions = try SessionTokens(key: HMACSHA256Key(Self.secret(5)))
        sessionKey = sessions.current
        let revoked = VerificationKey(id: "rv", edDSA: edKey.publicKey, state: .revoked)
        let issuers = [
            Issuer(
                name: "https://portal.example", audience: Self.audience, dialect: .jwt,
                keys: [
                    try Self.key(.native), VerificationKey(id: Signer.es256.keyID, es256: ecKey.publicKey),
                    VerificationKey(id: Signer.edDSA.keyID, edDSA: edKey.publicKey), revoked,
                ], maximumLife: 86_400),
            Issuer(name: "nagra", audience: Self.audience, dialect: .nagra, keys: [try Self.key(.nagra)]),
            Issuer(name: "axinom", audience: Self.audience, dialect: .axinom, keys: [try Self.key(.axinom)]),
            Issuer(
                name: "customers", audience: Self.audience, dialect: .expressPlay, keys: [],
                sealingKeys: [sealingKey], maximumLife: 30 * 86_400),
        ]
        verifier = TokenVerifier(issuers: try IssuerSet(issuers), sessions: sessions)
    }

    func outcome(of token: [UInt8]) -> Result<Claims, EntitlementError> {
        do throws(EntitlementError) {
            return .success(try verifier.verify(token, now: Self.now))
        } catch {
            return .failure(error)
        }
    }

    // MARK: Signing

    /// A compact token. Unless a header is given, it has one that fits the signer's key.
    func token(_ payload: [UInt8], header: [UInt8]? = nil, by signer: Signer) throws -> [UInt8] {
        let signed = Self.signedPart(
            header ?? Array(#"{"alg":"\#(signer.algorithm.rawValue)","kid":"\#(signer.keyID)"}"#.utf8), payload)
        let signature =
            switch signer {
            case .native, .nagra, .axinom: try HMACSHA256Key(Self.secret(signer)).code(for: signed[...])
            case .es256: try ecKey.signature(for: signed)
            case .edDSA: try edKey.signature(for: signed)
            }
        return signed + Array(".".utf8) + Array(Base64URL.encode(signature).utf8)
    }

    func sessionToken(_ payload: [UInt8]) throws -> [UInt8] {
        let signed = Self.signedPart(Array(#"{"alg":"HS256","kid":"\#(sessionKey.id)","typ":"JWT"}"#.utf8), payload)
        return signed + Array(".".utf8) + Array(Base64URL.encode(try sessionKey.code.code(for: signed[...])).utf8)
    }

    /// A sealed token with these fields. Its nonce is random, which affects no property.
    func sealedToken(_ fields: [UInt8]) throws -> [UInt8] {
        var header = ByteWriter(capacity: 6)
        header.write(SealedToken.version)
        header.write(SealedToken.type)
        header.write(sealingKey.id)
        let message = try sealingKey.key.sealMessage(SecretBytes(copying: fields), header: header.bytes)
        return Array(Base64URL.encode(message).utf8)
    }

    /// The same compact token, signed with a key that no issuer has.
    func signedByStranger(_ token: [UInt8]) throws -> [UInt8] {
        guard let dot = token.lastIndex(of: UInt8(ascii: ".")) else { return token }
        let code = try stranger.code(for: token[..<dot])
        return token[...dot] + Array(Base64URL.encode(code).utf8)
    }

    // MARK: Keys

    private static func signedPart(_ header: [UInt8], _ payload: [UInt8]) -> [UInt8] {
        Array((Base64URL.encode(header) + "." + Base64URL.encode(payload)).utf8)
    }

    private static func key(_ signer: Signer) throws -> VerificationKey {
        try VerificationKey(id: signer.keyID, hs256: secret(signer))
    }

    private static func secret(_ signer: Signer) -> SecretBytes {
        switch signer {
        case .native: secret(6)
        case .nagra: secret(7)
        case .axinom: secret(8)
        case .es256, .edDSA: secret(9)
        }
    }

    private static func secret(_ byte: UInt8) -> SecretBytes {
        SecretBytes(copying: [UInt8](repeating: byte, count: 32))
    }

    private static func pkcs8(_ prefix: String, _ byte: UInt8) throws -> [UInt8] {
        try Hexadecimal.decode(prefix) + [UInt8](repeating: byte, count: 32)
    }
}
