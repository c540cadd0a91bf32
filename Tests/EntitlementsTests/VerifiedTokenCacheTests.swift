import KeyCrypto
import Telemetry
import TestSupport
import Testing

@testable import Entitlements

@Suite struct VerifiedTokenCacheTests {
    private let issuance: Issuance
    private let crypto: CryptoContext

    init() throws {
        issuance = try Issuance()
        crypto = try CryptoContext()
    }

    private func token(_ number: Int) throws -> [UInt8] {
        try issuance.token(changing: ["jti": "\"\(number)\""])
    }

    @Test func aHitGivesTheSameClaims() throws {
        let cache = VerifiedTokenCache(verifier: issuance.verifier)
        let token = try token(1)
        let first = try cache.verify(token, now: Issuance.now, crypto: crypto)
        #expect(cache.count == 1)
        #expect(try cache.verify(token, now: Issuance.now, crypto: crypto) == first)
        #expect(try issuance.verify(token) == first)
        #expect(cache.count == 1)
    }

    /// The cache of the rules after a reload counts on.
    @Test func countsLookUps() throws {
        let lookups = CacheCount()
        for _ in 1...2 {
            let cache = VerifiedTokenCache(verifier: issuance.verifier, lookups: lookups)
            for _ in 1...3 { _ = try cache.verify(try token(1), now: Issuance.now, crypto: crypto) }
            _ = try? cache.verify(Array("no token".utf8), now: Issuance.now, crypto: crypto)
        }
        #expect(lookups.hitCount == 4 && lookups.missCount == 4)
    }

    @Test func aHitStillLooksAtTheTimes() throws {
        let cache = VerifiedTokenCache(verifier: issuance.verifier)
        let token = try issuance.token(changing: ["nbf": "\(Issuance.now)"])
        _ = try cache.verify(token, now: Issuance.now + 304, crypto: crypto)
        #expect(throws: EntitlementError.tokenExpired(agoSeconds: 5)) {
            try cache.verify(token, now: Issuance.now + 305, crypto: crypto)
        }
        #expect(throws: EntitlementError.tokenNotYetValid(inSeconds: 1)) {
            try cache.verify(token, now: Issuance.now - 6, crypto: crypto)
        }
        _ = try cache.verify(token, now: Issuance.now, crypto: crypto)
    }

    @Test func onlyVerifiedTokensEnter() throws {
        let cache = VerifiedTokenCache(verifier: issuance.verifier)
        let bad = [
            try issuance.token(by: .strangersPrivateKey), try issuance.token(changing: ["aud": "\"other\""]),
            try issuance.token(changing: ["exp": "\(Issuance.now - 60)"]), Array("a.b.c".utf8),
        ]
        for token in bad {
            #expect(throws: EntitlementError.self) { try cache.verify(token, now: Issuance.now, crypto: crypto) }
        }
        #expect(cache.count == 0)
    }

    @Test func aChangedTokenIsNoHit() throws {
        let cache = VerifiedTokenCache(verifier: issuance.verifier)
        let token = try token(1)
        _ = try cache.verify(token, now: Issuance.now, crypto: crypto)
        let changed = token.changingDigit(beforeLast: 9)
        #expect(throws: EntitlementError.signatureInvalid) {
            try cache.verify(changed, now: Issuance.now, crypto: crypto)
        }
    }

    @Test func refusesLargeTokensBeforeAnythingElse() {
        let cache = VerifiedTokenCache(verifier: issuance.verifier)
        #expect(throws: EntitlementError.tokenMalformed(.tooLarge(size: 8193))) {
            try cache.verify([UInt8](repeating: 0x41, count: 8193), now: Issuance.now, crypto: crypto)
        }
    }

    @Test func holdsNoMoreThanItsCapacity() throws {
        let cache = VerifiedTokenCache(verifier: issuance.verifier, capacity: 4)
        for number in 0..<20 {
            _ = try cache.verify(try token(number), now: Issuance.now, crypto: crypto)
            #expect(cache.count == min(number + 1, 4))
        }
    }

    @Test func removeAllForgetsEverything() throws {
        let cache = VerifiedTokenCache(verifier: issuance.verifier)
        for number in 0..<3 { _ = try cache.verify(try token(number), now: Issuance.now, crypto: crypto) }
        cache.removeAll()
        #expect(cache.count == 0)
        _ = try cache.verify(try token(1), now: Issuance.now, crypto: crypto)
        #expect(cache.count == 1)
    }

    @Test func servesSeveralThreadsAtOnce() async throws {
        let cache = VerifiedTokenCache(verifier: issuance.verifier, capacity: 8)
        let tokens = try (0..<16).map { try token($0) }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for worker in 0..<4 {
                group.addTask {
                    let crypto = try CryptoContext()
                    for step in 0..<200 {
                        let number = (step * 7 + worker * 3) % tokens.count
                        let claims = try cache.verify(tokens[number], now: Issuance.now, crypto: crypto)
                        #expect(claims.tokenID == "\(number)")
                        if step % 50 == 49 { cache.removeAll() }
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(cache.count <= 8)
    }

    // MARK: Signatures that were checked ahead

    private func pending(_ token: [UInt8], in cache: VerifiedTokenCache, now: Int64 = Issuance.now)
        -> PendingSignature?
    {
        cache.pendingSignature(of: token, now: now, crypto: crypto)
    }

    /// A verdict takes the place of the check. A wrong verdict shows it.
    @Test(arguments: [true, false]) func aVerdictIsBelieved(isValid: Bool) throws {
        let cache = VerifiedTokenCache(verifier: issuance.verifier)
        let token = try issuance.token(by: isValid ? .strangersPrivateKey : .privateKey)
        cache.settle(try #require(pending(token, in: cache)), isValid: isValid)
        #expect(pending(token, in: cache) == nil, "it is not checked again")
        if isValid {
            #expect(try cache.verify(token, now: Issuance.now, crypto: crypto).tokenID == "4f1c")
        } else {
            #expect(throws: EntitlementError.signatureInvalid) {
                try cache.verify(token, now: Issuance.now, crypto: crypto)
            }
        }
        // Everything is forgotten with the revocations, and then the signature itself counts.
        cache.removeAll()
        let isRefused = (try? cache.verify(token, now: Issuance.now, crypto: crypto)) == nil
        #expect(isRefused == isValid)
    }

    /// A good signature does not save a token from the other checks.
    @Test func aVerdictIsAboutTheSignatureAlone() throws {
        let cache = VerifiedTokenCache(verifier: issuance.verifier)
        let token = try issuance.token(payload: Issuance.payload(["exp": "\(Issuance.now - 60)"]))
        cache.settle(try #require(pending(token, in: cache)), isValid: true)
        #expect(throws: EntitlementError.tokenExpired(agoSeconds: 60)) {
            try cache.verify(token, now: Issuance.now, crypto: crypto)
        }
        #expect(cache.count == 0)
    }

    /// A verdict about a key says nothing about another key with the same name.
    @Test func aVerdictEndsWithItsKey() throws {
        let cache = VerifiedTokenCache(verifier: issuance.verifier)
        let token = try issuance.token()
        let signature = try #require(pending(token, in: cache))
        cache.settle(signature, isValid: true)
        cache.replaceIssuers(
            with: try issuers([VerificationKey(id: "es", es256: ES256PrivateKey.generate().publicKey)]))
        #expect(throws: EntitlementError.signatureInvalid) {
            try cache.verify(token, now: Issuance.now, crypto: crypto)
        }
        // A check that ends after the change comes too late.
        cache.removeAll()
        cache.settle(signature, isValid: true)
        #expect(throws: EntitlementError.signatureInvalid) {
            try cache.verify(token, now: Issuance.now, crypto: crypto)
        }
    }

    @Test func aForgedTokenIsCheckedOnce() throws {
        let cache = VerifiedTokenCache(verifier: issuance.verifier)
        let token = try issuance.token(by: .strangersPrivateKey)
        #expect(pending(token, in: cache) != nil)
        for _ in 0..<2 {
            #expect(throws: EntitlementError.signatureInvalid) {
                try cache.verify(token, now: Issuance.now, crypto: crypto)
            }
            #expect(pending(token, in: cache) == nil)
        }
    }

    @Test func nothingIsPendingOfOtherTokens() throws {
        let cache = VerifiedTokenCache(verifier: issuance.verifier)
        let known = try issuance.token()
        _ = try cache.verify(known, now: Issuance.now, crypto: crypto)
        let others = [
            known, try token(1), try issuance.token(header: #"{"alg":"ES256","kid":"other"}"#),
            try issuance.token(header: #"{"alg":"ES256","kid":"hs"}"#),
            try issuance.token(header: #"{"alg":"HS256","kid":"es"}"#), try issuance.token(by: .bytes([1, 2, 3])),
            Array("no token".utf8), [UInt8](repeating: 0x41, count: 8193), [],
        ]
        for token in others { #expect(pending(token, in: cache) == nil, "\(String(decoding: token, as: UTF8.self))") }
        cache.replaceIssuers(
            with: try issuers([
                VerificationKey(
                    id: "es", es256: issuance.privateKey.publicKey, state: .retiring(until: Issuance.now + 10))
            ]))
        #expect(pending(known, in: cache, now: Issuance.now + 9) != nil)
        #expect(pending(known, in: cache, now: Issuance.now + 10) == nil, "the key has retired")
    }

    // MARK: Replaced issuers

    private func issuers(_ keys: [VerificationKey], _ supply: Issuer.KeySupply = .configured) throws -> IssuerSet {
        try IssuerSet([Issuer(name: Issuance.name, audience: Issuance.audience, keys: keys, keySupply: supply)])
    }

    /// A remembered token must not outlive its key.
    @Test func replacedIssuersBeginWithNothing() throws {
        let cache = VerifiedTokenCache(verifier: issuance.verifier)
        let token = try token(1)
        _ = try cache.verify(token, now: Issuance.now, crypto: crypto)
        cache.replaceIssuers(with: try issuers([]))
        #expect(cache.count == 0)
        #expect(throws: EntitlementError.keyUnknown) { try cache.verify(token, now: Issuance.now, crypto: crypto) }
        cache.replaceIssuers(
            with: try issuers([VerificationKey(id: "hs", hs256: SecretBytes(copying: issuance.secret))]))
        _ = try cache.verify(token, now: Issuance.now, crypto: crypto)
        #expect(cache.verifier.enforced == issuance.verifier.enforced)
    }

    @Test(arguments: [Issuer.KeySupply.configured, .missing, .fetched])
    func anUnknownKeyIsNoted(supply: Issuer.KeySupply) throws {
        let set = try issuers([], supply)
        let cache = VerifiedTokenCache(verifier: TokenVerifier(issuers: set))
        let token = try token(1)
        #expect(throws: supply == .missing ? EntitlementError.keysUnavailable : .keyUnknown) {
            try cache.verify(token, now: Issuance.now, crypto: crypto)
        }
        #expect(set.unknownKeys.take() == Set(TokenDialect.allCases))
        // An operator's question is no reason to fetch keys.
        _ = cache.verifier.explain(token, now: Issuance.now)
        #expect(set.unknownKeys.take() == [])
    }

    /// A token without a key ID in its header can only be Axinom's.
    @Test func anUnknownCommunicationKeyIsNotedForItsDialect() throws {
        let set = try IssuerSet([Issuer(name: "ax", audience: "a", dialect: .axinom, keys: [], keySupply: .missing)])
        let verifier = TokenVerifier(issuers: set)
        let token = try issuance.token(
            header: #"{"alg":"HS256"}"#, payload: #"{"com_key_id":"x"}"#, by: .secret)
        #expect(throws: EntitlementError.keysUnavailable) { try verifier.verify(token, now: Issuance.now) }
        #expect(set.unknownKeys.take() == [.axinom])
        let nameless = try issuance.token(header: #"{"alg":"HS256"}"#, payload: "{}", by: .secret)
        #expect(throws: EntitlementError.keyUnknown) { try verifier.verify(nameless, now: Issuance.now) }
        #expect(set.unknownKeys.take() == [])
    }
}
