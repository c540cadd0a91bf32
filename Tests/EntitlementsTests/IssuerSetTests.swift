import ByteCoding
import KeyCrypto
import Telemetry
import TestSupport
import Testing

@testable import Entitlements

@Suite struct IssuerSetTests {
    private static func key(_ id: String) throws -> VerificationKey {
        VerificationKey(id: id, es256: try ES256PrivateKey.generate().publicKey)
    }

    private static func issuer(_ name: String = "a", audience: String = "b", keys: [String] = ["k"]) throws -> Issuer {
        Issuer(name: name, audience: audience, keys: try keys.map(key))
    }

    @Test func refusesAKeyIDThatOccursTwice() throws {
        let twice = try Self.issuer(keys: ["k", "l", "k"])
        #expect(throws: IssuerSetError.duplicateKeyID("k")) { try IssuerSet([twice]) }
        let one = try Self.issuer("a", keys: ["k"])
        let other = try Self.issuer("c", keys: ["l", "k"])
        #expect(throws: IssuerSetError.duplicateKeyID("k")) { try IssuerSet([one, other]) }
    }

    @Test func tellsKeyIDsApartByTheirBytes() throws {
        let set = try IssuerSet([try Self.issuer(keys: ["K", "k", "\u{212A}"])])
        #expect(set.entry(forKeyID: "\u{212A}")?.key.id.utf8.count == 3)
        #expect(set.entry(forKeyID: "K")?.key.id.utf8.count == 1)
        #expect(set.entry(forKeyID: "l") == nil)
    }

    @Test func takesKeyIDsOfOneToTwoHundredBytes() throws {
        for size in [1, 200] { _ = try IssuerSet([try Self.issuer(keys: [String(repeating: "k", count: size)])]) }
        for size in [0, 201] {
            let issuer = try Self.issuer(keys: [String(repeating: "k", count: size)])
            #expect(throws: IssuerSetError.keyIDInvalid(String(repeating: "k", count: size))) {
                try IssuerSet([issuer])
            }
        }
    }

    @Test func refusesIssuersThatWouldAcceptNobodyOrAnybody() throws {
        let nameless = try Self.issuer("")
        #expect(throws: IssuerSetError.nameEmpty("")) { try IssuerSet([nameless]) }
        let unaddressed = try Self.issuer("a", audience: "")
        #expect(throws: IssuerSetError.nameEmpty("a")) { try IssuerSet([unaddressed]) }
        for life: Int64 in [0, -1] {
            let issuer = Issuer(name: "a", audience: "b", keys: [], maximumLife: life)
            #expect(throws: IssuerSetError.maximumLifeNotPositive("a")) { try IssuerSet([issuer]) }
        }
    }

    @Test(arguments: [Int64.min, -1, 61, .max])
    func refusesALeewayBeyondAMinute(leeway: Int64) {
        #expect(throws: IssuerSetError.leewayOutOfRange(leeway)) { try IssuerSet([], leeway: leeway) }
    }

    @Test(arguments: [Int64(0), 5, 60])
    func takesALeewayUpToAMinute(leeway: Int64) throws {
        #expect(try IssuerSet([], leeway: leeway).leeway == leeway)
    }

    @Test func wantsSecretsOfThirtyTwoBytes() throws {
        #expect(throws: IssuerSetError.secretTooShort(size: 31)) {
            try VerificationKey(id: "k", hs256: SecretBytes(copying: [UInt8](repeating: 7, count: 31)))
        }
        let key = try VerificationKey(id: "k", hs256: SecretBytes(copying: [UInt8](repeating: 7, count: 32)))
        #expect(key.algorithm == .hs256)
    }

    @Test func refusesAPublicKeyAsSecret() throws {
        let pem = try ES256PrivateKey.generate().publicKey.publicPEM()
        #expect(throws: IssuerSetError.secretIsAPublicKey) {
            try VerificationKey(id: "k", hs256: SecretBytes(copying: pem))
        }
        #expect(throws: IssuerSetError.secretIsAPublicKey) {
            try TokenMinter(keyID: "k", hs256: SecretBytes(copying: pem))
        }
    }

    // MARK: Fetched keys

    private static func fetchedSet(_ ids: String...) throws -> JWKSet {
        let keys = try ids.map { try PublishedKeys.json($0, ES256PrivateKey.generate()) }
        return try PublishedKeys.set(keys)
    }

    private static func fetching(_ name: String = "a", dialect: TokenDialect = .jwt) -> Issuer {
        Issuer(name: name, audience: "b", dialect: dialect, keys: [], keySupply: .missing)
    }

    @Test func addsFetchedKeysToTheirIssuer() throws {
        let set = try IssuerSet([try Self.issuer(), Self.fetching("c")])
        let added = set.adding([1: KeysAtURL(try Self.fetchedSet("x", "y"))])
        #expect(added.entry(forKeyID: "y")?.issuer.name == "c" && added.entry(forKeyID: "k")?.issuer.name == "a")
        #expect(set.entry(forKeyID: "y") == nil)
        #expect(added.issuers.map(\.keySupply) == [.configured, .fetched])
        #expect(added.unknownKeys === set.unknownKeys)
    }

    @Test func aConfiguredKeyTakesThePlaceOfAFetchedOne() throws {
        let set = try IssuerSet([
            Issuer(
                name: "a", audience: "b",
                keys: [VerificationKey(id: "k", es256: try ES256PrivateKey.generate().publicKey, state: .revoked)],
                keySupply: .missing)
        ])
        let added = set.adding([0: KeysAtURL(try Self.fetchedSet("k", "l"))])
        #expect(added.entry(forKeyID: "k")?.key.state == .revoked)
        #expect(added.entry(forKeyID: "l")?.key.state == .active)
    }

    /// An issuer may publish the ID of another one's key, by accident or to harm it. Neither loses a token by that.
    @Test(arguments: [true, false])
    func theSignatureDecidesWhoseKeyItIsIfSeveralIssuersHaveItsID(isConfigured: Bool) throws {
        let (own, rival) = (try ES256PrivateKey.generate(), try ES256PrivateKey.generate())
        let ownKey = VerificationKey(id: "k", es256: own.publicKey, state: .active)
        let set = try IssuerSet([
            Self.fetching("rival"),
            Issuer(
                name: "own", audience: "b", keys: isConfigured ? [ownKey] : [],
                keySupply: isConfigured ? .configured : .missing),
        ])
        let published = try [rival, own].map {
            KeysAtURL(try PublishedKeys.set([PublishedKeys.json("k", $0)]))
        }
        let whole = set.adding(isConfigured ? [0: published[0]] : [0: published[0], 1: published[1]])
        let verifier = TokenVerifier(issuers: whole)
        func judge(_ issuer: String, _ key: ES256PrivateKey) throws -> String {
            let contents = TokenContents(issuer: issuer, audience: "b", issuedAt: 1000, expiresAt: 1060, rights: [])
            let token = Array(try TokenMinter(keyID: "k", es256: key).mint(contents).utf8)
            do throws(EntitlementError) {
                return try verifier.verify(token, now: 1001).issuer
            } catch {
                return error.code
            }
        }
        #expect(try judge("own", own) == "own")
        #expect(try judge("rival", rival) == "rival")
        #expect(try judge("own", rival) != "own" && judge("rival", own) != "rival")
        #expect(try judge("own", ES256PrivateKey.generate()) == "token_signature")
    }

    // MARK: One key of several issuers

    /// Two issuers that have one key. The thief is the first of the configuration.
    private struct Thieves {
        static let now: Int64 = 1000

        let key: ES256PrivateKey
        let set: IssuerSet
        private let dialect: TokenDialect

        init(_ dialect: TokenDialect, ownerHasFile: Bool = false) throws {
            self.dialect = dialect
            key = try .generate()
            set = try IssuerSet([
                Issuer(name: "thief", audience: "b", dialect: dialect, keys: [], keySupply: .missing),
                Issuer(
                    name: "owner", audience: "b", dialect: dialect,
                    keys: ownerHasFile ? [VerificationKey(id: "k", es256: key.publicKey)] : [],
                    contents: ContentScope(["owned"]), keySupply: ownerHasFile ? .configured : .missing),
            ])
        }

        func published(_ state: String = "") throws -> KeysAtURL { KeysAtURL(try keys(state)) }

        func keys(_ state: String = "") throws -> JWKSet {
            try PublishedKeys.set([PublishedKeys.json("k", key, state)])
        }

        static func publisher(_ name: String, _ dialect: TokenDialect) -> PublicationOrder.Publisher {
            PublicationOrder.Publisher(issuer: name, dialect: dialect)
        }

        /// The issuer of a token in the name of an issuer, or without a name; or the code of the refusal.
        func judge(_ name: String?, in set: IssuerSet) throws -> String {
            let named = name.map { #""iss":"\#($0)","aud":"b","# } ?? ""
            let rights = dialect == .jwt ? #""rights":[]"# : #""contentRights":[{"contentId":"owned"}]"#
            let form = dialect == .jwt ? #""iat":1000"# : #""typ":"ContentAuthZ","ver":"1.0""#
            let payload = #"{\#(named)\#(form),"exp":1060,\#(rights)}"#
            let header = Base64URL.encode(Array(#"{"alg":"ES256","kid":"k"}"#.utf8))
            let signed = header + "." + Base64URL.encode(Array(payload.utf8))
            let token = signed + "." + Base64URL.encode(try key.signature(for: Array(signed.utf8)))
            do throws(EntitlementError) {
                let claims = try TokenVerifier(issuers: set).verify(Array(token.utf8), now: Self.now)
                #expect((claims.scope != nil) == (claims.issuer == "owner"))
                return claims.issuer
            } catch {
                return error.code
            }
        }
    }

    @Test(arguments: [true, false], ["", #","state":"revoked""#])
    func anIssuerThatPublishesAnothersKeyTakesNoTokenOfIt(ownerHasFile: Bool, state: String) throws {
        let thieves = try Thieves(.jwt, ownerHasFile: ownerHasFile)
        var published = [0: try thieves.published(state)]
        if !ownerHasFile { published[1] = try thieves.published() }
        let set = thieves.set.adding(published)
        #expect(try thieves.judge("owner", in: set) == "owner")
        // Who publishes a key lets its holder sign in the publisher's name.
        #expect(try thieves.judge("thief", in: set) == (state.isEmpty ? "thief" : "kid_revoked"))
        #expect(try ["token_issuer", "kid_revoked"].contains(thieves.judge("stranger", in: set)))
        #expect(set.sharedKeys.map(\.issuers) == [["thief", "owner"]])
        #expect(set.sharedKeys.map(\.isDecided) == [true])
    }

    @Test func aConfiguredKeyStaysWithItsIssuer() throws {
        let thieves = try Thieves(.nagra, ownerHasFile: true)
        let set = thieves.set.adding([0: try thieves.published()])
        #expect(try thieves.judge(nil, in: set) == "owner")
        #expect(try thieves.judge("owner", in: set) == "owner")
        #expect(try thieves.judge("thief", in: set) == "thief")
        #expect(set.sharedKeys.map(\.isDecided) == [true])
    }

    @Test func aTokenWithoutAnIssuerIsRefusedIfTheOrderIsNotKnown() throws {
        let thieves = try Thieves(.nagra)
        let set = thieves.set.adding([0: try thieves.published(), 1: try thieves.published()])
        #expect(try thieves.judge(nil, in: set) == "kid_unknown")
        #expect(try thieves.judge("owner", in: set) == "owner")
        #expect(set.sharedKeys == [SharedKey(id: "k", issuers: ["thief", "owner"], isDecided: false)])
        let alone = thieves.set.adding([1: try thieves.published()])
        #expect(try thieves.judge(nil, in: alone) == "owner" && alone.sharedKeys.isEmpty)
    }

    @Test func aPublishedKeyStaysWithItsFirstPublisher() throws {
        let thieves = try Thieves(.nagra)
        let (owner, thief) = (Thieves.publisher("owner", .nagra), Thieves.publisher("thief", .nagra))
        func at(_ seconds: Int64) -> MonotonicTime { MonotonicTime(nanoseconds: seconds * 1_000_000_000) }
        var order = PublicationOrder()
        order.keep([owner, thief])
        order.note(try thieves.keys(), of: owner, askedAt: at(0), now: at(1))
        order.note(try PublishedKeys.set([]), of: thief, askedAt: at(2), now: at(3))
        order.note(try thieves.keys(), of: thief, askedAt: at(4), now: at(5))
        let both = thieves.set.adding([0: try thieves.published(), 1: try thieves.published()], order: order)
        #expect(try thieves.judge(nil, in: both) == "owner" && both.sharedKeys.map(\.isDecided) == [true])
        // The first publisher withdraws the key. Its tokens do not become tokens of the other one.
        order.note(try PublishedKeys.set([]), of: owner, askedAt: at(6), now: at(7))
        let gone = KeysAtURL(try PublishedKeys.set([]))
        let left = thieves.set.adding([0: try thieves.published(), 1: gone], order: order)
        #expect(try thieves.judge(nil, in: left) == "kid_unknown")
        #expect(try thieves.judge("thief", in: left) == "thief")
    }

    /// Under the IDs "k" and "l", two issuers have one key in the configuration or in files.
    @Test(arguments: [TokenDialect.nagra, .axinom], [TokenDialect.nagra, .axinom, .jwt])
    func refusesOneKeyOfTwoIssuersThatTheirTokensNeedNotName(one: TokenDialect, other: TokenDialect) throws {
        let secret = SharedSecret(SecretBytes(copying: [UInt8](repeating: 7, count: 32)))
        func issuer(_ name: String, _ dialect: TokenDialect, _ id: String) throws -> Issuer {
            Issuer(
                name: name, audience: "b", dialect: dialect,
                keys: [try VerificationKey(id: id, hs256: secret.bytes)])
        }
        let issuers = [try issuer("a", one, "k"), try issuer("c", other, "l")]
        if other == .jwt {
            // Its tokens always name their issuer.
            _ = try IssuerSet(issuers)
        } else {
            #expect(throws: IssuerSetError.duplicateKey("k", "l")) { try IssuerSet(issuers) }
        }
        _ = try IssuerSet([issuers[0], try issuer("a", other, "l")])
    }

    @Test func anUnknownKeyIsNoFaultOfTheTokenWhileKeysAreMissing() throws {
        let set = try IssuerSet([Self.fetching("a", dialect: .nagra), Self.fetching("c", dialect: .axinom)])
        #expect(set.refusalOfUnknownKey(in: nil) == .keysUnavailable)
        #expect(set.refusalOfUnknownKey(in: .axinom) == .keysUnavailable)
        #expect(!set.hasKeys)
        let half = set.adding([1: KeysAtURL(try Self.fetchedSet("x"))])
        #expect(half.refusalOfUnknownKey(in: nil) == .keysUnavailable)
        #expect(half.refusalOfUnknownKey(in: .axinom) == .keyUnknown)
        let whole = set.adding([
            0: KeysAtURL(try Self.fetchedSet("y")), 1: KeysAtURL(try Self.fetchedSet("x")),
        ])
        #expect(whole.refusalOfUnknownKey(in: nil) == .keyUnknown)
        #expect(whole.hasKeys)
    }

    @Test func notesDialectsUntilTheyAreTaken() {
        let notes = UnknownKeyNotes()
        #expect(notes.take() == [])
        for _ in 0..<3 { notes.note(.axinom) }
        #expect(notes.take() == [.axinom])
        notes.note(.nagra)
        notes.note(nil)
        #expect(notes.take() == Set(TokenDialect.allCases))
        #expect(notes.take() == [])
    }

    // MARK: Tokens without kid

    private static let owner = try? ES256PrivateKey.generate()
    private static let other = try? ES256PrivateKey.generate()

    /// The issuer of a token without `kid`; or the code of the refusal. `name` nil leaves `iss` out.
    private func judge(
        _ set: IssuerSet, _ key: ES256PrivateKey, names name: String?, dialect: TokenDialect = .jwt
    ) throws -> String {
        let issuer = name.map { #""iss":"\#($0)","# } ?? ""
        let claims =
            dialect == .nagra
            ? #""typ":"ContentAuthZ","ver":"1.0","contentRights":[{"contentId":"film"}]"#
            : #""aud":"b","iat":1000,"rights":[{"content":"film"}]"#
        let parts = [#"{"alg":"ES256","typ":"at+jwt"}"#, "{\(issuer)\"exp\":1060,\(claims)}"]
        let signed = parts.map { Base64URL.encode($0.utf8) }.joined(separator: ".")
        let signature = Base64URL.encode(try key.signature(for: Array(signed.utf8)))
        do throws(EntitlementError) {
            return try TokenVerifier(issuers: set).verify(Array("\(signed).\(signature)".utf8), now: 1001).issuer
        } catch {
            return error.code
        }
    }

    private static func published(_ keys: (String, ES256PrivateKey)...) throws -> KeysAtURL {
        KeysAtURL(try PublishedKeys.set(keys.map { try PublishedKeys.json($0, $1) }))
    }

    @Test(arguments: [TokenDialect.jwt, .nagra, .expressPlay])
    func aTokenWithoutKeyIDIsGoodIfItsIssuerHasOneKey(dialect: TokenDialect) throws {
        let (owner, other) = (try #require(Self.owner), try #require(Self.other))
        let set = try IssuerSet([Self.fetching("owner", dialect: dialect), try Self.issuer("rest")])
        let one = set.adding([0: try Self.published(("a", owner))])
        #expect(try judge(one, owner, names: "owner", dialect: dialect) == "owner")
        #expect(try judge(one, other, names: "owner", dialect: dialect) == "token_signature")
        for name in [nil, "", "Owner", "owner/", "nobody", "rest"] {
            let code = try judge(one, owner, names: name, dialect: dialect)
            #expect(code == (name == "rest" ? "token_signature" : "kid_unknown"))
        }
        // With two keys, the token could mean either, so none is tried.
        let two = set.adding([0: try Self.published(("a", owner), ("b", other))])
        #expect(try judge(two, owner, names: "owner", dialect: dialect) == "kid_unknown")
        #expect(try judge(two, other, names: "owner", dialect: dialect) == "kid_unknown")
        #expect(try judge(set, owner, names: "owner", dialect: dialect) == "entitlement_unavailable")
        #expect(try judge(set, owner, names: "rest", dialect: dialect) == "token_signature")
    }

    /// A key that was revoked is still one of two.
    @Test(arguments: [(#","state":"revoked""#, "kid_revoked"), (#","exp":1000"#, "kid_revoked"), ("", "owner")])
    func theStateOfTheOnlyKeyCounts(members: String, code: String) throws {
        let (owner, other) = (try #require(Self.owner), try #require(Self.other))
        let set = try IssuerSet([Self.fetching("owner")])
        let key = try PublishedKeys.json("a", owner, members)
        let one = set.adding([0: KeysAtURL(try PublishedKeys.set([key]))])
        #expect(try judge(one, owner, names: "owner") == code)
        let two = set.adding([0: KeysAtURL(try PublishedKeys.set([key, PublishedKeys.json("b", other)]))])
        #expect(try judge(two, other, names: "owner") == "kid_unknown")
        #expect(try judge(two, owner, names: "owner") == "kid_unknown")
    }

    /// An issuer that publishes another one's key, or its key ID, changes nothing for the other one's tokens.
    @Test(arguments: [TokenDialect.jwt, .nagra], [true, false])
    func anotherIssuersSetDoesNotCount(dialect: TokenDialect, isConfigured: Bool) throws {
        let (owner, thief) = (try #require(Self.owner), try #require(Self.other))
        let configured = VerificationKey(id: "a", es256: owner.publicKey)
        let set = try IssuerSet([
            Self.fetching("thief", dialect: dialect),
            Issuer(
                name: "owner", audience: "b", dialect: dialect, keys: isConfigured ? [configured] : [],
                keySupply: isConfigured ? .configured : .missing),
        ])
        let own = isConfigured ? [:] : [1: try Self.published(("a", owner))]
        let sets = [
            try Self.published(("a", owner)), try Self.published(("a", thief)),
            try Self.published(("x", owner), ("a", thief)),
        ]
        for published in sets {
            let whole = set.adding(own.merging([0: published]) { $1 })
            #expect(try judge(whole, owner, names: "owner", dialect: dialect) == "owner")
            #expect(try judge(whole, thief, names: "owner", dialect: dialect) == "token_signature")
            #expect(try judge(whole, owner, names: nil, dialect: dialect) == "kid_unknown")
            #expect(try judge(whole, thief, names: nil, dialect: dialect) == "kid_unknown")
        }
    }

    /// Entries of one name are one issuer, whose keys count together.
    @Test func theKeysOfAllEntriesOfAnIssuerCount() throws {
        let (owner, other) = (try #require(Self.owner), try #require(Self.other))
        func issuer(_ dialect: TokenDialect, _ id: String, _ key: ES256PrivateKey) -> Issuer {
            Issuer(
                name: "owner", audience: "b", dialect: dialect,
                keys: [VerificationKey(id: id, es256: key.publicKey)])
        }
        let both = try IssuerSet([issuer(.jwt, "a", owner), issuer(.nagra, "b", other)])
        #expect(try judge(both, owner, names: "owner") == "kid_unknown")
        // Axinom's tokens name their key in another way.
        let axinom = try IssuerSet([issuer(.jwt, "a", owner), issuer(.axinom, "b", other)])
        #expect(try judge(axinom, owner, names: "owner") == "owner")
        #expect(try judge(axinom, other, names: "owner") == "token_signature")
    }

    /// The issuer may have replaced its only key, and no token tells.
    @Test func aTokenWithoutKeyIDLeadsToAFetch() throws {
        let (owner, other) = (try #require(Self.owner), try #require(Self.other))
        let missing = try IssuerSet([Self.fetching("owner")])
        let set = missing.adding([0: try Self.published(("a", owner))])
        #expect(try judge(set, owner, names: "owner") == "owner" && set.unknownKeys.take() == [])
        #expect(try judge(set, other, names: "owner") == "token_signature" && set.unknownKeys.take() == [.jwt])
        #expect(try judge(missing, other, names: "owner") == "entitlement_unavailable")
        #expect(set.unknownKeys.take() == Set(TokenDialect.allCases))
    }
}
