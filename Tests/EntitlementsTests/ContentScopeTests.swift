import ByteCoding
import KeyCrypto
import Testing

@testable import Entitlements

/// The contents that an issuer's tokens can open, even if the tokens name more.
@Suite struct ContentScopeTests {
    private static let keyID = "00112233445566778899aabbccddeeff"

    private func claims(_ contents: [String]?, rights: String) throws -> Claims {
        let issuance = try Issuance()
        let issuer = Issuer(
            name: Issuance.name, audience: Issuance.audience,
            keys: [VerificationKey(id: "es", es256: issuance.privateKey.publicKey)],
            contents: contents.map { ContentScope($0) })
        let verifier = TokenVerifier(issuers: try IssuerSet([issuer]))
        return try verifier.verify(
            try issuance.token(payload: Issuance.payload(["rights": rights])), now: Issuance.now)
    }

    private func isAllowed(_ claims: Claims, _ content: String) throws -> Bool {
        let content = RequestedContent(
            contentID: content, keyID: try KeyID(parsing: Self.keyID), trackLabels: [])
        do throws(EntitlementError) {
            _ = try Gate.authorize(claims: claims, content: content, for: .streaming, now: Issuance.now)
            return true
        } catch {
            #expect(error == .contentNotCovered)
            return false
        }
    }

    @Test(arguments: [
        ("movie-1", true), ("movie-10", false), ("movie", false), ("live/one", true), ("live/", true), ("live", false),
        ("LIVE/one", false), ("other", false),
    ])
    func coversIDsAndPrefixes(content: String, isCovered: Bool) throws {
        let scope = ContentScope(["movie-1", "live/*"])
        #expect(scope.covers(content) == isCovered)
        #expect(ContentScope(["*"]).covers(content))
        let all = try claims(["movie-1", "live/*"], rights: #"[{"content":"\#(content)"}]"#)
        #expect(try isAllowed(all, content) == isCovered)
        let asked = RequestedContent(contentID: content, keyID: try KeyID(parsing: Self.keyID), trackLabels: [])
        let isPermitted = (try? Gate.permitSync(claims: all, content: asked)) != nil
        #expect(isPermitted == isCovered)
        #expect(Gate.namesAsset(all, contentID: content, keyID: nil) == isCovered)
    }

    /// A right with key ids or a wide prefix opens no other contents.
    @Test(arguments: [#"[{"kids":["00112233445566778899aabbccddeeff"]}]"#, #"[{"content_prefix":"m"}]"#])
    func boundsRightsOfEveryForm(rights: String) throws {
        let bounded = try claims(["movie-1"], rights: rights)
        #expect(try isAllowed(bounded, "movie-1"))
        #expect(try !isAllowed(bounded, "movie-2"))
        let free = try claims(nil, rights: rights)
        #expect(try isAllowed(free, "movie-2"))
        // A key id alone does not identify the content.
        #expect(!Gate.namesAsset(bounded, contentID: nil, keyID: try KeyID(parsing: Self.keyID)))
    }

    @Test(arguments: [
        (#"[{"content":"movie-1"}]"#, true), (#"[{"content":"movie-2"}]"#, false),
        (#"[{"content_prefix":"mo"}]"#, true),
        (#"[{"content_prefix":"live/a/b"}]"#, true), (#"[{"content_prefix":"news"}]"#, false),
        (#"[{"kids":["00112233445566778899aabbccddeeff"]}]"#, true),
        (#"[{"content":"movie-2"},{"content":"live/x"}]"#, true),
    ])
    func tellsTokensThatCanOpenNothing(rights: String, canOpen: Bool) throws {
        #expect(try claims(["movie-1", "live/*"], rights: rights).mayOpenAnything == canOpen)
        #expect(try claims(nil, rights: rights).mayOpenAnything)
    }
}
