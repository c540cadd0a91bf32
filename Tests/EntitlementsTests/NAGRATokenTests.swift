import ByteCoding
import KeyCrypto
import TestSupport
import Testing

@testable import Entitlements

@Suite struct NAGRATokenTests {
    private static let now = Issuance.now
    private static let device = "00112233445566778899AABBCCDDEEFF00112233"

    /// The shape of NAGRA's documentation, with other times and a device id that an SPC could contain.
    private static let printed = """
        {"typ":"ContentAuthZ","ver":"1.0","exp":\(now + 300),"jti":"j-1",
         "device":{"deviceUniqueId":"\(device)","deviceId":"5f","accountId":"test_account_0001"},
         "contentRights":[{"contentId":"zeecinemahd","start":"2021-05-22T09:30:52.563Z","end":"2031-06-01T16:28:05.267Z",
           "duration":5184000,"storable":true,"usageRulesProfileId":"HD",
           "defaultUsageRules":{"digitalOnly":false,"hdcp":false,"unprotectedDigitalOutput":true},
           "sessionControl":{"sessionId":"s","groups":[{"groupId":"g","maxSessions":2}]}}]}
        """

    private func verify(_ payload: String, maximumLife: Int64? = nil) throws -> Claims {
        let issuance = try Issuance(dialect: .nagra, maximumLife: maximumLife)
        return try issuance.verify(
            try issuance.token(header: #"{"typ":"JWT","alg":"HS256","kid":"hs"}"#, payload: payload, by: .secret))
    }

    private func verify(right: String) throws -> Right {
        let payload = #"{"typ":"ContentAuthZ","ver":"1.0","exp":\#(Self.now + 9),"contentRights":[\#(right)]}"#
        return try #require(try verify(payload).rights.first)
    }

    @Test func readsThePrintedShape() throws {
        let claims = try verify(Self.printed)
        #expect(claims.dialect == .nagra)
        #expect(claims.subject == "test_account_0001")
        #expect(claims.tokenID == "j-1")
        #expect(claims.limits.usesPerKey == 1)
        #expect(claims.device.pinned?.description == Self.device)
        #expect(claims.device.id == "5f")
        #expect(
            claims.rights == [
                Right(
                    .content("zeecinemahd"), start: 1_621_675_853, end: 1_938_097_685, mode: .both, profile: "HD",
                    session: SessionClaims(id: "s", groups: [SessionClaims.Group(id: "g", maximum: 2)])
                ).living(5_184_000)
            ])
        #expect(claims.restrictions == [.pinnedDevice, .sessions, .usesPerKey, .profile])
    }

    @Test func aTokenWithoutAnIdentifierMayBeUsedAgain() throws {
        let claims = try verify(
            #"{"typ":"ContentAuthZ","ver":"1.0","exp":\#(Self.now + 9),"contentRights":[{"contentId":"a"}]}"#)
        #expect(claims.restrictions == [])
        #expect(claims.rights == [Right(.content("a"))])
        #expect(claims.subject == nil)
    }

    @Test(
        arguments: [
            (#""hdcp":true"#, Right.HDCP.type0), (#""hdcp":false"#, nil),
            (#""unprotectedDigitalOutput":false"#, .type0),
            (#""unprotectedDigitalOutput":true"#, nil), (#""hdcp":true,"unprotectedDigitalOutput":true"#, .type0),
            ("", nil),
        ] as [(String, Right.HDCP?)])
    func readsTheOldRulesOfOutputs(rules: String, hdcp: Right.HDCP?) throws {
        #expect(try verify(right: #"{"contentId":"a","defaultUsageRules":{\#(rules)}}"#).protection.hdcp == hdcp)
    }

    @Test func keysSayMoreThanTheirContent() throws {
        let right = try verify(
            right: #"{"contentId":"a","defaultKcIds":["00112233-4455-6677-8899-aabbccddeeff"]}"#)
        guard case .keyIDs(let keyIDs) = right.selector else {
            Issue.record("\(right)")
            return
        }
        #expect(keyIDs.map(\.hexadecimal) == ["00112233445566778899aabbccddeeff"])
    }

    @Test(arguments: [
        (#""typ":"ContentAuthZ""#, #""typ":"DevAuthN""#, "typ"),
        (#""ver":"1.0""#, #""ver":"2.0""#, "ver"),
        (#""digitalOnly":false"#, #""digitalOnly":true"#, "contentRights[0].defaultUsageRules.digitalOnly"),
        (#""storable":true"#, #""storeable":true"#, "contentRights[0].(an unknown member)"),
        (#""jti":"j-1""#, #""jtI":"j-1""#, "(an unknown member)"),
        (#""deviceId":"5f""#, #""deviceModel":"5f""#, "device.(an unknown member)"),
        (
            #""maxSessions":2"#, #""maxSessions":2,"maxIPs":1"#,
            "contentRights[0].sessionControl.groups[0].(an unknown member)"
        ),
    ])
    func refusesWhatCannotBeHonoured(text: String, replacement: String, path: String) throws {
        let payload = Self.printed.replacing(text, with: replacement)
        #expect(payload != Self.printed)
        #expect(throws: EntitlementError.claimUnsupported(path)) { try verify(payload) }
    }

    /// A session token and a content key token are valid only at the server that made them.
    @Test(arguments: [("Session", EntitlementError.sessionOfAnotherServer), ("Kc", .tokenOfAnotherServer)])
    func refusesTheTokensOfAnotherServer(type: String, error: EntitlementError) throws {
        let payload = Self.printed.replacing(#""typ":"ContentAuthZ""#, with: "\"typ\":\"\(type)\"")
        #expect(throws: error) { try verify(payload) }
        #expect(error.code == "token_issuer")
    }

    /// `duration` is the life of a license: a lease for streaming, an end for offline use, and never a rental.
    @Test(arguments: [(60, 60), (900, 300)] as [(Int64, UInt32)])
    func aDurationIsTheLifeOfALicense(duration: Int64, seconds: UInt32) throws {
        let end = "2025-06-15T15:11:40Z"  // 300 s from now.
        let text = #"{"contentId":"a","duration":\#(duration),"end":"\#(end)","storable":true}"#
        let right = try verify(right: text)
        #expect(right.duration == nil && right.lease == nil && right.life == duration)
        #expect(
            try LicenseLimits(of: right, for: .streaming, now: Self.now)
                == .streaming(StreamingLimits(of: Right(.anything, lease: Int64(seconds)), now: Self.now)))
        #expect(try LicenseLimits(of: right, for: .offline, now: Self.now) == .offline(.hardEnd(seconds)))
    }

    /// A request that names no use gets a license to keep if the issuer lets its rights decide, and only if a right
    /// allows it.
    @Test(arguments: [
        (true, #"{"contentId":"a","storable":true}"#, LicenseUse.offline),
        (true, #"{"contentId":"a","storable":false}"#, .streaming),
        (true, #"{"contentId":"b","storable":true}"#, .streaming),
        (false, #"{"contentId":"a","storable":true}"#, .streaming),
    ])
    func aRightForOfflineUseMayBeEnough(offlineByRight: Bool, right: String, use: LicenseUse) throws {
        let issuance = try Issuance(dialect: .nagra, offlineByRight: offlineByRight)
        let claims = try issuance.verify(
            try issuance.token(
                header: #"{"alg":"HS256","kid":"hs"}"#,
                payload: #"{"typ":"ContentAuthZ","ver":"1.0","exp":\#(Self.now + 9),"contentRights":[\#(right)]}"#,
                by: .secret))
        let content = RequestedContent(
            contentID: "a", keyID: try KeyID(parsing: "00112233445566778899aabbccddeeff"), trackLabels: [])
        #expect(LicenseUse(grantedBy: claims, for: content) == use)
    }

    @Test(arguments: [
        (#""typ":"ContentAuthZ","#, "", "typ"), (#""ver":"1.0","#, "", "ver"), (#""ver":"1.0""#, #""ver":1.0"#, "ver"),
        (#""storable":true"#, #""storable":"true""#, "contentRights[0].storable"),
        (#","accountId":"test_account_0001""#, "", "device.accountId"),
        (#""contentId":"zeecinemahd","#, "", "contentRights[0].contentId"),
        (#""duration":5184000"#, #""duration":0"#, "contentRights[0].duration"),
        (#""2021-05-22T09:30:52.563Z""#, "1621675852", "contentRights[0].start"),
        (#""2021-05-22T09:30:52.563Z""#, #""2021-05-22""#, "contentRights[0].start"),
        (#""maxSessions":2"#, #""maxSessions":0"#, "contentRights[0].sessionControl.groups[0].maxSessions"),
        (device, "not a device", "device.deviceUniqueId"), (#""exp":\#(now + 300),"#, "", "exp"),
        (#""usageRulesProfileId":"HD""#, #""usageRulesProfileId":1"#, "contentRights[0].usageRulesProfileId"),
    ])
    func refusesWhatIsNotInOrder(text: String, replacement: String, path: String) throws {
        let payload = Self.printed.replacing(text, with: replacement)
        #expect(payload != Self.printed)
        #expect(throws: EntitlementError.claimInvalid(path)) { try verify(payload) }
    }

    @Test func aTokenWithoutABeginningHasOnlySoMuchTimeLeft() throws {
        _ = try verify(Self.printed, maximumLife: 300)
        #expect(throws: EntitlementError.lifeTooLong) { try verify(Self.printed, maximumLife: 299) }
    }

    @Test(arguments: [
        (#""iss":"https://other.example""#, EntitlementError.issuerMismatch), (#""aud":"other""#, .audienceMismatch),
    ])
    func issuerAndAudienceCountWhereTheyAre(member: String, error: EntitlementError) throws {
        let payload = Self.printed.replacing(#""ver":"1.0""#, with: #""ver":"1.0",\#(member)"#)
        #expect(throws: error) { try verify(payload) }
        let own = Self.printed.replacing(
            #""ver":"1.0""#, with: #""ver":"1.0","iss":"\#(Issuance.name)","aud":"\#(Issuance.audience)""#)
        #expect(throws: Never.self) { try verify(own) }
    }

    /// A token is read in the dialect of its key's issuer, even if it looks like another dialect.
    @Test func anIssuerWritesOneDialect() throws {
        let native = try Issuance()
        let token = try native.token(header: #"{"alg":"HS256","kid":"hs"}"#, payload: Self.printed, by: .secret)
        #expect(throws: EntitlementError.issuerMismatch) { try native.verify(token) }
        #expect(throws: EntitlementError.claimInvalid("typ")) { try verify(Issuance.payload()) }
    }

    /// Exactly one of the tokens in a header may grant contents. A session token of another server in the same header
    /// is ignored.
    @Test func aListHasOneTokenThatGrants() throws {
        let issuance = try Issuance(dialect: .nagra)
        func token(_ payload: String) throws -> [UInt8] {
            try issuance.token(header: #"{"alg":"HS256","kid":"hs"}"#, payload: payload, by: .secret)
        }
        let cache = VerifiedTokenCache(verifier: issuance.verifier)
        let crypto = try CryptoContext()
        func verify(_ tokens: [UInt8]...) throws -> Claims {
            try cache.verify(PresentedToken(source: .nvAuthorizations, tokens: tokens), now: Self.now, crypto: crypto)
        }
        let good = try token(Self.printed)
        let other = try token(Self.printed.replacing("j-1", with: "j-2"))
        let key = try token(Self.printed.replacing("ContentAuthZ", with: "Kc"))
        #expect(try verify(good).tokenID == "j-1")
        #expect(throws: EntitlementError.tokenAmbiguous) { try verify(good, other) }
        #expect(throws: EntitlementError.tokenOfAnotherServer) { try verify(good, key) }
        let session = try token(Self.printed.replacing("ContentAuthZ", with: "Session"))
        #expect(try verify(good, session).tokenID == "j-1")
        #expect(try verify(session, good).tokenID == "j-1")
        #expect(throws: EntitlementError.sessionOfAnotherServer) { try verify(session) }
        let late = try token(Self.printed.replacing("\(Self.now + 300)", with: "\(Self.now - 300)"))
        let error = #expect(throws: EntitlementError.self) { try verify(late, session) }
        #expect(error?.code == "token_expired")
        #expect(throws: EntitlementError.tokenMalformed(.notThreeParts)) { try verify(good, []) }
    }

    // MARK: One object

    /// OpenTV's documents call `contentRights` a dictionary, and some issuers send one.
    @Test func oneObjectIsAListOfOne() throws {
        let single = Self.printed.replacing("[{\"contentId\"", with: "{\"contentId\"").replacing(
            "}]}}]}", with: "}]}}}")
        #expect(single != Self.printed && !single.contains(#""contentRights":["#))
        #expect(try verify(single).rights == verify(Self.printed).rights)
        #expect(try verify(single).restrictions == verify(Self.printed).restrictions)
    }

    /// It is as strict as an element of the list, and any other value is refused.
    @Test(
        arguments: [
            (
                #"{"contentId":"a","storeable":true}"#,
                EntitlementError.claimUnsupported("contentRights.(an unknown member)")
            ),
            (#"{"contentId":"a","duration":0}"#, .claimInvalid("contentRights.duration")),
            (#"{"contentId":"a","start":1750000000}"#, .claimInvalid("contentRights.start")),
            (
                #"{"contentId":"a","defaultUsageRules":{"digitalOnly":true}}"#,
                .claimUnsupported("contentRights.defaultUsageRules.digitalOnly")
            ),
            ("{}", .claimInvalid("contentRights.contentId")),
            (#"{"0":{"contentId":"a"}}"#, .claimUnsupported("contentRights.(an unknown member)")),
            ("null", .claimInvalid("contentRights")), (#""a""#, .claimInvalid("contentRights")),
            ("true", .claimInvalid("contentRights")), ("1", .claimInvalid("contentRights")),
            (#"[[{"contentId":"a"}]]"#, .claimInvalid("contentRights")),
        ])
    func oneObjectIsAsStrict(rights: String, error: EntitlementError) throws {
        let payload = #"{"typ":"ContentAuthZ","ver":"1.0","exp":\#(Self.now + 9),"contentRights":\#(rights)}"#
        #expect(throws: error) { try verify(payload) }
    }
}

extension Right {
    /// The same right with this life of its licenses in seconds.
    fileprivate func living(_ seconds: Int64) -> Right {
        var right = self
        right.life = seconds
        return right
    }
}
