import ByteCoding
import KeyCrypto
import TestSupport
import Testing

@testable import Entitlements

@Suite struct TokenVerifierTests {
    /// A token that a client could try, and the code that it must get.
    struct Attempt: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let header: String
        let signer: Issuance.Signer
        let code: String

        init(_ name: String, _ header: String, _ signer: Issuance.Signer, _ code: String) {
            testDescription = name
            self.header = header
            self.signer = signer
            self.code = code
        }
    }

    static let attempts = [
        Attempt("none", #"{"alg":"none","kid":"es"}"#, .bytes([]), "token_alg"),
        Attempt("None", #"{"alg":"None","kid":"es"}"#, .bytes([]), "token_alg"),
        Attempt("NONE", #"{"alg":"NONE","kid":"es"}"#, .bytes([]), "token_alg"),
        Attempt("nOnE", #"{"alg":"nOnE","kid":"es"}"#, .bytes([]), "token_alg"),
        Attempt("none with a good signature", #"{"alg":"none","kid":"es"}"#, .privateKey, "token_alg"),
        Attempt("public PEM as HMAC secret", #"{"alg":"HS256","kid":"es"}"#, .publicKeyAsSecret, "token_alg"),
        Attempt(
            "public PEM as HMAC secret, honest name", #"{"alg":"ES256","kid":"es"}"#, .publicKeyAsSecret,
            "token_signature"),
        Attempt("public PEM for the other key", #"{"alg":"HS256","kid":"hs"}"#, .publicKeyAsSecret, "token_signature"),
        Attempt("ES256 for the HS256 key", #"{"alg":"ES256","kid":"hs"}"#, .privateKey, "token_alg"),
        Attempt("key id of the other key", #"{"alg":"HS256","kid":"hs"}"#, .privateKey, "token_signature"),
        Attempt("key id of the other key, reversed", #"{"alg":"ES256","kid":"es"}"#, .secret, "token_signature"),
        Attempt("es256 in lower case", #"{"alg":"es256","kid":"es"}"#, .privateKey, "token_alg"),
        Attempt("Hs256", #"{"alg":"Hs256","kid":"hs"}"#, .secret, "token_alg"),
        Attempt("a stranger's key", #"{"alg":"ES256","kid":"es"}"#, .strangersPrivateKey, "token_signature"),
        Attempt("a stranger's secret", #"{"alg":"HS256","kid":"hs"}"#, .strangersSecret, "token_signature"),
        Attempt("unknown key id", #"{"alg":"ES256","kid":"other"}"#, .privateKey, "kid_unknown"),
        Attempt("key id in another case", #"{"alg":"ES256","kid":"ES"}"#, .privateKey, "kid_unknown"),
        Attempt("empty key id", #"{"alg":"ES256","kid":""}"#, .privateKey, "kid_unknown"),
        Attempt("path as key id", #"{"alg":"HS256","kid":"../../dev/null"}"#, .bytes([]), "kid_unknown"),
        Attempt("no key id, forged", #"{"alg":"ES256"}"#, .strangersPrivateKey, "token_signature"),
        Attempt("no key id, public PEM as secret", #"{"alg":"HS256"}"#, .publicKeyAsSecret, "token_signature"),
        Attempt("no key id, no key for the algorithm", #"{"alg":"RS256"}"#, .privateKey, "kid_unknown"),
        Attempt(
            "r = s = 0", #"{"alg":"ES256","kid":"es"}"#, .bytes([UInt8](repeating: 0, count: 64)), "token_signature"),
        Attempt("r = s = n", #"{"alg":"ES256","kid":"es"}"#, .bytes(order + order), "token_signature"),
        Attempt(
            "all ones", #"{"alg":"ES256","kid":"es"}"#, .bytes([UInt8](repeating: 0xFF, count: 64)), "token_signature"),
        Attempt("empty signature", #"{"alg":"ES256","kid":"es"}"#, .bytes([]), "token_signature"),
        Attempt("empty code", #"{"alg":"HS256","kid":"hs"}"#, .bytes([]), "token_signature"),
        Attempt("embedded key", #"{"alg":"ES256","kid":"es","jwk":{"kty":"EC"}}"#, .privateKey, "token_malformed"),
        Attempt("key by URL", #"{"alg":"ES256","kid":"es","jku":"https://a.example"}"#, .privateKey, "token_malformed"),
        Attempt(
            "certificate by URL", #"{"alg":"ES256","kid":"es","x5u":"https://a.example"}"#, .privateKey,
            "token_malformed"),
        Attempt("certificates", #"{"alg":"ES256","kid":"es","x5c":["MII"]}"#, .privateKey, "token_malformed"),
        Attempt(
            "critical extension", #"{"alg":"ES256","kid":"es","crit":["b64"],"b64":false}"#, .privateKey,
            "token_malformed"),
        Attempt("another use", #"{"alg":"ES256","kid":"es","typ":"logout+jwt"}"#, .privateKey, "token_malformed"),
        Attempt("two algorithms", #"{"alg":"none","alg":"ES256","kid":"es"}"#, .privateKey, "token_malformed"),
    ]

    /// The order of the P-256 group (SEC 2, section 2.4.2). Both numbers of a signature must be smaller.
    private static let order: [UInt8] = [
        0xFF, 0xFF, 0xFF, 0xFF, 0x00, 0x00, 0x00, 0x00, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF,
        0xBC, 0xE6, 0xFA, 0xAD, 0xA7, 0x17, 0x9E, 0x84, 0xF3, 0xB9, 0xCA, 0xC2, 0xFC, 0x63, 0x25, 0x51,
    ]

    @Test(arguments: attempts)
    func refusesConfusionOfAlgorithmAndKey(attempt: Attempt) throws {
        let issuance = try Issuance()
        let token = try issuance.token(header: attempt.header, by: attempt.signer)
        let error = try #require(throws: EntitlementError.self) { try issuance.verify(token) }
        #expect(error.code == attempt.code)
    }

    @Test func acceptsBothAlgorithms() throws {
        let issuance = try Issuance()
        let claims = try issuance.verify(try issuance.token())
        #expect(claims.keyID == "es")
        #expect(claims.issuer == Issuance.name)
        #expect(claims.subject == "account-123")
        #expect(claims.tokenID == "4f1c")
        #expect(claims.issuedAt == Issuance.now)
        #expect(claims.notBefore == nil)
        #expect(claims.expiresAt == Issuance.now + 300)
        #expect(claims.rights == [Right(.content("movie-42"))])
        #expect(try issuance.verify(try issuance.token(changing: [:])).keyID == "hs")
    }

    @Test(arguments: [63, 65, 32, 1, 128])
    func refusesSignaturesOfAnotherSize(size: Int) throws {
        let issuance = try Issuance()
        let token = try issuance.token()
        let signature = try Base64URL.decode(token.suffix(86))
        #expect(signature.count == 64)
        let changed = Array(signature.prefix(size)) + [UInt8](repeating: 0, count: max(0, size - 64))
        let altered = Array(token.dropLast(86)) + Array(Base64URL.encode(changed).utf8)
        #expect(throws: EntitlementError.signatureInvalid) { try issuance.verify(altered) }
    }

    @Test(arguments: [31, 33, 16, 64])
    func refusesCodesOfAnotherSize(size: Int) throws {
        let issuance = try Issuance()
        let token = try issuance.token(changing: [:])
        let code = try Base64URL.decode(token.suffix(43))
        let changed = Array(code.prefix(size)) + [UInt8](repeating: 0, count: max(0, size - 32))
        let altered = Array(token.dropLast(43)) + Array(Base64URL.encode(changed).utf8)
        #expect(throws: EntitlementError.signatureInvalid) { try issuance.verify(altered) }
    }

    @Test func readsNothingOfThePayloadBeforeTheSignature() throws {
        let issuance = try Issuance()
        let token = try issuance.token(payload: "not JSON", by: .strangersPrivateKey)
        #expect(throws: EntitlementError.signatureInvalid) { try issuance.verify(token) }
    }

    @Test(arguments: [
        "not JSON", "[]", "\"text\"", #"{"exp":1750000300,"exp":1750999999}"#, #"{"exp":1,"\u0065xp":1750000300}"#,
        "{\"iss\":\"\u{0}\"}", "{} {}", "{\"a\":[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]}",
    ])
    func refusesSignedPayloadsThatAreNotStrictJSON(payload: String) throws {
        let issuance = try Issuance()
        let token = try issuance.token(payload: payload)
        let error = try #require(throws: EntitlementError.self) { try issuance.verify(token) }
        #expect(error.code == "token_malformed")
    }

    @Test(arguments: [#""latchkey""#, #"["latchkey"]"#, #"["other","latchkey"]"#, #"["latchkey","latchkey"]"#])
    func acceptsEveryFormOfTheAudience(audience: String) throws {
        let issuance = try Issuance()
        _ = try issuance.verify(try issuance.token(changing: ["aud": audience]))
    }

    @Test(arguments: [
        (nil, "token_audience"), (#""other""#, "token_audience"), ("[]", "token_audience"),
        (#"["other"]"#, "token_audience"),
        (#""Latchkey""#, "token_audience"), (#""latchkey ""#, "token_audience"),
        (#""latch\u212Aey""#, "token_audience"),
        (#"["latchkey",1]"#, "token_schema"), (#"["latchkey",null]"#, "token_schema"),
        (#"[["latchkey"]]"#, "token_schema"),
        (#"{"latchkey":true}"#, "token_schema"), ("null", "token_schema"), ("true", "token_schema"),
    ])
    func refusesOtherAudiences(audience: String?, code: String) throws {
        let issuance = try Issuance()
        let token = try issuance.token(changing: ["aud": audience])
        let error = try #require(throws: EntitlementError.self) { try issuance.verify(token) }
        #expect(error.code == code)
    }

    @Test(arguments: [nil, #""https://other.example""#, #""""#, #"["https://portal.example"]"#, "null", "1"])
    func refusesOtherIssuers(issuer: String?) throws {
        let issuance = try Issuance()
        let token = try issuance.token(changing: ["iss": issuer])
        #expect(throws: EntitlementError.issuerMismatch) { try issuance.verify(token) }
    }

    @Test func aKeySpeaksForItsOwnIssuerOnly() throws {
        let one = try ES256PrivateKey.generate()
        let other = try ES256PrivateKey.generate()
        let verifier = TokenVerifier(
            issuers: try IssuerSet([
                Issuer(name: "one", audience: "latchkey", keys: [VerificationKey(id: "1", es256: one.publicKey)]),
                Issuer(name: "other", audience: "latchkey", keys: [VerificationKey(id: "2", es256: other.publicKey)]),
            ]))
        func token(by key: ES256PrivateKey, _ keyID: String, issuer: String) throws -> [UInt8] {
            let contents = TokenContents(
                issuer: issuer, audience: "latchkey", issuedAt: Issuance.now, expiresAt: Issuance.now + 60, rights: [])
            return Array(try TokenMinter(keyID: keyID, es256: key).mint(contents).utf8)
        }
        #expect(try verifier.verify(try token(by: other, "2", issuer: "other"), now: Issuance.now).issuer == "other")
        #expect(throws: EntitlementError.issuerMismatch) {
            try verifier.verify(try token(by: other, "2", issuer: "one"), now: Issuance.now)
        }
        #expect(throws: EntitlementError.signatureInvalid) {
            try verifier.verify(try token(by: other, "1", issuer: "one"), now: Issuance.now)
        }
    }
}
