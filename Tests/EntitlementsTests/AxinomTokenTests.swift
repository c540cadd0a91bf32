import ByteCoding
import KeyCrypto
import POSIXSockets
import TestSupport
import Testing

@testable import Entitlements

@Suite struct AxinomTokenTests {
    private static let keyID = "11111111-0000-0000-0000-000000000000"
    private static let otherKeyID = "22222222-0000-0000-0000-000000000000"

    /// The shape of Axinom's documentation, with other times, one key source, and no list of devices.
    private static let printed = """
        {"version":1,"com_key_id":"hs","id":"c76d9f99-dd53-46a0-8aa0-1dc8a931202d",
         "begin_date":"2025-06-15T17:06:40+02:00","expiration_date":"2025-06-15T17:11:40+02:00",
         "message":{"type":"entitlement_message","version":2,
          "license":{"start_datetime":"2025-01-01T00:00:00+03:00","expiration_datetime":"2031-01-01T00:00:00.5Z",
            "duration":3600,"allow_persistence":false,"concurrency_interval":300,"concurrency_grace_period":60,
            "fairplay":{"real_time_expiration":false,"playback_duration":3600,"ignore_keys_in_license_request":false,
              "duration":7200,"allow_persistence":"false"}},
          "content_keys_source":{"inline":[{"id":"\(keyID)","encrypted_key":"EREREREREREREREREREREQ==",
            "iv":"EREREREREREREREREREREQ==","seed_id":"88888888-0000-0000-0000-000000000000","usage_policy":"Policy A"}]},
          "content_key_usage_policies":[{"name":"Policy A",
            "fairplay":{"hdcp":"TYPE0","allow_airplay":true,"allow_av_adapter":false}}],
          "license_server":{"return_license_request_info":true,
            "access_control":{"prevent_drm_message_reuse":true,"concurrency_limit":2,"concurrency_mode":"BLOCK_NEW_DEVICE",
              "allowed_ip_addresses":["10.11.12.13","2001:db8::1"],"fairplay":{"use_native_session_ids":false}}},
          "session":{"user_id":"viewer-1"}}}
        """

    private func verify(_ payload: String, header: String = #"{"alg":"HS256","typ":"JWT"}"#) throws -> Claims {
        let issuance = try Issuance(dialect: .axinom)
        return try issuance.verify(try issuance.token(header: header, payload: payload, by: .secret))
    }

    private func changed(_ text: String, _ replacement: String) throws -> String {
        let payload = Self.printed.replacing(text, with: replacement)
        try #require(payload != Self.printed)
        return payload
    }

    private func keys(_ texts: String...) throws -> Right.Selector {
        .keyIDs(try texts.map { try KeyID(parsing: $0) })
    }

    @Test(arguments: [#"{"alg":"HS256","typ":"JWT"}"#, #"{"alg":"HS256","kid":"hs"}"#])
    func readsThePrintedShape(header: String) throws {
        let claims = try verify(Self.printed, header: header)
        #expect(claims.dialect == .axinom)
        #expect(claims.tokenID == "c76d9f99-dd53-46a0-8aa0-1dc8a931202d" && claims.subject == "viewer-1")
        #expect(claims.notBefore == Issuance.now && claims.expiresAt == Issuance.now + 300)
        #expect(
            claims.rights == [
                Right(
                    try keys(Self.keyID), start: 1_735_678_800, end: 1_924_992_000, duration: 7200, lease: 300,
                    hdcp: .type0, outputs: OutputPermissions(airPlay: true, avAdapter: false))
            ])
        #expect(claims.session.groups == [SessionClaims.Group(id: "all", maximum: 2)])
        #expect(claims.session.grace == 60)
        #expect(claims.limits.usesPerKey == 1)
        #expect(claims.limits.networks == ["10.11.12.13", "2001:db8::1"].compactMap { IPNetwork($0) })
    }

    @Test(arguments: [#""true""#, "true"])
    func aPersistentLicenseHasARightOfItsOwn(flag: String) throws {
        let payload = try changed(#""allow_persistence":"false""#, #""allow_persistence":\#(flag)"#)
            .replacing(#""concurrency_interval":300,"#, with: "")
        let rights = try verify(payload).rights
        #expect(rights.map(\.mode) == [.stream, .offline])
        #expect(rights.map(\.lease) == [nil, nil])
        #expect(rights.map(\.playback) == [nil, 3600])
    }

    @Test func theUserOfTheSessionIsTheSubject() throws {
        let printed = #""session":{"user_id":"viewer-1"}"#
        let payload = try changed(printed, #""session":{"user_id":"viewer-7"}"#)
        #expect(try verify(payload).subject == "viewer-7")
        for value in ["7", #""""#, "{}"] {
            let wrong = try changed(printed, #""session":{"user_id":\#(value)}"#)
            #expect(throws: EntitlementError.claimInvalid("message.session.user_id")) { try verify(wrong) }
        }
    }

    @Test(arguments: [(#""true""#, UInt32(1)), ("true", 1), (#""false""#, nil), ("false", nil)])
    func theUseOfAMessageMayBeLimitedByAText(flag: String, uses: UInt32?) throws {
        let payload = Self.printed.replacing(
            #""prevent_drm_message_reuse":true"#, with: #""prevent_drm_message_reuse":\#(flag)"#)
        #expect(try verify(payload).limits.usesPerKey == uses)
    }

    @Test func anExpirationInRealTimeHoldsDuringPlayback() throws {
        let payload = try changed(#""real_time_expiration":false"#, #""real_time_expiration":true"#)
        #expect(try verify(payload).rights.map(\.lease) == [300])
        #expect(try verify(payload.replacing(#""concurrency_interval":300,"#, with: "")).rights.map(\.lease) == [7200])
    }

    @Test func keysAreGroupedByTheirPolicy() throws {
        let payload = try changed(
            #""usage_policy":"Policy A"}]"#, #""usage_policy":"Policy A"},{"id":"\#(Self.otherKeyID)"}]"#)
        let rights = try verify(payload).rights
        #expect(rights.map(\.selector) == [try keys(Self.keyID), try keys(Self.otherKeyID)])
        #expect(rights.map(\.protection.hdcp) == [.type0, nil])
        let same = try changed(
            #""usage_policy":"Policy A"}]"#,
            #""usage_policy":"Policy A"},{"id":"\#(Self.otherKeyID)","usage_policy":"Policy A"}]"#)
        #expect(try verify(same).rights.map(\.selector) == [try keys(Self.keyID, Self.otherKeyID)])
    }

    private static let source = #""content_keys_source":{"inline":[{"id":"\#(keyID)""#

    @Test func keysOfTheRequestAreWhateverItAsksFor() throws {
        let payload = Self.printed.replacing(#""inline":["#, with: #""license_request":"#)
            .replacing(#""usage_policy":"Policy A"}]}"#, with: #""usage_policy":"Policy A"}}"#)
            .replacing(#""id":"\#(Self.keyID)","encrypted_key":"EREREREREREREREREREREQ==","#, with: "")
            .replacing(#""iv":"EREREREREREREREREREREQ==","#, with: "")
        let lines = payload.split(separator: "\n").joined()
        #expect(try verify(lines).rights.map(\.selector) == [.anything])
        #expect(try verify(lines).rights.map(\.protection.hdcp) == [.type0])
    }

    @Test func storedKeysAreNamedLikeOthers() throws {
        #expect(try verify(try changed(#""inline""#, #""stored""#)).rights.map(\.selector) == [try keys(Self.keyID)])
    }

    @Test(
        arguments: [
            ("\"version\":1", "\"version\":2", "version"), (#""version":2"#, #""version":1"#, "message.version"),
            (#""entitlement_message""#, #""other""#, "message.type"),
            (#""com_key_id":"hs""#, #""com_key_id":"es""#, nil),
            (#""begin_date":"2025-06-15T17:06:40+02:00""#, #""begin_date":1750000000"#, "begin_date"),
            (#""duration":7200"#, #""duration":0"#, "message.license.fairplay.duration"),
            (
                #""allow_persistence":"false""#, #""allow_persistence":"no""#,
                "message.license.fairplay.allow_persistence"
            ),
            (
                #""usage_policy":"Policy A""#, #""usage_policy":"Policy B""#,
                "message.content_keys_source.inline[0].usage_policy"
            ),
            (#""hdcp":"TYPE0""#, #""hdcp":"TYPE2""#, "message.content_key_usage_policies[0].fairplay.hdcp"),
            (#""inline":["#, #""stored":[],"inline":["#, "message.content_keys_source"),
            (
                #""concurrency_limit":2"#, #""concurrency_limit":0"#,
                "message.license_server.access_control.concurrency_limit"
            ),
            (#""10.11.12.13""#, #""10.11.12""#, "message.license_server.access_control.allowed_ip_addresses"),
            (#""id":"\#(keyID)""#, #""id":"1""#, "message.content_keys_source.inline[0].id"),
        ] as [(String, String, String?)])
    func refusesWhatIsNotInOrder(text: String, replacement: String, path: String?) throws {
        let payload = try changed(text, replacement)
        let error = #expect(throws: EntitlementError.self) { try verify(payload) }
        if let path { #expect(error == .claimInvalid(path)) } else { #expect(error == .algorithmNotPinned) }
    }

    /// The refusal names the members that Axinom's documents have, even if the server cannot enforce them.
    @Test(arguments: [
        (
            #""use_native_session_ids":false"#, #""allowed_device_ids":["88888888-0000-0000-0000-000000000000"]"#,
            "license_server.access_control.fairplay.allowed_device_ids"
        ),
        (
            #""ignore_keys_in_license_request":false"#, #""ignore_keys_in_license_request":true"#,
            "license.fairplay.ignore_keys_in_license_request"
        ),
        (
            #""concurrency_mode":"BLOCK_NEW_DEVICE""#, #""concurrency_mode":"OTHER""#,
            "license_server.access_control.concurrency_mode"
        ),
    ])
    func namesWhatItCannotEnforce(text: String, replacement: String, path: String) throws {
        let payload = try changed(text, replacement)
        #expect(throws: EntitlementError.claimUnsupported("message.\(path)")) { try verify(payload) }
    }

    /// The older version has other members. Its number says more than they do.
    @Test func namesTheVersionOfAnOlderMessage() throws {
        let payload = try changed(
            #""type":"entitlement_message","version":2"#, #""type":"entitlement_message","version":1,"keys":[]"#)
        #expect(throws: EntitlementError.claimInvalid("message.version")) { try verify(payload) }
    }

    @Test(arguments: [
        (#""ignore_keys_in_license_request":false"#, #""ignore_keys_in_license_request":true"#),
        (#""use_native_session_ids":false"#, #""allowed_device_id":["88888888-0000-0000-0000-000000000000"]"#),
        (#""concurrency_mode":"BLOCK_NEW_DEVICE""#, #""concurrency_mode":"OTHER""#),
        (#""user_id":"viewer-1""#, #""id":"s""#), (#""duration":3600,"#, #""durations":3600,"#),
        (#""return_license_request_info":true"#, #""return_license_request_information":true"#),
        (#""allow_airplay":true"#, #""allow_air_play":true"#),
    ])
    func refusesWhatCannotBeHonoured(text: String, replacement: String) throws {
        let payload = try changed(text, replacement)
        let error = #expect(throws: EntitlementError.self) { try verify(payload) }
        guard case .claimUnsupported = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test func countsNoPlaybacksOfNobody() throws {
        #expect(throws: EntitlementError.claimInvalid("message.session.user_id")) {
            try verify(try changed(#""user_id":"viewer-1""#, ""))
        }
    }

    @Test func theModeForFairPlayReplacesTheOther() throws {
        let payload = try changed(#""fairplay":{"use_native"#, #""fairplay":{"concurrency_mode":"NONE","use_native"#)
        #expect(try verify(payload).session.groups.isEmpty)
    }

    /// The payload names the key that must have signed the token. Other dialects do not look for a key id in the
    /// payload.
    @Test func thePayloadFindsKeysOfAxinomIssuersAlone() throws {
        let issuance = try Issuance(dialect: .axinom)
        let header = #"{"alg":"HS256","typ":"JWT"}"#
        let unknown = try issuance.token(
            header: header, payload: try changed(#""com_key_id":"hs""#, #""com_key_id":"x""#), by: .secret)
        #expect(throws: EntitlementError.keyUnknown) { try issuance.verify(unknown) }
        let forged = try issuance.token(header: header, payload: Self.printed, by: .strangersSecret)
        #expect(throws: EntitlementError.signatureInvalid) { try issuance.verify(forged) }
        let native = try Issuance()
        let token = try native.token(header: header, payload: Self.printed, by: .secret)
        #expect(throws: EntitlementError.keyUnknown) { try native.verify(token) }
        let named = try issuance.token(
            header: #"{"alg":"HS256","kid":"hs"}"#, payload: try changed(#""com_key_id":"hs""#, #""com_key_id":"es""#),
            by: .secret)
        #expect(throws: EntitlementError.claimInvalid("com_key_id")) { try issuance.verify(named) }
    }

    // MARK: Published messages

    /// The message of "Entitlement Message" (docs.axinom.com, DRM, License Service), as far as it is public, with
    /// another end. It has no beginning, a text as a flag, sections for other systems, and two keys with two policies.
    private static let published = """
        {"version":1,"id":"a7659f89-d153-4620-1aa0-1dc8a93f202e","expiration_date":"2025-06-15T16:11:40+01:00",
         "com_key_id":"hs","message":{"version":2,"type":"entitlement_message",
          "license_server":{"access_control":{"prevent_drm_message_reuse":"true",
            "allowed_ip_addresses":["80.237.132.164","2a01:488:42:1000:50ed:84a4:43:1f85"],
            "widevine":{"min_vmp_level":"PLATFORM_SOFTWARE_VERIFIED","allow_tampered_platforms":false},
            "playready":{"allowed_device_ids":["ed85e2bc-63d8-4a26-8ad0-18c382c12dd9"]}}},
          "content_keys_source":{"inline":[
            {"id":"c9a0d00c-cd2b-4509-aaa8-95b5d68a7382","usage_policy":"SD"},
            {"id":"bda0d55c-ad24-2211-faa2-25a5d6d8144a","usage_policy":"HD"}]},
          "content_key_usage_policies":[{"name":"SD","fairplay":{"hdcp":"TYPE1"}},{"name":"HD","fairplay":{"hdcp":"TYPE1"}}]}}
        """

    @Test func readsThePublishedMessage() throws {
        let claims = try verify(Self.published)
        #expect(claims.tokenID == "a7659f89-d153-4620-1aa0-1dc8a93f202e")
        #expect(claims.limits.usesPerKey == 1 && claims.limits.networks.count == 2)
        #expect(
            claims.rights == [
                Right(try keys("c9a0d00c-cd2b-4509-aaa8-95b5d68a7382"), hdcp: .type1),
                Right(try keys("bda0d55c-ad24-2211-faa2-25a5d6d8144a"), hdcp: .type1),
            ])
    }

    /// The example of "How to sign a License Service Message" (docs.axinom.com): key id, key in Base64, and message.
    /// Python's hmac module made the signature over the published message with an added end, because this server
    /// accepts no token without an end.
    @Test func verifiesThePublishedExampleOfASignature() throws {
        let keyID = "aa0151d7-081c-4699-a049-fc584556c9d2"
        let key = try Base64.decode("RPSdG/fViTkTjcuG3fcRXL2JDchGThWQ/tfSNHAoG+A=")
        let issuer = Issuer(
            name: "axinom", audience: "latchkey", dialect: .axinom,
            keys: [try VerificationKey(id: keyID, hs256: SecretBytes(copying: key))])
        let verifier = TokenVerifier(issuers: try IssuerSet([issuer]))
        let claims = try verifier.verify(Array(Self.signedExample.utf8), now: Issuance.now)
        #expect(claims.rights.map(\.selector) == [try keys("7459975d-b2f8-48ed-a325-56e4f34d19c7")])
        // The published message has no end.
        #expect(throws: EntitlementError.claimInvalid("expiration_date")) {
            try verifier.verify(Array(Self.signedExampleWithoutEnd.utf8), now: Issuance.now)
        }
    }

    private static let signedExample = """
        eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJ2ZXJzaW9uIjoxLCJjb21fa2V5X2lkIjoiYWEwMTUxZDctMDgxYy00Njk5LWE\
        wNDktZmM1ODQ1NTZjOWQyIiwibWVzc2FnZSI6eyJ0eXBlIjoiZW50aXRsZW1lbnRfbWVzc2FnZSIsInZlcnNpb24iOjIsImNvbnR\
        lbnRfa2V5c19zb3VyY2UiOnsiaW5saW5lIjpbeyJpZCI6Ijc0NTk5NzVkLWIyZjgtNDhlZC1hMzI1LTU2ZTRmMzRkMTljNyJ9XX1\
        9LCJleHBpcmF0aW9uX2RhdGUiOiIyMDI1LTA2LTE1VDE1OjExOjQwWiJ9.zh6nqU8npha82cm4VDbqeNJbQnTTqlyTXIALHdr0uS\
        k
        """
    private static let signedExampleWithoutEnd = """
        eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJ2ZXJzaW9uIjoxLCJjb21fa2V5X2lkIjoiYWEwMTUxZDctMDgxYy00Njk5LWE\
        wNDktZmM1ODQ1NTZjOWQyIiwibWVzc2FnZSI6eyJ0eXBlIjoiZW50aXRsZW1lbnRfbWVzc2FnZSIsInZlcnNpb24iOjIsImNvbnR\
        lbnRfa2V5c19zb3VyY2UiOnsiaW5saW5lIjpbeyJpZCI6Ijc0NTk5NzVkLWIyZjgtNDhlZC1hMzI1LTU2ZTRmMzRkMTljNyJ9XX1\
        9fQ.fnSeghZ75ehQE41cUxkNj3ai8nqqcOEQxRm02RW6Wyw
        """
}
