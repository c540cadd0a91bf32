import ByteCoding
import Testing

@testable import Entitlements

@Suite struct TokenFinderTests {
    private typealias Fields = [(String, String)]

    private static func carriers(_ fields: [(String, String)], query: String?, body: String?) -> TokenCarriers {
        TokenCarriers(
            fieldValues: { name in
                fields.filter { $0.0.lowercased() == name.lowercased() }.map(\.1)
            }, query: QueryPairs(query), bodyToken: body.map { Array($0.utf8) })
    }

    private func find(
        _ fields: (String, String)..., query: String? = nil, body: String? = nil, finder: TokenFinder = TokenFinder()
    ) throws -> (TokenSource, [String])? {
        let found = try finder.token(in: Self.carriers(fields, query: query, body: body))
        return found.map { ($0.source, $0.tokens.map { String(decoding: $0, as: UTF8.self) }) }
    }

    @Test(arguments: [
        (("Authorization", "Bearer a.b.c"), TokenSource.bearer), (("authorization", "bEARER   a.b.c"), .bearer),
        (("nv-authorizations", "a.b.c"), .nvAuthorizations), (("NV-Authorizations", " a.b.c ,"), .nvAuthorizations),
        (("X-AxDRM-Message", "a.b.c"), .axinomMessage), (("x-dt-auth-token", "a.b.c"), .drmToday),
        (("X-Drm-UserToken", "a.b.c"), .drmCloud), (("ExpressPlayToken", "a.b.c"), .expressPlay),
    ])
    func findsATokenInAHeader(field: (String, String), source: TokenSource) throws {
        let found = try #require(try find(field))
        #expect(found.0 == source)
        #expect(found.1 == ["a.b.c"])
        #expect(try find(field, finder: TokenFinder(ignoring: [source])) == nil)
    }

    /// A stranger's list of thousands of elements is not read to its end.
    @Test func refusesAListOfVeryManyElements() throws {
        let repeated = { (count: Int) in String(repeating: "a.b.c,", count: count) }
        #expect(try find(("nv-authorizations", repeated(64)))?.1 == ["a.b.c"])
        #expect(throws: EntitlementError.tokenMalformed(.notThreeParts)) {
            try find(("nv-authorizations", repeated(65)))
        }
        #expect(throws: EntitlementError.tokenMalformed(.notThreeParts)) {
            try find(("nv-authorizations", repeated(40)), ("nv-authorizations", repeated(40)))
        }
    }

    @Test(arguments: [
        ("ExpressPlayToken=a.b.c", TokenSource.expressPlay), ("AxDrmMessage=a.b.c", .axinomMessage),
        ("token=a.b.c", .query), ("offline=1&UserToken=a%2Eb.c", .query), ("drm_token=a.b.c&x", .query),
    ])
    func findsATokenInTheQuery(query: String, source: TokenSource) throws {
        let found = try #require(try find(query: query))
        #expect(found.0 == source)
        #expect(found.1 == ["a.b.c"])
        #expect(try find(query: query, finder: TokenFinder(ignoring: [source])) == nil)
    }

    @Test func findsATokenInTheBodyAndInNamedHeaders() throws {
        #expect(try find(body: "a.b.c")?.0 == .body)
        let finder = TokenFinder(headerNames: ["X-ISP-TOKEN", "customdata"])
        #expect(try find(("CustomData", "a.b.c"), finder: finder)?.0 == .headers)
        #expect(try find(("customdata", "a.b.c")) == nil)
    }

    @Test(
        arguments: [
            [], [("Authorization", "Basic YTpi")], [("Authorization", "Bearer")], [("Authorization", "Bearera.b.c")],
            [("Authorization", "Bearer  ")], [("nv-authorizations", " , ")], [("X-AxDRM-Message", "")],
        ] as [[(String, String)]])
    func findsNothingElsewhere(fields: [(String, String)]) throws {
        #expect(try TokenFinder().token(in: Self.carriers(fields, query: "Token=a&tokens=b&token", body: nil)) == nil)
        #expect(try TokenFinder().token(in: Self.carriers(fields, query: "token=", body: "")) == nil)
    }

    @Test func aListIsOneSource() throws {
        let found = try #require(try find(("nv-authorizations", "a.b.c, d.e.f"), ("nv-authorizations", "g.h.i,a.b.c")))
        #expect(found.1 == ["a.b.c", "d.e.f", "g.h.i"])
        #expect(try find(("nv-authorizations", "a.b.c%2Cd.e.f"))?.1 == ["a.b.c", "d.e.f"])
        let long = (0...8).map { "t\($0)" }.joined(separator: ",")
        #expect(throws: EntitlementError.tokenMalformed(.notThreeParts)) { try find(("nv-authorizations", long)) }
    }

    @Test func theSameTokenTwiceIsOne() throws {
        #expect(
            try find(("Authorization", "Bearer a"), ("ExpressPlayToken", "a"), query: "token=a", body: "a")?.0
                == .bearer)
        #expect(try find(("Authorization", "Bearer a"), ("authorization", "Bearer a"))?.1 == ["a"])
        #expect(try find(("nv-authorizations", "a,b"), body: "b")?.1 == ["a", "b"])
        #expect(try find(("Authorization", "Bearer b"), ("nv-authorizations", "a,b"))?.1 == ["a", "b"])
    }

    @Test func differentTokensAreAmbiguous() {
        #expect(throws: EntitlementError.tokenAmbiguous) {
            try find(("Authorization", "Bearer a"), ("authorization", "Bearer b"))
        }
        #expect(throws: EntitlementError.tokenAmbiguous) {
            try find(("Authorization", "Bearer a"), ("nv-authorizations", "b"))
        }
        #expect(throws: EntitlementError.tokenAmbiguous) { try find(query: "token=a&token=b") }
        #expect(throws: EntitlementError.tokenAmbiguous) { try find(query: "token=a&UserToken=b") }
        #expect(throws: EntitlementError.tokenAmbiguous) { try find(("X-AxDRM-Message", "a"), query: "AxDrmMessage=b") }
        #expect(throws: EntitlementError.tokenAmbiguous) { try find(("ExpressPlayToken", "a"), body: "b") }
        #expect(throws: EntitlementError.tokenAmbiguous) { try find(("nv-authorizations", "a,b"), body: "c") }
    }

    /// The finder ignores the sources that the configuration names, for example for a gateway's own token.
    @Test func ignoresTheSourcesThatAreNamed() throws {
        let finder = TokenFinder(ignoring: [.bearer, .query])
        let found = try find(
            ("Authorization", "Bearer gateway"), ("nv-authorizations", "a"), query: "token=other", finder: finder)
        #expect(found?.0 == .nvAuthorizations)
    }

    @Test func whatIsNoEscapeStaysAsItIs() throws {
        #expect(try find(query: "token=a%")?.1 == ["a%"])
        #expect(try find(query: "token=a%4")?.1 == ["a%4"])
        #expect(try find(query: "token=a%zz+b")?.1 == ["a%zz+b"])
        #expect(try find(query: "%74oken=a")?.1 == ["a"])
    }
}
