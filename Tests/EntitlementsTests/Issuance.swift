import ByteCoding
import KeyCrypto

@testable import Entitlements

/// An issuer with one key of each algorithm, the verifier that accepts its tokens, and the means to forge tokens.
///
/// The key ids are "es" and "hs". Issuer name and audience are those of `claims`.
struct Issuance {
    static let now: Int64 = 1_750_000_000

    static let name = "https://portal.example"
    static let audience = "latchkey"

    let privateKey: ES256PrivateKey
    let secret = Array("0123456789abcdef0123456789abcdef".utf8)
    let verifier: TokenVerifier

    /// The ways to sign a token, honestly or not.
    enum Signer: Sendable {
        case privateKey
        case secret
        /// HMAC with the text of the public key, which is no secret.
        case publicKeyAsSecret
        case strangersPrivateKey
        case strangersSecret
        case bytes([UInt8])
    }

    init(
        dialect: TokenDialect = .jwt, maximumLife: Int64? = nil, leeway: Int64 = 5,
        enforced: Set<Restriction> = Set(Restriction.allCases), offlineByRight: Bool = false
    ) throws {
        privateKey = try ES256PrivateKey.generate()
        let keys = [
            VerificationKey(id: "es", es256: privateKey.publicKey),
            try VerificationKey(id: "hs", hs256: SecretBytes(copying: secret)),
        ]
        let issuer = Issuer(
            name: Self.name, audience: Self.audience, dialect: dialect, keys: keys, maximumLife: maximumLife,
            offlineByRight: offlineByRight)
        verifier = TokenVerifier(issuers: try IssuerSet([issuer], leeway: leeway), enforced: enforced)
    }

    /// The payload of a valid token with members replaced, added, or (with nil) left out. Values are JSON text.
    static func payload(_ changes: [String: String?] = [:]) -> String {
        var members: [String: String] = [
            "iss": "\"\(name)\"", "aud": "\"\(audience)\"", "sub": "\"account-123\"", "jti": "\"4f1c\"",
            "iat": "\(now)", "exp": "\(now + 300)", "rights": #"[{"content":"movie-42"}]"#,
        ]
        for (name, value) in changes { members[name] = value }
        return "{" + members.sorted { $0.key < $1.key }.map { "\"\($0.key)\":\($0.value)" }.joined(separator: ",") + "}"
    }

    func token(
        header: String = #"{"alg":"ES256","kid":"es"}"#, payload: String = payload(), by signer: Signer = .privateKey
    ) throws -> [UInt8] {
        let signed = Base64URL.encode(header.utf8) + "." + Base64URL.encode(payload.utf8)
        return Array((signed + "." + Base64URL.encode(try sign(Array(signed.utf8), by: signer))).utf8)
    }

    /// A token signed with the shared secret, for tests that are not about signatures.
    func token(changing changes: [String: String?]) throws -> [UInt8] {
        try token(header: #"{"alg":"HS256","kid":"hs"}"#, payload: Self.payload(changes), by: .secret)
    }

    func verify(_ token: [UInt8], now: Int64 = now) throws(EntitlementError) -> Claims {
        try verifier.verify(token, now: now)
    }

    /// The claims of a verified token with the rights of this JSON text.
    func claims(rights: String) throws -> Claims {
        try verify(try token(changing: ["rights": rights]))
    }

    private func sign(_ message: [UInt8], by signer: Signer) throws -> [UInt8] {
        switch signer {
        case .privateKey: try privateKey.signature(for: message)
        case .secret: try HMACSHA256Key(SecretBytes(copying: secret)).code(for: message[...])
        case .publicKeyAsSecret:
            try HMACSHA256Key(SecretBytes(copying: try privateKey.publicKey.publicPEM())).code(for: message[...])
        case .strangersPrivateKey: try ES256PrivateKey.generate().signature(for: message)
        case .strangersSecret: try HMACSHA256Key(SecretBytes.random(count: 32)).code(for: message[...])
        case .bytes(let bytes): bytes
        }
    }
}
