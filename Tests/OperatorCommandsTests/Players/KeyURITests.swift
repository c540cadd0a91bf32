import ByteCoding
import Testing

@testable import PlayerTools

/// The asset ids that players make from a key URI.
@Suite struct KeyURITests {
    private static let uuid = "2f6c1d0e-7d3c-4c5e-9c57-0d6a5f0f6a11"
    private static let digits = "2f6c1d0e7d3c4c5e9c570d6a5f0f6a11"

    @Test(arguments: [
        (AssetIDForm.wholeURI, "skd://keys.example:8443/a/movie-1?cid=x#f"),
        (.withoutScheme, "keys.example:8443/a/movie-1?cid=x#f"), (.host, "keys.example"),
    ])
    func makesEachForm(form: AssetIDForm, expected: String) throws {
        let uri = try #require(KeyURI("skd://keys.example:8443/a/movie-1?cid=x#f"))
        #expect(uri.assetID(form) == Array(expected.utf8))
    }

    @Test(arguments: [
        "skd://\(uuid)", "skd://\(digits)", "skd://keys.example/\(uuid)/", "skd://keys.example?kid=\(uuid)&x=1",
        "skd://keys.example/a;\(digits.uppercased())",
    ])
    func findsTheKeyID(text: String) throws {
        let uri = try #require(KeyURI(text))
        #expect(uri.assetID(.keyID) == (try Hexadecimal.decode(Self.digits)))
    }

    @Test func prefersTheKeyIDThatIsGiven() throws {
        let given = try KeyID(parsing: "00112233445566778899aabbccddeeff")
        #expect(KeyURI("skd://\(Self.uuid)", keyID: given)?.assetID(.keyID) == given.bytes)
    }

    @Test(arguments: ["skd://movie-1", "skd://\(digits)0", "skd://\(uuid)-1"])
    func hasNoKeyIDOtherwise(text: String) throws {
        let uri = try #require(KeyURI(text))
        #expect(uri.assetID(.keyID) == nil)
    }

    /// An SPC can only contain asset ids of 2 to 1,024 bytes.
    @Test func givesNoAssetIDOfAnotherSize() throws {
        #expect(try #require(KeyURI("skd:///path")).assetID(.host) == nil)
        #expect(try #require(KeyURI("skd://a/path")).assetID(.host) == nil)
        #expect(try #require(KeyURI("skd://ab/path")).assetID(.host) == Array("ab".utf8))
        #expect(try #require(KeyURI("skd://a")).assetID(.withoutScheme) == nil)
        let longest = "skd://" + String(repeating: "a", count: 1018)
        #expect(try #require(KeyURI(longest)).assetID(.wholeURI)?.count == 1024)
        #expect(KeyURI(longest + "a") == nil)
    }

    @Test(arguments: [
        "", "skd://", "movie-1", "https://movie-1", "skd:movie-1", "skd://a b", "skd://mövie", "skd://a\n",
    ])
    func refusesOtherTexts(text: String) {
        #expect(KeyURI(text) == nil)
    }

    @Test(arguments: [
        ("skd://a.example/x/?ExpressPlayToken=abc", true), ("skd://a.example/?a=b&ExpressPlayToken=abc#c", true),
        ("skd://a.example/?ExpressPlayToken=", false), ("skd://a.example/?NoExpressPlayToken=a", false),
        ("skd://a.example/#?ExpressPlayToken", false), ("skd://a.example/ExpressPlayToken=abc", false),
    ])
    func seesATokenInTheQuery(text: String, isThere: Bool) throws {
        #expect(try #require(KeyURI(text)).hasQueryItem("ExpressPlayToken") == isThere)
    }
}
