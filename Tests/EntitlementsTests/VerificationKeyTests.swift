import ByteCoding
import KeyCrypto
import TestSupport
import Testing

@testable import Entitlements

/// Keys of every algorithm, their states, and the effect of a new verifier on the cache.
@Suite struct VerificationKeyTests {
    private static let now = Issuance.now

    /// One private key of each algorithm.
    struct Keys {
        let es256: ES256PrivateKey
        let edDSA: Ed25519PrivateKey
        let rs256: RSAPrivateKey
        let secret = [UInt8](repeating: 7, count: 32)

        init() throws {
            es256 = try .generate()
            edDSA = try .generate()
            rs256 = try .generate(bits: 2048)
        }

        func verifying(_ algorithm: SigningAlgorithm, id: String, state: KeyState = .active) throws -> VerificationKey {
            switch algorithm {
            case .es256: VerificationKey(id: id, es256: es256.publicKey, state: state)
            case .edDSA: VerificationKey(id: id, edDSA: edDSA.publicKey, state: state)
            case .rs256: VerificationKey(id: id, rs256: try rs256.rs256PublicKey(), state: state)
            case .hs256: try VerificationKey(id: id, hs256: SecretBytes(copying: secret), state: state)
            }
        }

        func minter(_ algorithm: SigningAlgorithm, id: String) throws -> TokenMinter {
            switch algorithm {
            case .es256: TokenMinter(keyID: id, es256: es256)
            case .edDSA: TokenMinter(keyID: id, edDSA: edDSA)
            case .rs256: TokenMinter(keyID: id, rs256: rs256)
            case .hs256: try TokenMinter(keyID: id, hs256: SecretBytes(copying: secret))
            }
        }
    }

    private static let keys = Result { try Keys() }

    private func verifier(_ keys: [VerificationKey]) throws -> TokenVerifier {
        TokenVerifier(issuers: try IssuerSet([Issuer(name: Issuance.name, audience: Issuance.audience, keys: keys)]))
    }

    private func token(_ algorithm: SigningAlgorithm, id: String) throws -> [UInt8] {
        let contents = TokenContents(
            issuer: Issuance.name, audience: Issuance.audience, issuedAt: Self.now, expiresAt: Self.now + 300,
            rights: [Right(.content("movie-42"))])
        return Array(try Self.keys.get().minter(algorithm, id: id).mint(contents).utf8)
    }

    /// A file may have the compressed form of a point, which a JSON Web Key cannot have.
    @Test func aKeyIsTheSameInEveryForm() throws {
        let keys = try Self.keys.get()
        for algorithm in SigningAlgorithm.allCases {
            let one = try keys.verifying(algorithm, id: "a")
            #expect(try one.fingerprint == keys.verifying(algorithm, id: "b", state: .revoked).fingerprint)
            #expect(try one.fingerprint != Keys().verifying(algorithm, id: "a").fingerprint || algorithm == .hs256)
        }
        let published = try PublishedKeys.set([PublishedKeys.json("a", keys.es256)]).keys[0]
        #expect(try published.fingerprint == keys.verifying(.es256, id: "a").fingerprint)
        let der = KeySamples.der(of: String(decoding: try keys.es256.publicKey.publicPEM(), as: UTF8.self))
        let compressed =
            try Hexadecimal.decode("3039301306072a8648ce3d020106082a8648ce3d030107032200")
            + [2 + der[der.count - 1] % 2] + der[27..<59]
        let short = VerificationKey(id: "a", es256: try ES256PublicKey(parsing: compressed))
        #expect(short.fingerprint == published.fingerprint)
    }

    @Test(arguments: SigningAlgorithm.allCases, SigningAlgorithm.allCases)
    func aKeyVerifiesItsOwnAlgorithmAlone(signed: SigningAlgorithm, pinned: SigningAlgorithm) throws {
        let key = try Self.keys.get().verifying(pinned, id: "k")
        #expect(key.algorithm == pinned)
        let verifier = try verifier([key])
        let token = try token(signed, id: "k")
        if signed == pinned {
            #expect(try verifier.verify(token, now: Self.now).keyID == "k")
        } else {
            #expect(throws: EntitlementError.algorithmNotPinned) { try verifier.verify(token, now: Self.now) }
        }
    }

    @Test(
        arguments: [
            (KeyState.next, nil), (.active, nil), (.retiring(until: now + 1), nil),
            (.retiring(until: now), .keyRetired),
            (.retiring(until: .min), .keyRetired), (.revoked, .keyRevoked),
        ] as [(KeyState, EntitlementError?)])
    func theStateOfAKeyDecides(state: KeyState, refusal: EntitlementError?) throws {
        let verifier = try verifier([try Self.keys.get().verifying(.es256, id: "k", state: state)])
        let token = try token(.es256, id: "k")
        if let refusal {
            #expect(refusal.code == "kid_revoked")
            #expect(throws: refusal) { try verifier.verify(token, now: Self.now) }
        } else {
            #expect(throws: Never.self) { try verifier.verify(token, now: Self.now) }
        }
    }

    // MARK: The cache

    @Test func aRememberedTokenEndsWithItsKey() throws {
        let key = try Self.keys.get().verifying(.es256, id: "k", state: .retiring(until: Self.now + 10))
        let cache = VerifiedTokenCache(verifier: try verifier([key]))
        let crypto = try CryptoContext()
        let token = try token(.es256, id: "k")
        _ = try cache.verify(token, now: Self.now, crypto: crypto)
        _ = try cache.verify(token, now: Self.now + 9, crypto: crypto)
        #expect(throws: EntitlementError.keyRetired) { try cache.verify(token, now: Self.now + 10, crypto: crypto) }
    }

    @Test func aNewVerifierBeginsWithNothing() throws {
        let keys = try Self.keys.get()
        var cache = VerifiedTokenCache(verifier: try verifier([try keys.verifying(.es256, id: "k")]))
        let crypto = try CryptoContext()
        let token = try token(.es256, id: "k")
        _ = try cache.verify(token, now: Self.now, crypto: crypto)
        #expect(cache.count == 1)
        cache = VerifiedTokenCache(verifier: try verifier([try keys.verifying(.es256, id: "k", state: .revoked)]))
        #expect(cache.count == 0)
        #expect(throws: EntitlementError.keyRevoked) { try cache.verify(token, now: Self.now, crypto: crypto) }
        cache = VerifiedTokenCache(verifier: try verifier([try keys.verifying(.es256, id: "other")]))
        #expect(throws: EntitlementError.keyUnknown) { try cache.verify(token, now: Self.now, crypto: crypto) }
    }

    // MARK: Secrets that are not secret

    @Test func noPublicKeyIsASecret() throws {
        let keys = try Self.keys.get()
        let edDSA = try keys.edDSA.publicKey.publicPEM()
        let rs256 = try keys.rs256.rs256PublicKey().publicPEM()
        let encoded = try [edDSA, rs256].map { pem in
            let lines = String(decoding: pem, as: UTF8.self).split(separator: "\n").filter { !$0.hasPrefix("-") }
            return try Base64.decode(lines.joined())
        }
        for bytes in [edDSA, rs256] + encoded {
            #expect(throws: IssuerSetError.secretIsAPublicKey) {
                _ = try VerificationKey(id: "k", hs256: SecretBytes(copying: bytes))
            }
        }
    }
}
