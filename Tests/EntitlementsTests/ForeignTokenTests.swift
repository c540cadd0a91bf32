import ByteCoding
import KeyCrypto
import TestSupport
import Testing

@testable import Entitlements

@Suite struct ForeignTokenTests {
    private static func verifier() throws -> TokenVerifier {
        let keys = [
            VerificationKey(id: "es", es256: try ES256PublicKey(parsing: Array(ForeignToken.publicKey.utf8))),
            try VerificationKey(id: "hs", hs256: SecretBytes(copying: Array(ForeignToken.secret.utf8))),
        ]
        return TokenVerifier(
            issuers: try IssuerSet([
                Issuer(name: Issuance.name, audience: Issuance.audience, keys: keys, maximumLife: 300)
            ]))
    }

    @Test(arguments: [ForeignToken.es256, ForeignToken.hs256])
    func acceptsTokensOfAnotherImplementation(token: String) throws {
        let claims = try Self.verifier().verify(Array(token.utf8), now: Issuance.now)
        #expect(claims.subject == "account-123")
        #expect(claims.tokenID == "4f1c")
        #expect(claims.notBefore == Issuance.now)
        #expect(
            claims.rights == [
                Right(.content("movie-42"), lease: 300, hdcp: .type1),
                Right(
                    .keyIDs([try KeyID(parsing: "00112233445566778899aabbccddeeff")]), duration: 600, mode: .both),
            ])
    }

    /// Every prefix of a valid token must be refused, by an error and not by a trap.
    @Test(arguments: 0..<ForeignToken.es256.utf8.count)
    func refusesEveryTruncation(length: Int) throws {
        let prefix = Array(ForeignToken.es256.utf8.prefix(length))
        #expect(throws: EntitlementError.self) { try Self.verifier().verify(prefix, now: Issuance.now) }
    }

    /// No other character stands in for one of a valid token: the text is canonical, and the signature covers the rest.
    @Test(arguments: 0..<ForeignToken.hs256.utf8.count)
    func refusesEveryChangedCharacter(offset: Int) throws {
        var token = Array(ForeignToken.hs256.utf8)
        let original = token[offset]
        let verifier = try Self.verifier()
        for replacement in [original ^ 0x01, original ^ 0x20, UInt8(ascii: "."), 0x00, 0xFF]
        where replacement != original {
            token[offset] = replacement
            #expect(throws: EntitlementError.self) { try verifier.verify(token, now: Issuance.now) }
        }
    }
}
