import ByteCoding
import POSIXSockets
import TestSupport
import Testing

@testable import Entitlements

@Suite struct ClaimsTests {
    private static func error(_ changes: [String: String?]) throws -> EntitlementError {
        let issuance = try Issuance()
        let token = try issuance.token(changing: changes)
        return try #require(throws: EntitlementError.self) { try issuance.verify(token) }
    }

    private static func rights(_ text: String) throws -> [Right] {
        try Issuance().claims(rights: text).rights
    }

    @Test func readsEveryMemberOfARight() throws {
        let rights = try Self.rights(
            #"[{"content_prefix":"live/ch1/","start":1750000000,"end":"2025-06-15T16:00:00Z","duration":5184000,"#
                + #""lease":300,"renew_ahead":60,"mode":"both","storage":604800,"playback":172800,"hdcp":"type0","#
                + #""min_level":"baseline","tracks":{"HD":{"hdcp":"type0"},"UHD":{"hdcp":"type1","min_level":"main"},"#
                + #""own:label=1":{}}}]"#)
        let expected = Right(
            .contentPrefix("live/ch1/"), start: 1_750_000_000, end: 1_750_003_200, duration: 5_184_000, lease: 300,
            mode: .both, storage: 604_800, playback: 172_800, hdcp: .type0, minimumLevel: .baseline,
            tracks: [
                "HD": Protection(hdcp: .type0), "UHD": Protection(hdcp: .type1, securityLevel: .main),
                "own:label=1": Protection(),
            ], renewAhead: 60)
        #expect(rights == [expected])
    }

    @Test func readsKeyIDsInEverySpelling() throws {
        let keyID = try KeyID(parsing: "00112233-4455-6677-8899-aabbccddeeff")
        let rights = try Self.rights(
            #"[{"kids":["00112233-4455-6677-8899-AABBCCDDEEFF","00112233445566778899aabbccddeeff"]}]"#)
        #expect(rights == [Right(.keyIDs([keyID, keyID]))])
    }

    @Test(arguments: [
        (#""2025-06-15T15:06:40Z""#, 1_750_000_000), (#""2025-06-15T17:06:40+02:00""#, 1_750_000_000),
        ("1750000000", 1_750_000_000), ("1750000000.9", 1_750_000_000), (#""2025-06-15T15:06:40.563Z""#, 1_750_000_000),
    ])
    func anEndWithAFractionEndsBefore(end: String, seconds: Int64) throws {
        #expect(try Self.rights(#"[{"content":"a","end":\#(end)}]"#).first?.end == seconds)
    }

    @Test(arguments: [
        (#""2025-06-15T15:06:40Z""#, 1_750_000_000), ("1750000000.1", 1_750_000_001),
        (#""2025-06-15T15:06:40.001Z""#, 1_750_000_001),
    ])
    func aStartWithAFractionBeginsAfter(start: String, seconds: Int64) throws {
        #expect(try Self.rights(#"[{"content":"a","start":\#(start)}]"#).first?.start == seconds)
    }

    /// Each case is a token that makes only this demand.
    @Test(arguments: [
        ("cnf", #"{"fps:hu":"AAAAAAAAAAAAAAAAAAAAAAAAAAA"}"#, Restriction.pinnedDevice),
        ("device", #"{"bind":"first"}"#, .firstUse), ("device", #"{"max":5}"#, .deviceMaximum),
        ("session", #"{"groups":[{"id":"all","max":2}]}"#, .sessions), ("limits", #"{"uses":1}"#, .usesPerKey),
        ("limits", #"{"ips":["203.0.113.0/24"]}"#, .networks), ("limits", #"{"countries":["CH"]}"#, .countries),
        ("rights", #"[{"content":"a"},{"content":"b","airplay":false}]"#, .airPlay),
        ("rights", #"[{"content":"a","av_adapter":false}]"#, .avAdapter),
        ("rights", #"[{"content":"a","profile":"HD"}]"#, .profile),
    ])
    func refusesRestrictionsThatNothingEnforces(name: String, value: String, restriction: Restriction) throws {
        let issuance = try Issuance(enforced: [])
        let token = try issuance.token(changing: [name: value])
        #expect(throws: EntitlementError.claimUnsupported(restriction.rawValue)) { try issuance.verify(token) }
        let others = try Issuance(enforced: Set(Restriction.allCases).subtracting([restriction]))
        let again = try others.token(changing: [name: value])
        #expect(throws: EntitlementError.claimUnsupported(restriction.rawValue)) { try others.verify(again) }
        let honest = try Issuance()
        #expect(try honest.verify(try honest.token(changing: [name: value])).restrictions == [restriction])
    }

    @Test(arguments: [
        ("device", #"{"id":"box-7","account":"a"}"#), ("device", "{}"), ("device", #"{"bind":"none"}"#),
        ("session", #"{"id":"s"}"#), ("session", #"{"groups":[],"mode":"evict_oldest"}"#), ("limits", "{}"),
        ("rights", #"[{"content":"a","airplay":true,"av_adapter":true,"renew_ahead":60}]"#), ("cookie", #""c""#),
    ])
    func whatDemandsNothingIsNoRestriction(name: String, value: String) throws {
        let issuance = try Issuance(enforced: [])
        #expect(try issuance.verify(try issuance.token(changing: [name: value])).restrictions == [])
    }

    @Test func thePipelineEnforcesWhatTheListSays() {
        #expect(Set(Restriction.allCases).subtracting(Restriction.enforced).isEmpty)
    }

    @Test func readsEveryRestriction() throws {
        let issuance = try Issuance()
        let claims = try issuance.verify(
            try issuance.token(changing: [
                "cnf": #"{"fps:hu":"00112233445566778899AABBCCDDEEFF00112233"}"#,
                "device": #"{"id":"box-7","account":"account-123","bind":"pinned","max":5}"#,
                "session": """
                {"id":"s-1","groups":[{"id":"all","max":2},{"id":"sports","max":1}],"mode":"evict_oldest"}
                """,
                "limits": #"{"uses":12,"ips":["203.0.113.0/24","2001:db8::1"],"countries":["CH","DE"]}"#,
                "cookie": "\"\(String(repeating: "c", count: 64))\"",
                "rights": #"[{"content":"movie-42","airplay":true,"av_adapter":false,"profile":"HD"}]"#,
            ]))
        #expect(claims.device.pinned?.description == "00112233445566778899AABBCCDDEEFF00112233")
        #expect(claims.device.binding == .pinned)
        #expect(claims.device.id == "box-7" && claims.device.account == "account-123")
        #expect(claims.device.maximum == 5)
        #expect(claims.session.id == "s-1" && claims.session.mode == .evictOldest)
        #expect(claims.session.groups == [.init(id: "all", maximum: 2), .init(id: "sports", maximum: 1)])
        #expect(claims.limits.usesPerKey == 12)
        #expect(claims.limits.networks == ["203.0.113.0/24", "2001:db8::1"].compactMap { IPNetwork($0) })
        #expect(claims.limits.countries.map(\.text) == ["CH", "DE"])
        #expect(claims.cookie?.utf8.count == 64)
        #expect(
            claims.rights == [
                Right(
                    .content("movie-42"), outputs: OutputPermissions(airPlay: true, avAdapter: false), profile: "HD")
            ])
        #expect(claims.dialect == .jwt)
    }

    @Test(arguments: [
        ("cnf", "null", "cnf"), ("cnf", "{}", "cnf.fps:hu"), ("cnf", #"{"fps:hu":1}"#, "cnf.fps:hu"),
        ("cnf", #"{"fps:hu":"AAAA"}"#, "cnf.fps:hu"),
        ("cnf", #"{"fps:hu":"AAAAAAAAAAAAAAAAAAAAAAAAAAB"}"#, "cnf.fps:hu"),
        ("device", "1", "device"), ("device", #"{"bind":"Pinned"}"#, "device.bind"),
        ("device", #"{"bind":"pinned"}"#, "device.bind"), ("device", #"{"max":0}"#, "device.max"),
        ("device", #"{"max":4294967296}"#, "device.max"), ("device", #"{"id":""}"#, "device.id"),
        ("session", "[]", "session"), ("session", #"{"groups":{}}"#, "session.groups"),
        ("session", #"{"groups":[1]}"#, "session.groups"),
        ("session", #"{"groups":[{"id":"a"}]}"#, "session.groups[0].max"),
        ("session", #"{"groups":[{"max":1}]}"#, "session.groups[0].id"),
        ("session", #"{"groups":[{"id":"a","max":1},{"id":"a","max":2}]}"#, "session.groups[1].id"),
        ("session", #"{"mode":"deny"}"#, "session.mode"), ("limits", "null", "limits"),
        ("limits", #"{"uses":0}"#, "limits.uses"), ("limits", #"{"uses":"1"}"#, "limits.uses"),
        ("limits", #"{"ips":[]}"#, "limits.ips"), ("limits", #"{"ips":["203.0.113.1/24"]}"#, "limits.ips"),
        ("limits", #"{"ips":"203.0.113.0/24"}"#, "limits.ips"),
        ("limits", #"{"countries":["ch"]}"#, "limits.countries"),
        ("limits", #"{"countries":["CHE"]}"#, "limits.countries"), ("cookie", "null", "cookie"),
        ("cookie", "1", "cookie"),
        ("cookie", "\"\(String(repeating: "c", count: 65))\"", "cookie"),
    ])
    func refusesRestrictionsThatAreNotInOrder(name: String, value: String, path: String) throws {
        #expect(try Self.error([name: value]) == .claimInvalid(path))
    }

    @Test(arguments: [
        ("cnf", #"{"fps:hu":"AAAAAAAAAAAAAAAAAAAAAAAAAAA","jwk":{}}"#, "cnf."), ("cnf", #"{"x5t#S256":"AA"}"#, "cnf."),
        ("device", #"{"maximum":5}"#, "device."), ("session", #"{"group":[]}"#, "session."),
        ("session", #"{"groups":[{"id":"a","maximum":1}]}"#, "session.groups[0]."),
        ("limits", #"{"use":1}"#, "limits."),
    ])
    func refusesRestrictionsThatNobodyKnows(name: String, value: String, path: String) throws {
        #expect(try Self.error([name: value]) == .claimUnsupported(path + "(an unknown member)"))
    }

    /// Without a subject, each token would be counted separately, so every token would allow another device to play.
    @Test func countsNoPlaybacksOfNobody() throws {
        let groups = #"{"groups":[{"id":"all","max":1}]}"#
        #expect(try Self.error(["session": groups, "sub": nil]) == .claimInvalid("sub"))
        let issuance = try Issuance()
        let uncounted = try issuance.token(changing: ["session": #"{"id":"s"}"#, "sub": nil])
        #expect(try issuance.verify(uncounted).session.id == "s")
    }

    @Test func aRateHasNoFormThatAnybodyKnows() throws {
        #expect(try Self.error(["limits": #"{"rate":"5/s"}"#]) == .claimUnsupported("limits.rate"))
    }

    @Test func ignoresUnknownClaims() throws {
        let issuance = try Issuance()
        let token = try issuance.token(changing: ["name": #""Someone""#, "scope": "[1,{}]"])
        #expect(try issuance.verify(token).subject == "account-123")
    }

    @Test func subjectAndTokenIDMayBeAbsent() throws {
        let issuance = try Issuance()
        let claims = try issuance.verify(try issuance.token(changing: ["sub": nil, "jti": nil]))
        #expect(claims.subject == nil)
        #expect(claims.tokenID == nil)
    }

    @Test(arguments: ["sub", "jti"], ["1", "null", "true", #""""#, "\"" + String(repeating: "s", count: 201) + "\""])
    func refusesIdentifiersThatAreNoShortText(name: String, value: String) throws {
        #expect(try Self.error([name: value]) == .claimInvalid(name))
    }

    @Test func countsTheSizeOfTextsInBytes() throws {
        let issuance = try Issuance()
        let longest = String(repeating: "é", count: 100)
        #expect(try issuance.verify(try issuance.token(changing: ["sub": "\"\(longest)\""])).subject == longest)
        #expect(try Self.error(["sub": "\"\(longest)s\""]) == .claimInvalid("sub"))
    }

    @Test(arguments: [
        nil, "null", "{}", "1", #""movie-42""#, "[1]", "[null]", #"["movie-42"]"#, #"[[{"content":"a"}]]"#,
    ])
    func refusesRightsThatAreNoArrayOfObjects(rights: String?) throws {
        #expect(try Self.error(["rights": rights]) == .claimInvalid("rights"))
    }

    @Test func takesNoMoreThanSixtyFourRights() throws {
        func text(count: Int) -> String {
            "[" + repeatElement(#"{"content":"a"}"#, count: count).joined(separator: ",") + "]"
        }
        #expect(try Self.rights("[]").isEmpty)
        #expect(try Self.rights(text(count: 64)).count == 64)
        #expect(try Self.error(["rights": text(count: 65)]) == .claimInvalid("rights"))
    }

    @Test func takesNoMoreThanSixtyFourKeyIDs() throws {
        func text(count: Int) -> String {
            let keyIDs = repeatElement("\"00112233445566778899aabbccddeeff\"", count: count)
            return #"[{"kids":["# + keyIDs.joined(separator: ",") + "]}]"
        }
        #expect(try Self.rights(text(count: 64)).first?.selector != nil)
        for count in [0, 65] {
            #expect(try Self.error(["rights": text(count: count)]) == .claimInvalid("rights[0].kids"))
        }
    }

    @Test(arguments: [
        ("{}", "content"), (#"{"content":"a","kids":["00112233445566778899aabbccddeeff"]}"#, "content"),
        (#"{"content":"a","content_prefix":"a"}"#, "content"), (#"{"content_prefix":"a","kids":[]}"#, "content"),
        (#"{"content":""}"#, "content"), (#"{"content":1}"#, "content"), (#"{"content":null}"#, "content"),
        (#"{"content":"a b"}"#, "content"), (#"{"content":"a\u0000"}"#, "content"),
        (#"{"content":"\u212A"}"#, "content"),
        (#"{"content_prefix":""}"#, "content_prefix"), (#"{"content_prefix":"*\n"}"#, "content_prefix"),
        (#"{"kids":"00112233445566778899aabbccddeeff"}"#, "kids"), (#"{"kids":[1]}"#, "kids"),
        (#"{"kids":["x"]}"#, "kids"),
        (#"{"content":"a","start":true}"#, "start"), (#"{"content":"a","start":"1750000000"}"#, "start"),
        (#"{"content":"a","start":"tomorrow"}"#, "start"), (#"{"content":"a","end":""}"#, "end"),
        (#"{"content":"a","end":null}"#, "end"), (#"{"content":"a","end":1e30}"#, "end"),
        (#"{"content":"a","end":"2025-06-15"}"#, "end"), (#"{"content":"a","duration":0}"#, "duration"),
        (#"{"content":"a","duration":-1}"#, "duration"), (#"{"content":"a","duration":"60"}"#, "duration"),
        (#"{"content":"a","duration":1.5}"#, "duration"), (#"{"content":"a","duration":1e19}"#, "duration"),
        (#"{"content":"a","lease":0}"#, "lease"), (#"{"content":"a","lease":null}"#, "lease"),
        (#"{"content":"a","lease":true}"#, "lease"), (#"{"content":"a","lease":1e400}"#, "lease"),
        (#"{"content":"a","mode":"Stream"}"#, "mode"), (#"{"content":"a","mode":true}"#, "mode"),
        (#"{"content":"a","hdcp":"type2"}"#, "hdcp"), (#"{"content":"a","hdcp":1}"#, "hdcp"),
        (#"{"content":"a","storage":0}"#, "storage"), (#"{"content":"a","storage":-1}"#, "storage"),
        (#"{"content":"a","storage":"60"}"#, "storage"), (#"{"content":"a","storage":null}"#, "storage"),
        (#"{"content":"a","playback":0}"#, "playback"), (#"{"content":"a","playback":1.5}"#, "playback"),
        (#"{"content":"a","playback":true}"#, "playback"), (#"{"content":"a","min_level":"Main"}"#, "min_level"),
        (#"{"content":"a","airplay":"true"}"#, "airplay"), (#"{"content":"a","av_adapter":1}"#, "av_adapter"),
        (#"{"content":"a","profile":""}"#, "profile"), (#"{"content":"a","renew_ahead":0}"#, "renew_ahead"),
        (#"{"content":"a","min_level":""}"#, "min_level"), (#"{"content":"a","min_level":3000}"#, "min_level"),
        (#"{"content":"a","tracks":null}"#, "tracks"), (#"{"content":"a","tracks":[]}"#, "tracks"),
        (#"{"content":"a","tracks":{}}"#, "tracks"), (#"{"content":"a","tracks":"HD"}"#, "tracks"),
        (#"{"content":"a","tracks":{"HD":"type1"}}"#, "tracks"), (#"{"content":"a","tracks":{"HD":null}}"#, "tracks"),
        (#"{"content":"a","tracks":{"":{}}}"#, "tracks"), (#"{"content":"a","tracks":{"H D":{}}}"#, "tracks"),
        (#"{"content":"a","tracks":{"\u212A":{}}}"#, "tracks"),
        (#"{"content":"a","tracks":{"SD":{},"HD":{"hdcp":"1"}}}"#, "tracks.hdcp"),
        (#"{"content":"a","tracks":{"HD":{"min_level":null}}}"#, "tracks.min_level"),
    ])
    func refusesRightsThatAreNotInOrder(right: String, name: String) throws {
        #expect(try Self.error(["rights": "[\(right)]"]) == .claimInvalid("rights[0].\(name)"))
    }

    /// A track label is text from the token, so the error does not contain it.
    @Test(arguments: ["HDCP", "airplay", "lease", "tracks", "end"])
    func refusesTracksWithMembersThatNothingEnforces(name: String) throws {
        let rights = #"[{"content":"a","tracks":{"SD":{"hdcp":"none"},"secret":{"\#(name)":"type1"}}}]"#
        #expect(try Self.error(["rights": rights]) == .claimUnsupported("rights[0].tracks.(an unknown member)"))
    }

    @Test func refusesALabelThatOccursTwice() throws {
        let error = try Self.error(["rights": #"[{"content":"a","tracks":{"HD":{},"\u0048D":{}}}]"#])
        #expect(error.code == "token_malformed")
    }

    @Test func takesNoMoreThanThirtyTwoTracks() throws {
        func text(count: Int) -> String {
            let tracks = (0..<count).map { "\"T\($0)\":{}" }.joined(separator: ",")
            return #"[{"content":"a","tracks":{"# + tracks + "}}]"
        }
        #expect(try Self.rights(text(count: 32)).first?.tracks.count == 32)
        #expect(try Self.error(["rights": text(count: 33)]) == .claimInvalid("rights[0].tracks"))
    }

    @Test func takesLabelsOfSixtyFourBytes() throws {
        let longest = String(repeating: "L", count: 64)
        #expect(try Self.rights(#"[{"content":"a","tracks":{"\#(longest)":{}}}]"#).first?.tracks[longest] != nil)
        #expect(
            try Self.error(["rights": #"[{"content":"a","tracks":{"\#(longest)L":{}}}]"#])
                == .claimInvalid("rights[0].tracks"))
    }

    @Test func takesContentTextsOfTwoHundredBytes() throws {
        let longest = String(repeating: "c", count: 200)
        #expect(try Self.rights(#"[{"content":"\#(longest)"}]"#) == [Right(.content(longest))])
        #expect(try Self.error(["rights": #"[{"content":"\#(longest)c"}]"#]) == .claimInvalid("rights[0].content"))
    }
}
