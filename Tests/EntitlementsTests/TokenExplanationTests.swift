import ByteCoding
import KeyCrypto
import TestSupport
import Testing

@testable import Entitlements

@Suite struct TokenExplanationTests {
    private func failures(_ explanation: TokenExplanation) -> [String] {
        explanation.checks.compactMap { check in
            if case .failed(let error) = check.verdict { "\(check.name) \(error.code)" } else { nil }
        }
    }

    @Test func aGoodTokenPassesEverything() throws {
        let issuance = try Issuance()
        let token = try issuance.token()
        let explanation = issuance.verifier.explain(token, now: Issuance.now)
        #expect(explanation.checks.map(\.name) == TokenExplanation.Check.allCases.map(\.rawValue))
        #expect(!explanation.checks.contains { $0.verdict != .passed })
        let claims = try issuance.verify(token)
        #expect(explanation.claims == claims)
        #expect(explanation.refusal == nil)
    }

    /// A misspelled claim is ignored, so the token is good and limits less than was meant.
    @Test func namesClaimsThatWereProbablyMeantToLimit() throws {
        let issuance = try Issuance()
        func findings(_ changes: [String: String?]) throws -> [String] {
            let explanation = issuance.verifier.explain(
                try issuance.token(changing: changes), now: Issuance.now)
            #expect(explanation.refusal == nil)
            return explanation.ignored.map(\.description)
        }
        #expect(try findings(["devices": #"{"max":2}"#]) == ["devices is ignored: is device meant?"])
        #expect(try findings(["seession": "{}"]) == ["seession is ignored: is session meant?"])
        #expect(try findings(["limit": #"{"uses":1}"#]) == ["limit is ignored: is limits meant?"])
        #expect(try findings(["lease": "60"]) == ["lease is ignored: it has an effect only in a right"])
        #expect(try findings(["uses": "1"]) == ["uses is ignored: it has an effect only in limits"])
        // Claims of other systems, and a name that is near to a claim which is there.
        #expect(
            try findings(["scope": #""openid""#, "version": "1", "roles": "[]", "email": #""a@example.com""#]) == [])
        #expect(try findings(["device": #"{"max":2}"#, "devices": "1"]) == [])
        #expect(try findings([:]) == [])
    }

    @Test(
        arguments: [
            (["exp": "1"], ["time token_expired", "life token_life"]),
            (["iss": #""x""#], ["issuer_and_audience token_issuer"]),
            (
                ["exp": "1", "aud": nil, "rights": "1"],
                ["time token_expired", "life token_life", "issuer_and_audience token_audience", "claims token_schema"]
            ),
            (["limits": #"{"uses":1}"#], ["restrictions token_schema"]), (["exp": nil], ["time token_schema"]),
        ] as [([String: String?], [String])])
    func saysEverythingThatIsWrong(changes: [String: String?], expected: [String]) throws {
        let issuance = try Issuance(maximumLife: 300, enforced: [])
        let changes = changes["exp"] == "1" ? changes.merging(["iat": "-400"]) { $1 } : changes
        let token = try issuance.token(changing: changes)
        let explanation = issuance.verifier.explain(token, now: Issuance.now)
        #expect(failures(explanation) == expected)
        let refusal = #expect(throws: EntitlementError.self) { try issuance.verify(token) }
        #expect(explanation.refusal == refusal)
    }

    @Test func nothingIsBelievedOfAForgedToken() throws {
        let issuance = try Issuance()
        let token = try issuance.token(payload: Issuance.payload(["exp": "1"]), by: .strangersPrivateKey)
        let explanation = issuance.verifier.explain(token, now: Issuance.now)
        #expect(failures(explanation) == ["signature token_signature"])
        #expect(explanation.claims == nil)
        #expect(explanation.checks.suffix(5).allSatisfy { $0.verdict == .notReached })
        #expect(failures(issuance.verifier.explain(Array("a.b".utf8), now: 0)) == ["form token_malformed"])
        let unknown = try issuance.token(header: #"{"alg":"ES256","kid":"x"}"#)
        #expect(failures(issuance.verifier.explain(unknown, now: 0)) == ["key kid_unknown"])
        let other = try issuance.token(header: #"{"alg":"HS256","kid":"es"}"#)
        #expect(failures(issuance.verifier.explain(other, now: 0)) == ["algorithm token_alg"])
    }

    /// The found and the expected value of each check, even for a token without a valid signature.
    @Test func showsWhatIsFoundAndWhatIsExpected() throws {
        let issuance = try Issuance(maximumLife: 300)
        let payload = Issuance.payload([
            "iss": #""https://other.example""#, "aud": #""elsewhere""#, "exp": "\(Issuance.now + 600)",
            "session": #"{"groups":[{"id":"all","max":0}]}"#,
        ])
        func values(_ key: Issuance.Signer, _ check: TokenExplanation.Check) throws -> CheckedValues {
            let explanation = issuance.verifier.explain(
                try issuance.token(payload: payload, by: key), now: Issuance.now)
            return try #require(explanation.checks.first { $0.name == check.rawValue }).values
        }
        for key in [Issuance.Signer.privateKey, .strangersPrivateKey] {
            let names = try values(key, .issuerAndAudience)
            #expect(names.found == #"iss "https://other.example", aud "elsewhere""#)
            #expect(names.expected == #"iss "https://portal.example", aud "latchkey""#)
            #expect(try values(key, .life) == CheckedValues(found: "600 s", expected: "at most 300 s"))
            #expect(try values(key, .time).expected == "2025-06-15T15:06:40Z, within 5 s")
            #expect(try values(key, .key).found == "kid es")
        }
        #expect(try values(.privateKey, .claims).found == "session.groups[0].max: 0")
        let unknown = issuance.verifier.explain(
            try issuance.token(header: #"{"alg":"ES256","kid":"x\u001b[2J"}"#), now: Issuance.now)
        #expect(unknown.checks[1].values.found == "kid x?[2J", "the text has no control characters for a terminal")
        #expect(unknown.checks[1].values.expected?.contains("es") == true)
        #expect(unknown.checks[7].values.found == #"iss "https://portal.example", aud "latchkey""#)
    }

    @Test(
        arguments: [
            (
                ["limits": #"{"countries":["ch"]}"#], #"limits.countries: ["ch"]"#,
                "two capital letters (ISO 3166-1 alpha-2)"
            ),
            (
                ["limits": #"{"country":["CH"]}"#], #"limits.country: ["CH"]"#,
                "probably countries: uses, ips, countries"
            ),
            (["rights": #"[{"content":"a","leese":5}]"#], "rights[0].leese: 5", "probably lease: content, kids"),
            (["rights": #"[{"content":"a","x":5}]"#], "rights[0].x: 5", "a member that is known: content, kids"),
            (["sub": "7"], "sub: 7", "a text of 1 to 200 bytes"),
        ] as [([String: String?], String, String)])
    func showsTheFormThatIsExpectedOfAClaim(changes: [String: String?], found: String, expected: String) throws {
        let issuance = try Issuance()
        let explanation = issuance.verifier.explain(try issuance.token(changing: changes), now: Issuance.now)
        let failed = try #require(explanation.checks.first { $0.verdict != .passed })
        #expect(failed.name == "claims" && failed.values.found == found)
        #expect(failed.values.expected?.contains(expected) == true, "\(failed.values)")
    }

    @Test func explainsSealedTokensToo() throws {
        let key = TokenSealingKey(id: 1, key: try AES256GCMKey(SecretBytes.random(count: 32)), state: .revoked)
        let issuer = Issuer(
            name: "c", audience: "a", dialect: .expressPlay, keys: [], sealingKeys: [key], maximumLife: 100)
        let verifier = TokenVerifier(issuers: try IssuerSet([issuer]))
        var contents = SealedTokenContents(tokenID: .zero, issuedAt: Issuance.now, expiresAt: Issuance.now + 101)
        contents.keyID = KeyID(words: .zero)
        let token = Array(try TokenSealer(key).seal(contents).utf8)
        #expect(failures(verifier.explain(token, now: Issuance.now)) == ["key_state kid_revoked", "life token_life"])
        #expect(verifier.explain(token, now: Issuance.now).claims?.rights.count == 1)
    }

    /// The token has a valid signature but is refused. The explanation says why.
    @Test func explainsWhatCannotBeReadBehindAGoodSignature() throws {
        let sealingKey = TokenSealingKey(id: 1, key: try AES256GCMKey(SecretBytes(copying: [UInt8](0..<32))))
        let issuer = Issuer(
            name: "customers", audience: "latchkey", dialect: .expressPlay, keys: [], sealingKeys: [sealingKey])
        let sessions = try SessionTokens(key: HMACSHA256Key(SecretBytes(copying: [UInt8](1...32))))
        let verifier = TokenVerifier(issuers: try IssuerSet([issuer]), sessions: sessions)
        let contents = SealedTokenContents(tokenID: Bytes16(high: 1, low: 2), issuedAt: Issuance.now, expiresAt: .max)
        let sealed = Array(try TokenSealer(sealingKey).seal(contents).utf8)
        #expect(failures(verifier.explain(sealed, now: Issuance.now)) == ["time token_schema"])

        let header = #"{"alg":"HS256","kid":"\#(sessions.current.id)"}"#
        let signed = Base64URL.encode(header.utf8) + "." + Base64URL.encode(#"{"exp":1,"exp":1}"#.utf8)
        let code = try sessions.current.code.code(for: Array(signed.utf8)[...])
        let session = Array((signed + "." + Base64URL.encode(code)).utf8)
        #expect(failures(verifier.explain(session, now: Issuance.now)) == ["time token_malformed"])
    }
}
