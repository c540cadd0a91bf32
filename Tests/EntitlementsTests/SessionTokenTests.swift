import ByteCoding
import KeyCrypto
import POSIXSockets
import TestSupport
import Testing

@testable import Entitlements

@Suite struct SessionTokenTests {
    private static let now = Issuance.now
    private static let license = Bytes16(high: 0x0102_0304_0506_0708, low: 9)

    private let issuance: Issuance
    private let sessions: SessionTokens
    private let content: RequestedContent
    private let device: DeviceIdentifier

    init() throws {
        device = try #require(DeviceIdentifier([UInt8](repeating: 0xD7, count: 20)))
        issuance = try Issuance()
        sessions = try Self.sessions(1)
        content = RequestedContent(
            contentID: "movie-42", keyID: try KeyID(parsing: "00112233-4455-6677-8899-aabbccddeeff"),
            trackLabels: ["HD"])
    }

    private static func sessions(
        _ byte: UInt8, retired: [UInt8] = [], maximumLife: Int64 = SessionTokens.lifeDefault
    ) throws -> SessionTokens {
        func key(_ byte: UInt8) throws -> HMACSHA256Key {
            try HMACSHA256Key(SecretBytes(copying: [UInt8](repeating: byte, count: 32)))
        }
        return try SessionTokens(key: key(byte), retired: retired.map(key), maximumLife: maximumLife)
    }

    private func verifier(_ sessions: SessionTokens? = nil, issuers: IssuerSet? = nil) -> TokenVerifier {
        TokenVerifier(
            issuers: issuers ?? issuance.verifier.issuers, enforced: Set(Restriction.allCases),
            sessions: sessions ?? self.sessions)
    }

    private func claims(_ changes: [String: String?]) throws -> Claims {
        try issuance.verify(issuance.token(changing: changes))
    }

    private func token(
        for claims: Claims, at now: Int64 = now, lease: Int64 = 300, owner: [UInt8]? = nil,
        by sessions: SessionTokens? = nil
    ) throws -> [UInt8]? {
        var request = GateRequest(claims: claims, content: content, use: .streaming, now: now)
        request.origin = RequestOrigin(address: .v4(0xCB00_7105), country: CountryCode("CH"))
        request.policy = EntitlementPolicy(profiles: ["HD": PolicyRule()])
        let authorization = try Gate.authorize(request)
        let given = SessionLicense(
            id: Self.license, decidedAt: now, issuedAt: now, lease: lease, device: device, playback: 0x1122,
            owner: owner)
        return try (sessions ?? self.sessions).token(for: given, authorization, of: claims).map { Array($0.utf8) }
    }

    private func leased(_ members: String = "") throws -> Claims {
        try claims(["rights": "[{\"content\":\"movie-42\",\"lease\":300\(members)}]"])
    }

    // MARK: Contents

    @Test func keepsWhatWasGranted() throws {
        let granted = try claims([
            "rights": """
            [{"content_prefix":"movie-","lease":300,"hdcp":"type0","min_level":"baseline","airplay":false,
            "tracks":{"UHD":{"hdcp":"type1"}},"profile":"HD","renew_ahead":70,"mode":"both","storage":90,
            "duration":86400}]
            """,
            "session": #"{"id":"s-1","groups":[{"id":"all","max":2}],"mode":"evict_oldest"}"#,
            "device": #"{"id":"tv","account":"a-1","bind":"first","max":3}"#, "cookie": #""c-1""#,
            "limits": #"{"uses":1,"ips":["203.0.113.0/24","2001:db8::/32"],"countries":["CH"]}"#,
        ])
        let kept = try verifier().verify(#require(try token(for: granted)), now: Self.now)
        #expect(kept.issuer == granted.issuer && kept.subject == granted.subject && kept.tokenID == granted.tokenID)
        #expect(kept.keyID == granted.keyID && kept.dialect == granted.dialect && kept.cookie == "c-1")
        #expect(kept.session == granted.session)
        #expect(kept.limits.networks == granted.limits.networks && kept.limits.countries == granted.limits.countries)
        #expect(kept.limits.usesPerKey == nil, "a renewal is not counted as a use")
        #expect(kept.device.id == "tv" && kept.device.account == "a-1" && kept.device.maximum == nil)
        let (right, first) = (try #require(kept.rights.first), try #require(granted.rights.first))
        #expect(kept.rights.count == 1 && right.selector == .keyIDs([content.keyID]), "uses are counted for each key")
        #expect(right.mode == .stream && right.storage == nil && right.end == Self.now + SessionTokens.lifeDefault)
        #expect(right.lease == 300 && right.protection == first.protection && right.tracks == first.tracks)
        #expect(right.outputs == first.outputs && right.profile == "HD" && right.renewAhead == 70)
        let grant = try #require(kept.renewal)
        #expect(grant.id == Self.license && grant.license == Self.license && grant.generation == 1)
        #expect(grant.playback == 0x1122 && grant.owner == nil)
        #expect(kept.expiresAt == Self.now + 300 + SessionTokens.graceDefault)
    }

    /// If uses are not counted, one session token serves all keys of the content.
    @Test func servesAllKeysOfAContentUnlessUsesAreCounted() throws {
        for (limits, selector) in [
            ("{}", Right.Selector.content("movie-42")), (#"{"uses":3}"#, .keyIDs([content.keyID])),
        ] {
            let granted = try claims(["rights": #"[{"content":"movie-42","lease":300}]"#, "limits": limits])
            let kept = try verifier().verify(#require(try token(for: granted)), now: Self.now)
            #expect(kept.rights.map(\.selector) == [selector])
        }
    }

    @Test func keepsWhatStandsForATokenWithoutASubject() throws {
        let granted = try claims(["sub": nil, "rights": #"[{"content":"movie-42","lease":300}]"#])
        let owner = [UInt8](repeating: 0xEE, count: 32)
        let first = try verifier().verify(#require(try token(for: granted, owner: owner)), now: Self.now)
        #expect(first.renewal?.owner == owner)
        let second = try verifier().verify(
            #require(try token(for: first, owner: [UInt8](repeating: 1, count: 32))), now: Self.now)
        #expect(second.renewal?.owner == owner && second.renewal?.generation == 2)
    }

    @Test func tellsNobodyItsDevice() throws {
        let text = String(decoding: try #require(try token(for: leased())), as: UTF8.self)
        let payload = try #require(text.split(separator: ".").dropFirst().first)
        let bytes = try Base64URL.decode(String(payload))
        for spelling in [Hexadecimal.encode(device.bytes), device.description, Base64URL.encode(device.bytes)] {
            #expect(!String(decoding: bytes, as: UTF8.self).contains(spelling))
        }
    }

    @Test func isBoundToItsDevice() throws {
        let bytes = try #require(try token(for: leased()))
        let grant = try #require(try verifier().verify(bytes, now: Self.now).renewal)
        let other = try #require(DeviceIdentifier([UInt8](repeating: 0xD6, count: 20)))
        let stranger = try Self.sessions(2)
        #expect(sessions.isBound(grant, to: device))
        #expect(!sessions.isBound(grant, to: other))
        #expect(!stranger.isBound(grant, to: device))
    }

    // MARK: Ends

    @Test func endsWithItsGrace() throws {
        let bytes = try #require(try token(for: leased()))
        let end = Self.now + 300 + SessionTokens.graceDefault + IssuerSet.leewayDefault
        _ = try verifier().verify(bytes, now: end - 1)
        #expect(throws: EntitlementError.sessionEnded(.expired)) { try verifier().verify(bytes, now: end) }
        #expect(EntitlementError.sessionEnded(.expired).code == "session_expired")
    }

    /// A cached token is still checked against the time at each request.
    @Test func endsWhereItIsRemembered() throws {
        let cache = VerifiedTokenCache(verifier: verifier())
        let bytes = try #require(try token(for: leased()))
        let crypto = try CryptoContext()
        _ = try cache.verify(bytes, now: Self.now, crypto: crypto)
        #expect(throws: EntitlementError.sessionEnded(.expired)) {
            try cache.verify(bytes, now: Self.now + 10_000, crypto: crypto)
        }
    }

    /// The members of a right besides its lease, and the seconds until its session ends.
    private static let limits: [(String, Int64)] = [
        (#","end":\#(now + 2000)"#, 2000), (#","duration":1500"#, 1500), ("", 3600),
        (#","end":\#(now + 9000),"duration":8000"#, 3600),
    ]

    /// However often it is renewed, a session never passes the right's end, the rental or the longest session.
    @Test(arguments: limits)
    func goesNoFurtherThanWhatWasGranted(limits: String, seconds: Int64) throws {
        let sessions = try Self.sessions(1, maximumLife: 3600)
        var claims = try leased(limits)
        var now = Self.now
        var count = 0
        while let bytes = try token(for: claims, at: now, lease: lease(of: claims, at: now), by: sessions) {
            claims = try verifier(sessions).verify(bytes, now: now)
            let grant = try #require(claims.renewal)
            #expect(grant.absoluteEnd == Self.now + seconds && claims.expiresAt <= grant.absoluteEnd)
            count += 1
            #expect(grant.generation == UInt32(count))
            now += 200
            guard now < grant.absoluteEnd else { break }
            #expect(now + (try lease(of: claims, at: now)) <= grant.absoluteEnd)
        }
        #expect(count > 3)
        #expect(throws: EntitlementError.self) {
            _ = try lease(of: claims, at: Self.now + seconds)
        }
    }

    private func lease(of claims: Claims, at now: Int64) throws -> Int64 {
        let limits = try Gate.authorize(claims: claims, content: content, for: .streaming, now: now).limits
        guard case .streaming(let streaming) = limits else { throw EntitlementError.offlineNotGranted }
        return Int64(try #require(streaming.lease))
    }

    @Test func isNotGivenWhereNothingIsLeftToRenew() throws {
        #expect(try token(for: leased(#","end":\#(Self.now + 300)"#), lease: 300) == nil)
        #expect(
            try token(for: claims(["rights": #"[{"content":"movie-42","end":\#(Self.now + 90)}]"#]), lease: 90) == nil)
        #expect(try token(for: leased(#","end":\#(Self.now + 301)"#), lease: 300) != nil)
    }

    @Test func grantsNoOfflineLicense() throws {
        let kept = try verifier().verify(#require(try token(for: leased())), now: Self.now)
        #expect(throws: EntitlementError.offlineNotGranted) {
            try Gate.authorize(claims: kept, content: content, for: .offline, now: Self.now)
        }
        let other = RequestedContent(contentID: "movie-43", keyID: content.keyID, trackLabels: [])
        #expect(throws: EntitlementError.contentNotCovered) {
            try Gate.authorize(claims: kept, content: other, for: .streaming, now: Self.now)
        }
    }

    // MARK: Keys and issuers

    @Test func isRefusedUnderAnyOtherKey() throws {
        let bytes = try #require(try token(for: leased()))
        let stranger = try Self.sessions(2)
        #expect(throws: EntitlementError.keyUnknown) { try verifier(stranger).verify(bytes, now: Self.now) }
        #expect(throws: EntitlementError.keyUnknown) { try issuance.verify(bytes) }
        let altered = bytes.changingDigit(beforeLast: 2)
        #expect(throws: EntitlementError.signatureInvalid) { try verifier().verify(altered, now: Self.now) }
    }

    @Test func isGoodUnderARetiredKeyAndIsFollowedByOneUnderTheNewKey() throws {
        let bytes = try #require(try token(for: leased()))
        let rotated = try Self.sessions(2, retired: [1])
        let claims = try verifier(rotated).verify(bytes, now: Self.now)
        let grant = try #require(claims.renewal)
        #expect(rotated.isBound(grant, to: device))
        let successor = try #require(try token(for: claims, by: rotated))
        _ = try verifier(Self.sessions(2)).verify(successor, now: Self.now)
        #expect(throws: EntitlementError.keyUnknown) { try verifier().verify(successor, now: Self.now) }
    }

    /// An issuer removes retired keys from its URL, and the URL may not answer. No playback stops because of that.
    @Test(arguments: [Issuer.KeySupply.missing, .fetched])
    func doesNotNeedAKeyThatIsGoneFromItsURL(supply: Issuer.KeySupply) throws {
        let bytes = try #require(try token(for: leased()))
        func issuers(_ keys: [VerificationKey]) throws -> IssuerSet {
            try IssuerSet([Issuer(name: Issuance.name, audience: Issuance.audience, keys: keys, keySupply: supply)])
        }
        let verifier = verifier(issuers: try issuers([]))
        _ = try verifier.verify(bytes, now: Self.now)
        #expect(verifier.issuers.unknownKeys.take() == [])
        let revoked = try VerificationKey(id: "hs", hs256: SecretBytes(copying: issuance.secret), state: .revoked)
        let refusing = self.verifier(issuers: try issuers([revoked]))
        #expect(throws: EntitlementError.keyRevoked) { try refusing.verify(bytes, now: Self.now) }
        let remembering = self.verifier(issuers: try issuers([]).adding([0: KeysAtURL(nil, revokedIDs: ["hs"])]))
        #expect(throws: EntitlementError.keyRevoked) { try remembering.verify(bytes, now: Self.now) }
    }

    /// The same issuer stands there once for each audience. Its key may be in any of the entries.
    @Test func belongsToTheEntryOfItsIssuerThatHasTheKey() throws {
        let bytes = try #require(try token(for: leased()))
        func issuers(_ state: KeyState?) throws -> IssuerSet {
            let key = try state.map {
                try VerificationKey(id: "hs", hs256: SecretBytes(copying: issuance.secret), state: $0)
            }
            return try IssuerSet([
                Issuer(name: Issuance.name, audience: "another", keys: [], keySupply: .fetched),
                Issuer(name: Issuance.name, audience: Issuance.audience, keys: key.map { [$0] } ?? []),
            ])
        }
        #expect(throws: EntitlementError.keyRevoked) {
            try verifier(issuers: issuers(.revoked)).verify(bytes, now: Self.now)
        }
        #expect(try verifier(issuers: issuers(.active)).verify(bytes, now: Self.now).issuer == Issuance.name)
    }

    /// Some players send their content token with each renewal.
    @Test(arguments: [Issuer.KeySupply.missing, .fetched])
    func decidesInPlaceOfAContentTokenWhoseKeyIsGone(supply: Issuer.KeySupply) throws {
        let content = try issuance.token(changing: [:])
        let bytes = try #require(try token(for: leased()))
        let set = try IssuerSet([
            Issuer(name: Issuance.name, audience: Issuance.audience, keys: [], keySupply: supply)
        ])
        let cache = VerifiedTokenCache(verifier: verifier(issuers: set))
        let crypto = try CryptoContext()
        for isRenewal in [true, false] {
            let decided = try cache.decide(
                PresentedToken(source: .nvAuthorizations, tokens: [content, bytes]), isRenewal: isRenewal,
                now: Self.now, crypto: crypto)
            #expect(decided.token.tokens == [bytes])
        }
        #expect(throws: supply == .missing ? EntitlementError.keysUnavailable : .keyUnknown) {
            try cache.decide(
                PresentedToken(source: .nvAuthorizations, tokens: [content]),
                isRenewal: true, now: Self.now, crypto: crypto)
        }
    }

    /// Removing an issuer or its key ends the sessions that began with them.
    @Test func endsWithItsIssuerAndItsKey() throws {
        let bytes = try #require(try token(for: leased()))
        let secret = issuance.secret
        func issuers(_ name: String, _ state: KeyState) throws -> IssuerSet {
            let key = try VerificationKey(id: "hs", hs256: SecretBytes(copying: secret), state: state)
            return try IssuerSet([Issuer(name: name, audience: Issuance.audience, keys: [key])])
        }
        let revoked = try issuers(Issuance.name, .revoked)
        #expect(throws: EntitlementError.keyRevoked) { try verifier(issuers: revoked).verify(bytes, now: Self.now) }
        let other = try issuers("another", .active)
        #expect(throws: EntitlementError.keyUnknown) { try verifier(issuers: other).verify(bytes, now: Self.now) }
        _ = try verifier(issuers: issuers(Issuance.name, .retiring(until: Self.now - 1))).verify(bytes, now: Self.now)
    }

    @Test func isExplained() throws {
        let bytes = try #require(try token(for: leased()))
        let good = verifier().explain(bytes, now: Self.now)
        #expect(good.refusal == nil && good.claims?.renewal != nil)
        #expect(verifier().explain(bytes, now: Self.now + 9999).refusal == .sessionEnded(.expired))
    }
}
