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

    /// Every prefix of a valid token is refused by an error, not by a trap.
    @Test(arguments: 0..<ForeignToken.es256.utf8.count)
    func refusesEveryTruncation(length: Int) throws {
        let prefix = Array(ForeignToken.es256.utf8.prefix(length))
        #expect(throws: EntitlementError.self) { try Self.verifier().verify(prefix, now: Issuance.now) }
    }

    /// Every changed character of a valid token is refused: the text is canonical, and the signature covers the rest.
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

/// Tokens that another implementation (PyJWT 2.15) made with fixed keys, so that a common mistake of minter and
/// verifier would show.
///
/// All have nearly the same claims. They were made at 1750000000, for 300 seconds.
enum ForeignToken {
    static let publicKey = """
        -----BEGIN PUBLIC KEY-----
        MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEXrF39fSmfX/6Zr4QEDmUluwI8Aiv
        1m00qoN3yBenE1VmOUVgGIBiTnhiW2e8fZE8gAmJb0so9Aeq5Yfez9R0DA==
        -----END PUBLIC KEY-----
        """
    static let secret = "0123456789abcdef0123456789abcdef"

    private static let payload = """
        eyJpc3MiOiJodHRwczovL3BvcnRhbC5leGFtcGxlIiwiYXVkIjpbIm90aGVyIiwibGF0Y2hrZXkiXSwic3ViIjoiYWNjb3VudC0xMjMiLCJpYXQiOjE3NTAw\
        MDAwMDAsIm5iZiI6MTc1MDAwMDAwMCwiZXhwIjoxNzUwMDAwMzAwLCJqdGkiOiI0ZjFjIiwicmlnaHRzIjpbeyJjb250ZW50IjoibW92aWUtNDIiLCJsZWFz\
        ZSI6MzAwLCJoZGNwIjoidHlwZTEifSx7ImtpZHMiOlsiMDAxMTIyMzMtNDQ1NS02Njc3LTg4OTktYWFiYmNjZGRlZWZmIl0sImR1cmF0aW9uIjo2MDAsIm1v\
        ZGUiOiJib3RoIn1dfQ
        """
    static let es256 = """
        eyJhbGciOiJFUzI1NiIsImtpZCI6ImVzIiwidHlwIjoiSldUIn0.\(payload).\
        bRKNNu_h5mDCgfzhzz2NwgQPrZEfND2iiR_Eh-5GMRfRU6kSQFMRgL2FE2PFYKIY-5wwoZ3vG5xjsfB6B9taXw
        """
    static let hs256 = """
        eyJhbGciOiJIUzI1NiIsImtpZCI6ImhzIiwidHlwIjoiSldUIn0.\(payload).f0-vpxHG7PjQf7XlbYMHsBuF9Lrg4-tdBtx--JMsgDI
        """

    /// The HS256 token with a single audience. A minter can then only choose the order of the members.
    static let hs256ForOneAudience = """
        eyJhbGciOiJIUzI1NiIsImtpZCI6ImhzIiwidHlwIjoiSldUIn0.\
        eyJpc3MiOiJodHRwczovL3BvcnRhbC5leGFtcGxlIiwiYXVkIjoibGF0Y2hrZXkiLCJzdWIiOiJhY2NvdW50LTEyMyIsImlhdCI6\
        MTc1MDAwMDAwMCwibmJmIjoxNzUwMDAwMDAwLCJleHAiOjE3NTAwMDAzMDAsImp0aSI6IjRmMWMiLCJyaWdodHMiOlt7ImNvbnRl\
        bnQiOiJtb3ZpZS00MiIsImxlYXNlIjozMDAsImhkY3AiOiJ0eXBlMSJ9LHsia2lkcyI6WyIwMDExMjIzMy00NDU1LTY2NzctODg5\
        OS1hYWJiY2NkZGVlZmYiXSwiZHVyYXRpb24iOjYwMCwibW9kZSI6ImJvdGgifV19\
        .gcGrC4U7FyND7-NsxPNA2cOjBewK3G06_EYS_HxIt1Q
        """
}
