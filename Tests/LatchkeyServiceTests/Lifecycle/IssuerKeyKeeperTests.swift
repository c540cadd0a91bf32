import ByteCoding
import Entitlements
import EventLoops
import Foundation
import HTTPCalls
import KeyCrypto
import Licensing
import ServiceConfiguration
import Synchronization
import Telemetry
import TestSupport
import Testing

@testable import AdminRoutes
@testable import LatchkeyService
@testable import PackagerRoutes
@testable import PlayerRoutes
@testable import RouteKit
@testable import Upkeep

/// Keys come into force as the URL gives them, and what the URL says wrongly changes nothing.
@Suite struct IssuerKeyKeeperTests {
    private static let now: Int64 = 1_700_000_000
    private static let portal = "https://portal.example"

    private let folder: ConfigurationFolder
    private let clock = ManualClock()
    private let sink = MemoryLogSink()
    private let server = KeyServer()
    private let crypto: CryptoContext
    private let first: ES256PrivateKey
    private let second: ES256PrivateKey
    private let upkeep: UpkeepLoop

    init() throws {
        upkeep = try UpkeepLoop()
        folder = try ConfigurationFolder()
        crypto = try CryptoContext()
        first = try .generate()
        second = try .generate()
    }

    // MARK: Fixture

    private static func issuer(_ name: String = portal, _ url: String = "https://portal.example/keys") -> String {
        #"{ issuer: "\#(name)", keysURL: "\#(url)" }"#
    }

    private func load(
        _ issuers: String = issuer(), entitlement: String = #"sessions: { key: "secrets/session-key" },"#
    ) throws -> LoadedConfiguration {
        let standard = "\(ConfigurationText.issuer), keys: [{ \(ConfigurationText.key) }]"
        let text = ConfigurationText.make(entitlement: entitlement)
            .replacing("issuers: [{ \(standard) }]", with: "issuers: [\(issuers)]")
        let file = try ConfigurationFile(
            parsing: Array(text.utf8), path: "\(folder.path)/latchkey.json5", environment: [:])
        return try .load(file, environment: [:])
    }

    private func tokens(_ loaded: LoadedConfiguration) -> VerifiedTokenCache {
        LicenseRules(loaded).entitlement.tokens
    }

    private func keeper(_ loaded: LoadedConfiguration, _ tokens: VerifiedTokenCache) throws -> IssuerKeyKeeper {
        var surroundings = IssuerKeyKeeper.Surroundings()
        surroundings.clock = clock
        surroundings.random = { 0.5 }
        surroundings.fetcher = { [server] calls throws(EventLoopError) in
            IssuerKeyFetcher { tag async throws(HTTPCallError) in try server.answer(calls.url, tag) }
        }
        return try IssuerKeyKeeper(
            loaded, tokens: tokens, on: upkeep.context, logger: Logger(level: .trace, sink: sink, clock: clock),
            surroundings: surroundings)
    }

    /// A keeper with the cache of a configuration with these issuers.
    private func started(_ issuers: String? = nil) throws -> (keeper: IssuerKeyKeeper, tokens: VerifiedTokenCache) {
        let loaded = try issuers.map { try load($0) } ?? load()
        let tokens = tokens(loaded)
        return (try keeper(loaded, tokens), tokens)
    }

    /// Lets time pass, and waits until the keeper has done what is due.
    private func pass(_ seconds: Int64, fetches: Int, _ keeper: IssuerKeyKeeper) {
        let before = server.requestCount
        clock.advance(by: .seconds(seconds))
        keeper.look()
        server.wait(forRequests: before + fetches)
        // A fetch that has its answer ends before the loop runs this.
        _ = upkeep.context.runAndWait {}
        #expect(server.requestCount == before + fetches)
    }

    private func document(_ keys: (String, ES256PrivateKey)...) throws -> [UInt8] {
        PublishedKeys.document(try keys.map { try PublishedKeys.json($0, $1) })
    }

    private func token(_ id: String, _ key: ES256PrivateKey, issuer: String = portal) throws -> [UInt8] {
        let contents = TokenContents(
            issuer: issuer, audience: "latchkey", issuedAt: Self.now, expiresAt: Self.now + 60, rights: [])
        return Array(try TokenMinter(keyID: id, es256: key).mint(contents).utf8)
    }

    /// The code of a refusal; "good" if the token is accepted.
    private func judge(_ token: [UInt8], _ tokens: VerifiedTokenCache) -> String {
        do throws(EntitlementError) {
            _ = try tokens.verify(token, now: Self.now, crypto: crypto)
            return "good"
        } catch {
            return error.code
        }
    }

    private func lines(_ event: String) -> [String] {
        sink.lines.filter { $0.contains("\"event\":\"\(event)\"") }
    }

    // MARK: Rotation

    @Test func theKeysAreInForceAfterTheStart() throws {
        server.give(try document(("a", first)), tag: "1")
        let (keeper, tokens) = try started()
        defer { keeper.stop() }
        #expect(judge(try token("a", first), tokens) == "good")
        #expect(judge(try token("b", second), tokens) == "kid_unknown")
        #expect(keeper.degradations(hasCallback: false) == [])
        #expect(lines("issuer_keys_fetched").count == 1)
    }

    @Test func aNewKeyIsFetchedForItsFirstTokenAndAnOldOneEnds() throws {
        server.give(try document(("a", first)), tag: "1")
        let (keeper, tokens) = try started()
        defer { keeper.stop() }
        let (old, new) = (try token("a", first), try token("b", second))
        #expect(judge(old, tokens) == "good")

        server.give(try document(("a", first), ("b", second)), tag: "2")
        #expect(judge(new, tokens) == "kid_unknown")
        pass(1, fetches: 1, keeper)
        #expect(server.lastTag == "1")
        #expect(judge(old, tokens) == "good" && judge(new, tokens) == "good")

        // The old token is in the cache.
        server.give(try document(("b", second)), tag: "3")
        pass(600, fetches: 1, keeper)
        #expect(judge(old, tokens) == "kid_unknown" && judge(new, tokens) == "good")
    }

    @Test func anUnchangedDocumentLeavesTheCacheAlone() throws {
        server.give(try document(("a", first)), tag: "1")
        let (keeper, tokens) = try started()
        defer { keeper.stop() }
        #expect(judge(try token("a", first), tokens) == "good" && tokens.count == 1)
        pass(600, fetches: 1, keeper)
        server.give(try document(("a", first)), tag: nil)
        pass(600, fetches: 1, keeper)
        #expect(tokens.count == 1)
        let labels = #"{issuer="https://portal.example",dialect="jwt",result="unchanged"}"#
        #expect(try metrics(keeper)["latchkey_issuer_keys_fetches_total" + labels] == 2)
    }

    @Test func tenThousandUnknownKeysLeadToOneFetch() throws {
        server.give(try document(("a", first)), tag: "1")
        let (keeper, tokens) = try started()
        defer { keeper.stop() }
        for number in 0..<10_000 {
            let bytes = Array("eyJhbGciOiJFUzI1NiIsImtpZCI6Ing".utf8)
            _ = judge(bytes, tokens)
            if number % 100 == 0 { #expect(judge(try token("x\(number)", second), tokens) == "kid_unknown") }
        }
        pass(1, fetches: 1, keeper)
        for _ in 0..<58 {
            _ = judge(try token("y", second), tokens)
            pass(1, fetches: 0, keeper)
        }
        pass(2, fetches: 1, keeper)
    }

    // MARK: Failures

    @Test func theDaemonStartsWithoutAnAnswer() throws {
        server.fail(.timedOut)
        let (keeper, tokens) = try started()
        defer { keeper.stop() }
        let token = try token("a", first)
        #expect(judge(token, tokens) == "entitlement_unavailable")
        let cause = "the keys of https://portal.example have not been fetched: the server did not answer in time"
        #expect(
            keeper.degradations(hasCallback: false) == [
                Degradation(part: .issuerKeys, cause: cause, stopsLicenses: false)
            ])
        #expect(lines("issuer_keys_failed").count == 1)
        server.give(try document(("a", first)), tag: nil)
        // The unknown key is a reason to ask again before the pause is over.
        pass(1, fetches: 1, keeper)
        #expect(judge(token, tokens) == "good")
        #expect(keeper.degradations(hasCallback: false) == [])
        #expect(lines("issuer_keys_fetched_again").count == 1)
    }

    @Test func aNodeThatCanIssueNothingIsNotReady() throws {
        server.fail(.timedOut)
        func stops(_ issuers: String, _ entitlement: String, hasCallback: Bool = false) throws -> Bool? {
            let loaded = try load(issuers, entitlement: entitlement)
            let keeper = try keeper(loaded, tokens(loaded))
            defer { keeper.stop() }
            return keeper.degradations(hasCallback: hasCallback).first?.stopsLicenses
        }
        // In its place the key would need no field.
        let moved = "\(folder.path)/secrets/moved-session-key"
        try FileManager.default.moveItem(atPath: "\(folder.path)/secrets/session-key", toPath: moved)
        let sessions = #"sessions: { key: "secrets/moved-session-key" },"#
        let other = #"{ issuer: "other", keys: [{ \#(ConfigurationText.key) }] }"#
        #expect(try stops(Self.issuer(), "") == true)
        #expect(try stops(Self.issuer(), sessions) == false)
        #expect(try stops(Self.issuer(), "", hasCallback: true) == false)
        #expect(try stops("\(Self.issuer()), \(other)", "") == false)
    }

    @Test(arguments: [
        "<html>", #"{"keys":[{"kid":"s","kty":"oct","k":"AAAA"}]}"#,
        #"{"keys":[{"kid":"a","kty":"EC","crv":"P-256"}]}"#,
    ])
    func aSetThatCannotBeUsedChangesNothing(text: String) throws {
        server.give(try document(("a", first)), tag: "1")
        let (keeper, tokens) = try started()
        defer { keeper.stop() }
        let token = try token("a", first)
        #expect(judge(token, tokens) == "good")
        server.give(Array(text.utf8), tag: "2")
        pass(600, fetches: 1, keeper)
        pass(5, fetches: 1, keeper)
        #expect(server.lastTag == "1", "the tag is that of the keys in use")
        #expect(judge(token, tokens) == "good" && tokens.count == 1)
        #expect(lines("issuer_keys_failed").count == 1, "a fault is logged once")
        #expect(keeper.degradations(hasCallback: false) == [])
    }

    @Test func anEmptySetWithdrawsAllKeysAtOnce() throws {
        server.give(try document(("a", first)), tag: "1")
        let (keeper, tokens) = try started()
        defer { keeper.stop() }
        let token = try token("a", first)
        #expect(judge(token, tokens) == "good")
        server.give(PublishedKeys.document([]), tag: "2")
        pass(600, fetches: 1, keeper)
        #expect(judge(token, tokens) == "kid_unknown")
        #expect(keeper.degradations(hasCallback: false) == [])
        #expect(lines("issuer_keys_failed").isEmpty && lines("issuer_keys_withdrawn").count == 1)
        let labels = #"{issuer="https://portal.example",dialect="jwt"}"#
        #expect(try metrics(keeper)["latchkey_issuer_keys" + labels] == 0)
        server.fail(.timedOut)
        let changed = try load(Self.issuer().replacing(" }", with: #", keysHosts: ["portal.example"] }"#))
        let reloaded = self.tokens(changed)
        keeper.adopt(try keeper.draft(changed), tokens: reloaded) {}
        #expect(judge(token, reloaded) == "kid_unknown", "a reload keeps the withdrawal")
        server.give(try document(("b", second)), tag: "3")
        pass(600, fetches: 1, keeper)
        #expect(judge(try self.token("b", second), reloaded) == "good")
    }

    @Test func aKeyThatCannotBeUsedIsSkippedAndLoggedOnce() throws {
        let broken = #"{"kid":"x","kty":"EC","crv":"P-256"}"#
        server.give(
            PublishedKeys.document([broken, try PublishedKeys.json("a", first)]), tag: "1")
        let (keeper, tokens) = try started()
        defer { keeper.stop() }
        #expect(judge(try token("a", first), tokens) == "good")
        server.give(
            PublishedKeys.document([broken, try PublishedKeys.json("b", second)]), tag: "2")
        pass(600, fetches: 1, keeper)
        #expect(judge(try token("a", first), tokens) == "kid_unknown")
        #expect(judge(try token("b", second), tokens) == "good")
        #expect(lines("issuer_keys_unusable").count == 1 && lines("issuer_keys_failed").isEmpty)
        let labels = #"{issuer="https://portal.example",dialect="jwt"}"#
        #expect(try metrics(keeper)["latchkey_issuer_keys" + labels] == 1)
        #expect(try metrics(keeper)["latchkey_issuer_keys_unusable" + labels] == 1)
    }

    // MARK: Keys of others

    private static let thiefURL = "https://thief.example/keys"
    private static let ownerURL = "https://owner.example/keys"

    private static func nagra(_ name: String, _ url: String) -> String {
        #"{ issuer: "\#(name)", dialect: "nagra", keysURL: "\#(url)" }"#
    }

    /// The issuer of a token of the NAGRA dialect, which does not name its issuer; or the code of the refusal.
    private func owner(of key: ES256PrivateKey, _ tokens: VerifiedTokenCache) throws -> String {
        let header = #"{"alg":"ES256","kid":"a"}"#
        let payload =
            #"{"typ":"ContentAuthZ","ver":"1.0","exp":\#(Self.now + 60),"contentRights":[{"contentId":"film"}]}"#
        let signed = Base64URL.encode(Array(header.utf8)) + "." + Base64URL.encode(Array(payload.utf8))
        let token = Array((signed + "." + Base64URL.encode(try key.signature(for: Array(signed.utf8)))).utf8)
        do throws(EntitlementError) {
            return try tokens.verify(token, now: Self.now, crypto: crypto).issuer
        } catch {
            return error.code
        }
    }

    @Test func anIssuerThatCopiesAKeyGetsNoToken() throws {
        server.give(PublishedKeys.document([]), tag: nil, at: Self.thiefURL)
        server.give(try document(("a", first)), tag: nil, at: Self.ownerURL)
        let (keeper, tokens) = try started(
            "\(Self.nagra("thief", Self.thiefURL)), \(Self.nagra("owner", Self.ownerURL))")
        defer { keeper.stop() }
        #expect(try owner(of: first, tokens) == "owner")
        // The thief was asked at the start, but perhaps before the owner. The next answer says that it lacks the key.
        pass(600, fetches: 2, keeper)
        server.give(try document(("a", first)), tag: nil, at: Self.thiefURL)
        pass(600, fetches: 2, keeper)
        #expect(try owner(of: first, tokens) == "owner")
        #expect(lines("issuer_key_shared").count == 1 && lines("issuer_key_disputed").isEmpty)
        // The key stays with its owner, who has withdrawn it.
        server.give(PublishedKeys.document([]), tag: nil, at: Self.ownerURL)
        pass(600, fetches: 2, keeper)
        #expect(try owner(of: first, tokens) == "kid_unknown")
    }

    @Test func aKeyWhoseFirstIssuerIsNotKnownIsGoodForNeither() throws {
        for url in [Self.thiefURL, Self.ownerURL] { server.give(try document(("a", first)), tag: nil, at: url) }
        let (keeper, tokens) = try started(
            "\(Self.nagra("thief", Self.thiefURL)), \(Self.nagra("owner", Self.ownerURL))")
        defer { keeper.stop() }
        #expect(try owner(of: first, tokens) == "kid_unknown")
        pass(600, fetches: 2, keeper)
        #expect(lines("issuer_key_disputed").count == 1)
        #expect(lines("issuer_key_disputed").allSatisfy { $0.contains(#""level":"critical""#) })
        server.give(try document(("b", second)), tag: nil, at: Self.thiefURL)
        pass(600, fetches: 2, keeper)
        #expect(try owner(of: first, tokens) == "owner")
    }

    @Test func anIssuerThatAReloadAddsComesAfterTheOthers() throws {
        for url in [Self.thiefURL, Self.ownerURL] { server.give(try document(("a", first)), tag: nil, at: url) }
        let (keeper, _) = try started(Self.nagra("owner", Self.ownerURL))
        defer { keeper.stop() }
        let reloaded = try load("\(Self.nagra("thief", Self.thiefURL)), \(Self.nagra("owner", Self.ownerURL))")
        let tokens = tokens(reloaded)
        keeper.adopt(try keeper.draft(reloaded), tokens: tokens) {}
        #expect(try owner(of: first, tokens) == "owner")
        let alone = try load(Self.nagra("thief", Self.thiefURL))
        let others = self.tokens(alone)
        keeper.adopt(try keeper.draft(alone), tokens: others) {}
        #expect(try owner(of: first, others) == "thief", "no other issuer is left")
    }

    @Test func anIssuerWhoseTokensNameItLosesNoneToACopy() throws {
        for url in [Self.thiefURL, Self.ownerURL] { server.give(try document(("a", first)), tag: nil, at: url) }
        let (keeper, tokens) = try started(
            "\(Self.issuer("thief", Self.thiefURL)), \(Self.issuer("owner", Self.ownerURL))")
        defer { keeper.stop() }
        #expect(judge(try token("a", first, issuer: "owner"), tokens) == "good")
        #expect(judge(try token("a", first, issuer: "thief"), tokens) == "good")
        #expect(lines("issuer_key_shared").count == 1 && lines("issuer_key_disputed").isEmpty)
    }

    @Test func keysThatAreTooOldAreNotUsed() throws {
        server.give(try document(("a", first)), tag: "1")
        let (keeper, tokens) = try started()
        defer { keeper.stop() }
        let token = try token("a", first)
        #expect(judge(token, tokens) == "good")
        server.fail(.status(500))
        pass(86_399, fetches: 1, keeper)
        #expect(judge(token, tokens) == "good")
        pass(1, fetches: 0, keeper)
        #expect(judge(token, tokens) == "entitlement_unavailable")
        #expect(
            keeper.degradations(hasCallback: false).map(\.cause) == [
                "the keys of https://portal.example are too old: the server answered with status 500"
            ])
        #expect(lines("issuer_keys_expired").count == 1)
        let labels = #"{issuer="https://portal.example",dialect="jwt"}"#
        #expect(try metrics(keeper)["latchkey_issuer_keys" + labels] == 0)
        #expect(try metrics(keeper)["latchkey_issuer_keys_age_seconds" + labels] == 86_400)
    }

    @Test func anIssuerThatPublishesAnothersKeyIDTakesNothingFromIt() throws {
        let (one, two) = ("https://one.example/keys", "https://two.example/keys")
        server.give(try document(("a", first)), tag: nil, at: one)
        server.give(try document(("b", second)), tag: nil, at: two)
        let (keeper, tokens) = try started("\(Self.issuer("one", one)), \(Self.issuer("two", two))")
        defer { keeper.stop() }
        server.give(try document(("a", second)), tag: nil, at: two)
        pass(600, fetches: 2, keeper)
        #expect(judge(try token("a", first, issuer: "one"), tokens) == "good")
        #expect(judge(try token("a", second, issuer: "two"), tokens) == "good")
        #expect(judge(try token("a", second, issuer: "one"), tokens) != "good")
        #expect(lines("issuer_keys_failed").isEmpty)
    }

    // MARK: Discovery

    private static let discovering = #"{ issuer: "\#(portal)", discover: true }"#
    private static let documentURL = "\(portal)/.well-known/openid-configuration"

    private func giveDocument(_ keys: String, of issuer: String = portal) {
        let document = #"{"issuer":"\#(issuer)","jwks_uri":"\#(keys)"}"#
        server.give(Array(document.utf8), tag: "document", at: Self.documentURL)
    }

    @Test func findsTheKeysByTheDocumentOfTheIssuer() throws {
        let keys = "https://keys.example/v1?p=1"
        giveDocument(keys)
        server.give(try document(("a", first)), tag: "1", at: keys)
        let (keeper, tokens) = try started(Self.discovering)
        defer { keeper.stop() }
        #expect(judge(try token("a", first), tokens) == "good")
        #expect(lines("issuer_keys_fetched").contains { $0.contains(#""url":"https://keys.example/v1""#) })
        // Both are asked again, and the keys only for changes.
        pass(600, fetches: 2, keeper)
        #expect(server.lastTag == "1" && lines("issuer_keys_fetched").count == 1)
        // A token with an unknown key leads to a fetch too.
        server.give(try document(("a", first), ("b", second)), tag: "2", at: keys)
        #expect(judge(try token("b", second), tokens) == "kid_unknown")
        pass(1, fetches: 2, keeper)
        #expect(judge(try token("b", second), tokens) == "good")
    }

    /// The tag of one URL must not confirm the keys of another one, even if both have the same tag.
    @Test func theKeysMayMove() throws {
        let (one, two) = ("https://keys.example/v1", "https://keys.example/v2")
        giveDocument(one)
        server.give(try document(("a", first)), tag: "1", at: one)
        server.give(try document(("b", second)), tag: "1", at: two)
        let (keeper, tokens) = try started(Self.discovering)
        defer { keeper.stop() }
        giveDocument(two)
        server.give(Array("no keys".utf8), tag: "1", at: two)
        pass(600, fetches: 2, keeper)
        #expect(server.lastTag == nil)
        #expect(judge(try token("a", first), tokens) == "good", "the keys stay")
        server.give(try document(("b", second)), tag: "1", at: two)
        pass(6, fetches: 2, keeper)
        #expect(server.lastTag == nil, "no answer of this URL was taken yet")
        #expect(judge(try token("b", second), tokens) == "good")
        #expect(judge(try token("a", first), tokens) == "kid_unknown", "the issuer has left this key behind")
        pass(600, fetches: 2, keeper)
        #expect(server.lastTag == "1")
    }

    /// An attacker who controls the document of one issuer cannot make it a document of another one.
    @Test func aDocumentThatNamesAnotherIssuerChangesNothing() throws {
        let (keys, others) = ("https://keys.example/v1", "https://attacker.example/keys")
        giveDocument(keys)
        server.give(try document(("a", first)), tag: "1", at: keys)
        server.give(try document(("b", second)), tag: "2", at: others)
        let (keeper, tokens) = try started(Self.discovering)
        defer { keeper.stop() }
        for (uri, issuer, words) in [
            (others, "https://attacker.example", #""issuer\" is not the one of the configuration"#),
            ("http://keys.example/v1", Self.portal, #""jwks_uri\" is not an https: URL"#),
        ] {
            giveDocument(uri, of: issuer)
            pass(3_600, fetches: 1, keeper)
            #expect(judge(try token("a", first), tokens) == "good")
            #expect(judge(try token("b", second), tokens) == "kid_unknown")
            let causes = lines("issuer_keys_failed")
            #expect(causes.contains { $0.contains("OpenID document") && $0.contains(words) }, "\(causes)")
            #expect(causes.allSatisfy { !$0.contains("attacker") })
        }
        server.fail(.timedOut)
        giveDocument(keys)
        pass(3_600, fetches: 2, keeper)
        #expect(lines("issuer_keys_fetched_again").count == 1)
    }

    @Test func aDocumentThatFailsLeavesTheKeysUntilTheyAreTooOld() throws {
        let keys = "https://keys.example/v1"
        giveDocument(keys)
        server.give(try document(("a", first)), tag: "1", at: keys)
        let (keeper, tokens) = try started(Self.discovering)
        defer { keeper.stop() }
        server.fail(.status(500), at: Self.documentURL)
        pass(86_399, fetches: 1, keeper)
        #expect(judge(try token("a", first), tokens) == "good", "the keys' own URL is not asked any more")
        pass(1, fetches: 0, keeper)
        #expect(judge(try token("a", first), tokens) == "entitlement_unavailable")
        #expect(
            keeper.degradations(hasCallback: false).map(\.cause) == [
                "the keys of https://portal.example are too old: of the issuer's OpenID document: the server answered"
                    + " with status 500"
            ])
    }

    /// Another issuer whose document names the owner's keys gets none of the owner's tokens, with `kid` or without.
    @Test func aDocumentThatNamesTheKeysOfAnotherIssuerTakesNoToken() throws {
        let keys = "https://keys.example/v1"
        giveDocument(keys)
        let thief = "https://thief.example"
        server.give(
            Array(#"{"issuer":"\#(thief)","jwks_uri":"\#(keys)"}"#.utf8), tag: nil,
            at: "\(thief)/.well-known/openid-configuration")
        server.give(try document(("a", first)), tag: "1", at: keys)
        let (keeper, tokens) = try started(
            #"{ issuer: "\#(thief)", discover: true, contents: ["free"] }, \#(Self.discovering)"#)
        defer { keeper.stop() }
        for token in [try token("a", first), try tokenWithoutKeyID(first)] {
            #expect(try tokens.verify(token, now: Self.now, crypto: crypto).issuer == Self.portal)
        }
        #expect(judge(try tokenWithoutKeyID(second), tokens) == "token_signature")
        #expect(lines("issuer_key_shared").count == 1)
    }

    /// A token of the portal that does not name its key.
    private func tokenWithoutKeyID(_ key: ES256PrivateKey) throws -> [UInt8] {
        let payload =
            #"{"iss":"\#(Self.portal)","aud":"latchkey","iat":\#(Self.now),"exp":\#(Self.now + 60),"rights":[]}"#
        let signed = [#"{"alg":"ES256"}"#, payload].map { Base64URL.encode(Array($0.utf8)) }.joined(separator: ".")
        return Array((signed + "." + Base64URL.encode(try key.signature(for: Array(signed.utf8)))).utf8)
    }

    /// Without `kid`, a new key shows only by signatures that do not hold.
    @Test func theOnlyKeyIsFetchedAgainForATokenWithoutKeyID() throws {
        server.give(try document(("a", first)), tag: "1")
        let (keeper, tokens) = try started()
        defer { keeper.stop() }
        #expect(judge(try tokenWithoutKeyID(first), tokens) == "good")
        server.give(try document(("b", second)), tag: "2")
        #expect(judge(try tokenWithoutKeyID(second), tokens) == "token_signature")
        pass(1, fetches: 1, keeper)
        #expect(judge(try tokenWithoutKeyID(second), tokens) == "good")
        #expect(judge(try tokenWithoutKeyID(first), tokens) == "token_signature")
    }

    // MARK: Reload

    @Test func aReloadKeepsTheKeysOfAnUnchangedURL() throws {
        server.give(try document(("a", first)), tag: "1")
        let loaded = try load()
        let keeper = try keeper(loaded, tokens(loaded))
        defer { keeper.stop() }
        server.fail(.timedOut)
        let other = #"{ issuer: "other", keys: [{ \#(ConfigurationText.key) }] }"#
        let changed = Self.issuer().replacing(" }", with: #", keysRefresh: "1h", audience: "latchkey" }"#)
        let reloaded = try load("\(other), \(changed)")
        let tokens = tokens(reloaded)
        keeper.adopt(try keeper.draft(reloaded), tokens: tokens) {
            #expect(judge((try? token("a", first)) ?? [], tokens) == "good", "the new rules begin with the keys")
        }
        #expect(server.requestCount == 1)
        #expect(judge(try token("a", first), tokens) == "good")
        pass(599, fetches: 0, keeper)
        pass(1, fetches: 1, keeper)
    }

    @Test func aReloadFetchesTheKeysOfAnotherURLBeforeItIsInForce() throws {
        let (one, two) = ("https://one.example/keys", "https://two.example/keys")
        server.give(try document(("a", first)), tag: "1", at: one)
        server.give(try document(("b", second)), tag: "2", at: two)
        let loaded = try load(Self.issuer(Self.portal, one))
        let oldTokens = tokens(loaded)
        let keeper = try keeper(loaded, oldTokens)
        defer { keeper.stop() }
        let reloaded = try load(Self.issuer(Self.portal, two))
        let draft = try keeper.draft(reloaded)
        #expect(judge(try token("a", first), oldTokens) == "good")
        let tokens = tokens(reloaded)
        keeper.adopt(draft, tokens: tokens) {}
        #expect(server.lastTag == nil)
        #expect(judge(try token("b", second), tokens) == "good")
        #expect(judge(try token("a", first), tokens) == "kid_unknown")
    }

    @Test func aReloadThatConfiguresTheIDOfAFetchedKeyKeepsBothKeys() throws {
        server.give(try document(("k1", first)), tag: "1")
        let loaded = try load()
        let keeper = try keeper(loaded, tokens(loaded))
        defer { keeper.stop() }
        let other = #"{ issuer: "other", keys: [{ \#(ConfigurationText.key) }] }"#
        let reloaded = try load("\(Self.issuer()), \(other)")
        let tokens = tokens(reloaded)
        keeper.adopt(try keeper.draft(reloaded), tokens: tokens) {}
        #expect(judge(try token("k1", first), tokens) == "good")
        #expect(judge(try token("k1", second), tokens) == "token_signature")
        #expect(keeper.degradations(hasCallback: false) == [])
    }

    @Test func aReloadThatReachesTheURLInAnotherWayKeepsTheKeysAndAsksAtOnce() throws {
        server.give(try document(("a", first)), tag: "1")
        let loaded = try load()
        let keeper = try keeper(loaded, tokens(loaded))
        defer { keeper.stop() }
        server.fail(.timedOut)
        let changed = Self.issuer().replacing(" }", with: #", keysHosts: ["portal.example"] }"#)
        let reloaded = try load(changed)
        let tokens = tokens(reloaded)
        keeper.adopt(try keeper.draft(reloaded), tokens: tokens) {}
        #expect(judge(try token("a", first), tokens) == "good")
        pass(0, fetches: 1, keeper)
        #expect(judge(try token("a", first), tokens) == "good" && server.lastTag == "1")
    }

    private func metrics(_ keeper: IssuerKeyKeeper) throws -> [String: Double] {
        let registry = MetricsRegistry()
        keeper.register(in: registry)
        return try MetricsText(parsing: registry.render()).values
    }
}

/// Answers for URLs, as a test chooses them.
private final class KeyServer: Sendable {
    private struct State {
        var answers: [String: Result<HTTPCallAnswer, HTTPCallError>] = [:]
        var standard: Result<HTTPCallAnswer, HTTPCallError> = .failure(.timedOut)
        var requestCount = 0
        var lastTag: String?
    }

    private let state = Monitor(State())

    func give(_ document: [UInt8], tag: String?, at url: String? = nil) {
        set(.success(HTTPCallAnswer(status: 200, body: document, entityTag: tag)), url)
    }

    func fail(_ error: HTTPCallError, at url: String? = nil) {
        set(.failure(error), url)
    }

    private func set(_ answer: Result<HTTPCallAnswer, HTTPCallError>, _ url: String?) {
        state.update { state in
            if let url { state.answers[url] = answer } else { state.standard = answer }
        }
    }

    var requestCount: Int { state.withLock { $0.requestCount } }
    var lastTag: String? { state.withLock { $0.lastTag } }

    func wait(forRequests count: Int) {
        state.wait { $0.requestCount >= count ? () : nil }
    }

    func answer(_ url: String, _ tag: String?) throws(HTTPCallError) -> HTTPCallAnswer {
        let result = state.update { state in
            state.requestCount += 1
            state.lastTag = tag
            return state.answers[url] ?? state.standard
        }
        let answer = try result.get()
        return tag != nil && answer.entityTag == tag ? HTTPCallAnswer(status: 304, body: []) : answer
    }
}
