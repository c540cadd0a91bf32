import ByteCoding
import KeyCrypto
import Testing

@testable import Entitlements

/// An example of how a token becomes the permission to issue a license.
@Suite struct EntitlementsExampleTests {
    /// `{"alg":"HS256","kid":"portal-1"}`, and
    /// `{"iss":"https://portal.example","aud":"latchkey","sub":"account-123","iat":1750000000,"exp":1750000300,`
    /// `"rights":[{"content":"movie-42","lease":300}]}`, signed by Python's `hmac`.
    private static let token = """
        eyJhbGciOiJIUzI1NiIsImtpZCI6InBvcnRhbC0xIn0\
        .eyJpc3MiOiJodHRwczovL3BvcnRhbC5leGFtcGxlIiwiYXVkIjoibGF0Y2hrZXkiLCJzdWIiOiJhY2NvdW50LTEyMyIsImlh\
        dCI6MTc1MDAwMDAwMCwiZXhwIjoxNzUwMDAwMzAwLCJyaWdodHMiOlt7ImNvbnRlbnQiOiJtb3ZpZS00MiIsImxlYXNlIjoz\
        MDB9XX0\
        .0E931guGrQgwTZeosTF4w-JhzLGUKmZsGfFFQI0Fd_Q
        """

    @Test func verifiesATokenAndAuthorisesALicense() throws {
        // The configuration says which issuers' tokens are accepted. The key determines issuer, algorithm and dialect.
        let secret = SecretBytes(copying: Array("0123456789abcdef0123456789abcdef".utf8))
        let issuer = Issuer(
            name: "https://portal.example", audience: "latchkey",
            keys: [try VerificationKey(id: "portal-1", hs256: secret)])
        let verifier = TokenVerifier(issuers: try IssuerSet([issuer]))

        // Signature and times are checked before anything else is read. Time is an argument.
        let claims = try verifier.verify(Array(Self.token.utf8), now: 1_750_000_010)
        #expect(claims.subject == "account-123")
        #expect(throws: EntitlementError.tokenExpired(agoSeconds: 60)) {
            try verifier.verify(Array(Self.token.utf8), now: 1_750_000_360)
        }

        // The gate compares the rights with the request. Only the gate can make an `Authorization`.
        let movie = RequestedContent(contentID: "movie-42", keyID: KeyID(words: .zero), trackLabels: ["HD"])
        let authorization = try Gate.authorize(claims: claims, content: movie, for: .streaming, now: 1_750_000_010)
        guard case .streaming(let limits) = authorization.limits else {
            Issue.record("the request was for streaming")
            return
        }
        #expect(limits.lease == 300 && limits.rental == nil)
    }
}
