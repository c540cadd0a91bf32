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

    @Test(arguments: ["authorization", "x-axdrm-message", "nv-authorizations"])
    func refusesVeryManyFieldsOfOneName(name: String) throws {
        let value = name == "authorization" ? "Bearer a.b.c" : "a.b.c"
        func repeated(_ count: Int) throws -> [String]? {
            let carriers = TokenCarriers(fieldValues: {
                $0.lowercased() == name ? Array(repeating: value, count: count) : []
            })
            return try TokenFinder().token(in: carriers)?.tokens.map { String(decoding: $0, as: UTF8.self) }
        }
        #expect(try repeated(8) == ["a.b.c"])
        #expect(throws: EntitlementError.tokenMalformed(.notThreeParts)) { try repeated(9) }
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

    // MARK: Nearly right places

    private static let jwt = "eyJhbGciOiJFUzI1NiJ9.eyJpc3MiOiJhIn0.c2lnbmF0dXJl"
    /// The first letters of a sealed token.
    private static let sealed = "AgAAAAABc2VhbGVk"

    /// The place that explains why a request without a readable token was refused. `isFound` is what the finder says.
    private func stray(
        _ fields: (String, String)..., query: String? = nil, finder: TokenFinder = TokenFinder()
    ) throws -> StrayToken? {
        let found = try finder.token(in: Self.carriers(fields, query: query, body: nil))
        let isReadable = found.map { $0.tokens.allSatisfy { (try? Token(parsing: $0)) != nil } } ?? false
        #expect(!isReadable, "the token would be taken")
        let bytes = fields.map { (name: Array($0.0.utf8)[...], value: Array($0.1.utf8)[...]) }
        return finder.stray(in: bytes, query: QueryPairs(query), isFound: found != nil)
    }

    @Test(arguments: [
        ("userToken=\(jwt)", "userToken", "UserToken"), ("Token=\(jwt)", "Token", "token"),
        ("a=1&axdrmmessage=\(jwt)", "axdrmmessage", "AxDrmMessage"), ("access_token=\(jwt)", "access_token", nil),
        ("jwt=\(jwt)&b", "jwt", nil), ("expressplaytoken=\(sealed)", "expressplaytoken", "ExpressPlayToken"),
        ("auth=Bearer%20\(jwt)", "auth", nil), ("%74oken2=\(jwt)", "token2", nil),
    ])
    func namesAParameterThatIsNotRead(query: String, name: String, rightName: String?) throws {
        #expect(
            try stray(query: query)
                == StrayToken(place: .parameter, name: name, isRead: false, isQuoted: false, rightName: rightName))
    }

    @Test(arguments: [
        ("Authorization", "Bearer=\(jwt)", true, false), ("authorization", "Bearer:\(jwt)", true, false),
        ("Authorization", jwt, true, false), ("Authorization", "Bearer \"\(jwt)\"", true, true),
        ("Authorization", "Bearer Bearer \(jwt)", true, false), ("Authorization", "JWT \(jwt)", true, false),
        ("X-AxDRM-Message", "\"\(jwt)\"", true, true), ("x-axdrm-message", "Bearer \(jwt)", true, false),
        ("nv-authorizations", "'\(jwt)'", true, true), ("X-Own-Token", "Token \(jwt)", false, false),
        ("Authorization", "Bearer\t\(jwt)", true, false), ("Authorization", "Bearer%20\(jwt)", true, false),
        ("X-Own-Token", "\"\(jwt)\"", false, true), ("X-Auth", "token=\(jwt)", false, false),
    ])
    func namesAHeaderThatIsNotReadOrNotInThisForm(name: String, value: String, isRead: Bool, isQuoted: Bool) throws {
        #expect(
            try stray((name, value))
                == StrayToken(place: .header, name: name, isRead: isRead, isQuoted: isQuoted, rightName: nil))
    }

    @Test func namesAQuotedParameterThatIsRead() throws {
        #expect(
            try stray(query: "token=%22\(Self.jwt)%22")
                == StrayToken(place: .parameter, name: "token", isRead: true, isQuoted: true, rightName: nil))
        let finder = TokenFinder(ignoring: [.query])
        #expect(try stray(query: "token=\(Self.jwt)", finder: finder)?.isRead == false)
    }

    /// A program writes such a word for a token that it does not have.
    @Test(arguments: ["undefined", "null", "(null)", "nil", "None", "[object Object]"])
    func namesAPlaceholder(text: String) throws {
        for (name, value) in [
            ("Authorization", "Bearer \(text)"), ("authorization", text), ("X-AxDRM-Message", text),
        ] {
            let stray = try #require(try stray((name, value)))
            #expect(stray.place == .header && stray.name == name && stray.isRead && stray.placeholder == text)
        }
        let query = "token=" + text.replacing(" ", with: "%20")
        #expect(try stray(query: query)?.placeholder == text)
        #expect(try stray(("X-Own", text), ("Authorization", "Bearer \(text)x"), query: "a=\(text)") == nil)
    }

    /// A gateway adds a header with a token of its own, and never a parameter.
    @Test func namesTheClientsPlaceBeforeAGatewaysHeader() throws {
        let gateway = ("Cf-Access-Jwt-Assertion", Self.jwt)
        #expect(try stray(gateway, query: "access_token=\(Self.jwt)")?.name == "access_token")
        #expect(try stray(gateway, ("Authorization", "Bearer=\(Self.jwt)"))?.name == "Authorization")
        #expect(try stray(gateway)?.name == "Cf-Access-Jwt-Assertion")
    }

    /// Many values that begin like tokens end the search; they hide no place that is read.
    @Test func looksAtFewValuesThatAreNoTokens() throws {
        let finder = TokenFinder()
        let fields = (0..<90).map { (name: Array("x-\($0)".utf8)[...], value: Array("eyJ\($0).".utf8)[...]) }
        let last = (name: Array("x-last".utf8)[...], value: Array(Self.jwt.utf8)[...])
        #expect(finder.stray(in: fields.prefix(15) + [last], query: QueryPairs(), isFound: false)?.name == "x-last")
        #expect(finder.stray(in: fields + [last], query: QueryPairs(), isFound: false) == nil)
    }

    /// A token for somebody else explains nothing, and no name is a token itself.
    @Test func namesNothingElse() throws {
        let long = String(repeating: "n", count: 65)
        #expect(
            try stray(("Cookie", "session=\(Self.jwt)"), ("Referer", "https://a.example/?token=\(Self.jwt)")) == nil)
        #expect(try stray(("X-Trace", "eyJ.no"), (long, Self.jwt), query: "\(long)=\(Self.jwt)&token=&a=b") == nil)
        for value in [
            "", " ", "\"", "'\"= :", "eyJ", "\(long) \(Self.jwt)", "\(Self.jwt), \(Self.jwt)", "\(Self.jwt).",
            "(\(Self.jwt))",
        ] {
            #expect(try stray(("X-Other", value)) == nil)
        }
        #expect(try stray(query: "\(Self.jwt)&\(Self.jwt)=1&%FF=\(Self.jwt)") == nil)
        // A token that is read counts, and is only malformed: what else the request has does not matter.
        #expect(
            try stray(("Authorization", "Bearer a.b"), ("X-Other", Self.jwt), query: "userToken=\(Self.jwt)") == nil)
    }
}
