import ByteCoding
import KeyCrypto
import TestSupport
import Testing

@testable import Entitlements

@Suite struct TokenMinterTests {
    private static let contents = TokenContents(
        issuer: Issuance.name, audience: Issuance.audience, subject: "a \"quoted\" name\n", tokenID: "4f1c",
        issuedAt: Issuance.now, notBefore: Issuance.now - 1, expiresAt: Issuance.now + 300,
        rights: [
            Right(.content("movie-42"), lease: 300),
            Right(
                .contentPrefix("live/"), start: 1, end: 1_900_000_000, duration: 5, lease: 6, mode: .both, storage: 7,
                playback: 8, hdcp: .type1, minimumLevel: .audio,
                tracks: ["UHD": Protection(hdcp: .type1, securityLevel: .main), "A": Protection(hdcp: .notRequired)]),
        ])

    private func minters(_ issuance: Issuance) throws -> [TokenMinter] {
        [
            TokenMinter(keyID: "es", es256: issuance.privateKey),
            try TokenMinter(keyID: "hs", hs256: SecretBytes(copying: issuance.secret)),
        ]
    }

    @Test func whatIsMintedIsWhatIsVerified() throws {
        let issuance = try Issuance()
        for minter in try minters(issuance) {
            let claims = try issuance.verify(Array(try minter.mint(Self.contents).utf8))
            #expect(claims.subject == Self.contents.subject)
            #expect(claims.tokenID == Self.contents.tokenID)
            #expect(claims.issuedAt == Self.contents.issuedAt)
            #expect(claims.notBefore == Self.contents.notBefore)
            #expect(claims.expiresAt == Self.contents.expiresAt)
            #expect(claims.rights == Self.contents.rights)
        }
    }

    /// The reader of each other dialect reads the claims that were minted.
    @Test(
        arguments: [
            (
                .nagra,
                Right(.content("movie-42"), start: 1, end: 1_900_000_000, mode: .both, hdcp: .type0, profile: "HD")
            ),
            (.nagra, Right(.content("movie-42"))),
            (.axinom, Right(.keyIDs([KeyID(words: Bytes16(high: 1, low: 2))]), duration: 90, lease: 60, hdcp: .type1)),
            (.axinom, Right(.keyIDs([KeyID(words: Bytes16(high: 1, low: 2))]), start: 1, end: 1_900_000_000)),
        ] as [(TokenDialect, Right)])
    func writesOtherDialects(dialect: TokenDialect, right: Right) throws {
        let issuance = try Issuance(dialect: dialect)
        let minter = try TokenMinter(keyID: "hs", hs256: SecretBytes(copying: issuance.secret))
        let contents = TokenContents(
            issuer: Issuance.name, audience: Issuance.audience, subject: "viewer-1", tokenID: "t-1",
            issuedAt: Issuance.now, expiresAt: Issuance.now + 300, rights: [right])
        let token = try minter.sign(try minter.payload(contents, in: dialect))
        let claims = try issuance.verify(Array(token.utf8))
        #expect(claims.dialect == dialect && claims.subject == "viewer-1")
        #expect(claims.expiresAt == Issuance.now + 300 && claims.rights == [right])
    }

    /// The minter refuses a limit that the dialect cannot express, because leaving it out would grant more than
    /// intended.
    @Test(
        arguments: [
            (.nagra, Right(.content("a"), lease: 60), "lease"), (.nagra, Right(.content("a"), mode: .offline), "mode"),
            (.nagra, Right(.content("a"), mode: .both, storage: 60), "storage"),
            (.nagra, Right(.content("a"), hdcp: .type1), "hdcp"),
            (.nagra, Right(.content("a"), minimumLevel: .main), "min_level"),
            (.nagra, Right(.contentPrefix("a")), "kids"), (.axinom, Right(.content("a")), "content"),
            (.axinom, Right(.keyIDs([KeyID(words: .zero)]), mode: .both, storage: 60), "storage"),
            (.axinom, Right(.keyIDs([KeyID(words: .zero)]), profile: "HD"), "profile"),
        ] as [(TokenDialect, Right, String)])
    func refusesWhatADialectCannotSay(dialect: TokenDialect, right: Right, name: String) throws {
        let minter = try TokenMinter(keyID: "hs", hs256: SecretBytes(copying: [UInt8](repeating: 1, count: 32)))
        let contents = TokenContents(issuer: "i", audience: "a", issuedAt: 1, expiresAt: 2, rights: [right])
        #expect(throws: UnsayableClaim(name: name, dialect: dialect)) { try minter.payload(contents, in: dialect) }
    }

    @Test func absentMembersAreLeftOut() throws {
        let issuance = try Issuance()
        let contents = TokenContents(
            issuer: Issuance.name, audience: Issuance.audience, issuedAt: 1, expiresAt: 2,
            rights: [Right(.content("a"))])
        let token = try minters(issuance)[1].mint(contents)
        let payload = try Token(parsing: Array(token.utf8)).payload
        #expect(
            String(decoding: payload, as: UTF8.self)
                == #"{"iss":"https://portal.example","aud":"latchkey","iat":1,"exp":2,"rights":[{"content":"a"}]}"#)
    }

    @Test func writesEveryMemberUnderItsName() throws {
        let contents = TokenContents(
            issuer: "i", audience: "a", issuedAt: 1, expiresAt: 2, rights: [Self.contents.rights[1]])
        let payload = try Token(parsing: Array(minters(try Issuance())[1].mint(contents).utf8)).payload
        #expect(
            String(decoding: payload, as: UTF8.self)
                == #"{"iss":"i","aud":"a","iat":1,"exp":2,"rights":[{"content_prefix":"live/","start":1,"end":1900000000,"#
                + #""duration":5,"lease":6,"mode":"both","storage":7,"playback":8,"hdcp":"type1","min_level":"audio","#
                + #""tracks":{"A":{"hdcp":"none"},"UHD":{"hdcp":"type1","min_level":"main"}}}]}"#)
    }

    @Test func mintsTheSameBytesAsAnotherImplementation() throws {
        let keyID = try KeyID(parsing: "00112233445566778899aabbccddeeff")
        let contents = TokenContents(
            issuer: Issuance.name, audience: Issuance.audience, subject: "account-123", tokenID: "4f1c",
            issuedAt: Issuance.now, notBefore: Issuance.now, expiresAt: Issuance.now + 300,
            rights: [
                Right(.content("movie-42"), lease: 300, hdcp: .type1),
                Right(.keyIDs([keyID]), duration: 600, mode: .both),
            ])
        let minter = try TokenMinter(keyID: "hs", hs256: SecretBytes(copying: Array(ForeignToken.secret.utf8)))
        #expect(try minter.mint(contents) == ForeignToken.hs256ForOneAudience)
    }

    @Test func hmacTokensAreTheSameEachTime() throws {
        let minter = try minters(try Issuance())[1]
        #expect(try minter.mint(Self.contents) == minter.mint(Self.contents))
    }

    @Test func shortSecretsMintNothing() {
        #expect(throws: IssuerSetError.secretTooShort(size: 31)) {
            try TokenMinter(keyID: "k", hs256: SecretBytes(copying: [UInt8](repeating: 1, count: 31)))
        }
    }
}
