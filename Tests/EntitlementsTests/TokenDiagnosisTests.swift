import ByteCoding
import TestSupport
import Testing

@testable import Entitlements

/// What the log says of a refused token.
@Suite struct TokenDiagnosisTests {
    /// The diagnosis of a token that must be refused.
    private func diagnosis(of token: [UInt8], by issuance: Issuance) throws -> TokenDiagnosis {
        let error = try #require(throws: EntitlementError.self) { try issuance.verify(token) }
        return issuance.verifier.diagnosis(of: token, refusedFor: error, now: Issuance.now)
    }

    private func values(_ changes: [String: String?], maximumLife: Int64? = nil) throws -> CheckedValues {
        let issuance = try Issuance(maximumLife: maximumLife, enforced: Restriction.enforced)
        let diagnosis = try diagnosis(of: issuance.token(changing: changes), by: issuance)
        #expect(diagnosis.keyID == "hs" && diagnosis.issuer == Issuance.name)
        return diagnosis.values
    }

    @Test func namesTheValuesThatDiffer() throws {
        #expect(
            try values(["aud": #""other""#])
                == CheckedValues(
                    found: #"iss "https://portal.example", aud "other""#,
                    expected: #"iss "https://portal.example", aud "latchkey""#))
        #expect(
            try values([:], maximumLife: 100) == CheckedValues(found: "300 s", expected: "at most 100 s"))
        let ended = try values(["iat": "\(Issuance.now - 700)", "exp": "\(Issuance.now - 400)"])
        #expect(ended.found == "issued 2025-06-15T14:55:00Z, until 2025-06-15T15:00:00Z")
        #expect(ended.expected == "2025-06-15T15:06:40Z, within 5 s")
    }

    @Test(
        arguments: [
            (["rights": #"[{"content":"a","leese":300}]"#], "rights[0].leese: 300"),
            (["rights": #"[{"content":"a","mode":"steam"}]"#], #"rights[0].mode: "steam""#),
            (["rights": #"[{"content":"a","lease":"300"}]"#], "rights[0].lease: a text of 3 bytes"),
            (["rights": #"[{"content":"a","tracks":[1,2]}]"#], "rights[0].tracks: a list of 2"),
            (["rights": nil], "rights: absent"), (["limits": #"{"uses":0}"#], "limits.uses: 0"),
            (["session": #"{"groups":{}}"#], "session.groups: an object"),
        ] as [([String: String?], String)])
    func namesAClaim(changes: [String: String?], found: String) throws {
        #expect(try values(changes).found == found)
    }

    @Test(
        arguments: [
            (["exp": "\(Issuance.now)000"], "exp: \(Issuance.now)000", "not of milliseconds"),
            (
                ["rights": #"[{"content":"a","lease":"5m"}]"#], "rights[0].lease: a text of 2 bytes",
                "seconds without quotes"
            ),
            (
                ["rights": #"[{"content":"a","hdcp":"type2"}]"#], #"rights[0].hdcp: "type2""#,
                #""none", "type0", "type1""#
            ),
            (
                ["rights": #"[{"content":"a","rental":{"start":"1w","play":"48h"}}]"#, "sub": #""s""#],
                #"rights[0].rental.start: "1w""#, #"such as "48h""#
            ),
            (["rights": nil, "right": "[]"], "rights: absent, but there is right", "a list of rights"),
        ] as [([String: String?], String, String)])
    func namesTheFormOfAClaim(changes: [String: String?], found: String, expected: String) throws {
        let values = try values(changes)
        #expect(values.found == found)
        #expect(try #require(values.expected).contains(expected))
    }

    /// A value may name a viewer or a device, so no text of such a claim is told.
    @Test(arguments: [["sub": #""\#(String(repeating: "v", count: 300))""#], ["cnf": #"{"fps:hu":"viewer-7"}"#]])
    func namesNobody(changes: [String: String?]) throws {
        let found = try #require(try values(changes).found)
        #expect(found.contains("a text of ") && !found.contains("vv") && !found.contains("viewer-7"))
    }

    @Test func saysOfAForgedTokenWhichKeyItNamesAndNothingOfItsPayload() throws {
        let issuance = try Issuance()
        let token = try issuance.token(
            payload: Issuance.payload(["iss": #""forged""#, "aud": #""forged""#]), by: .strangersPrivateKey)
        let forged = try diagnosis(of: token, by: issuance)
        #expect(forged.keyID == "es" && forged.issuer == Issuance.name)
        #expect(forged.values.expected?.contains("ES256") == true)
        #expect(![forged.values.found, forged.values.expected].contains { $0?.contains("forged") == true })
    }

    @Test func namesKeysAndAlgorithms() throws {
        let issuance = try Issuance()
        let unknown = try diagnosis(of: issuance.token(header: #"{"alg":"ES256","kid":"x"}"#), by: issuance)
        #expect(unknown.keyID == "x" && unknown.issuer == nil)
        #expect(unknown.values == CheckedValues(found: "kid x", expected: "es, hs"))
        let other = try diagnosis(of: issuance.token(header: #"{"alg":"HS256","kid":"es"}"#), by: issuance)
        #expect(other.values == CheckedValues(found: "HS256", expected: "ES256"))
        #expect(issuance.verifier.diagnosis(of: [1], refusedFor: .keyUnknown, now: 0) == TokenDiagnosis())
        let malformed = issuance.verifier.diagnosis(of: [1], refusedFor: .tokenMalformed(.notThreeParts), now: 0)
        #expect(malformed.values.expected?.hasPrefix("three parts") == true)
    }

    /// The log and `latchkey token explain` say the same.
    @Test(
        arguments: [
            (#"{"alg":"none","kid":"es"}"#, "alg none", "one of ES256, EdDSA, RS256, HS256"),
            (#"{"alg":"ES384","kid":"es"}"#, "alg ES384", "one of ES256"), (#"{"kid":"es"}"#, "no alg", "one of ES256"),
            (#"{"alg":"ES256","kid":"es","typ":"logout+jwt"}"#, nil, "the typ JWT or at+jwt"),
            (#"{"alg":"ES256","kid":5}"#, nil, "a kid that is a text"),
            (#"{"alg":"ES256","kid":"es","jku":"x"}"#, nil, "a header without jku"),
        ] as [(String, String?, String)])
    func namesAFaultOfTheHeader(header: String, found: String?, expected: String) throws {
        let issuance = try Issuance()
        let token = try issuance.token(header: header)
        let values = try diagnosis(of: token, by: issuance).values
        #expect(values.found == found)
        #expect(try #require(values.expected).contains(expected))
        #expect(issuance.verifier.explain(token, now: Issuance.now).checks[0].values == values)
    }

    @Test(arguments: [0, 63, 96])
    func namesTheSizeOfASignature(size: Int) throws {
        let issuance = try Issuance()
        let token = try issuance.token(by: .bytes([UInt8](repeating: 1, count: size)))
        let values = try diagnosis(of: token, by: issuance).values
        #expect(values.found == "a signature of \(size) bytes")
        #expect(values.expected?.contains("ES256, of 64 bytes") == true)
        let explained = issuance.verifier.explain(token, now: Issuance.now).checks.first { $0.verdict != .passed }
        #expect(explained?.values == values)
    }

    /// The words of each kind that can be revoked; a person is not named.
    @Test(arguments: [
        (RevocationView.Kind.token, "t-1", "revoked: the token t-1"),
        (.issuer, "https://portal.example", "revoked: the issuer https://portal.example"),
        (.subject, "account-123", "revoked: the subject"), (.key, "hs", "revoked: the issuer's key hs"),
    ])
    func namesWhatIsRevoked(kind: RevocationView.Kind, value: String, words: String) throws {
        let issuance = try Issuance()
        let claims = try issuance.verify(try issuance.token(changing: ["jti": #""t-1""#]))
        var view = RevocationView()
        #expect(view.revoked(by: claims, now: Issuance.now) == nil)
        view.revoke(kind, value)
        #expect(view.revoked(by: claims, now: Issuance.now) == words)
    }
}
