import ByteCoding
import KeyCrypto
import TestSupport
import Testing

@testable import Entitlements

@Suite struct SealedTokenTests {
    private static let now = Issuance.now
    private let keys: [TokenSealingKey]
    private let verifier: TokenVerifier

    init() throws {
        let states: [KeyState] = [.active, .revoked, .retiring(until: Self.now + 10)]
        keys = try states.enumerated().map { index, state in
            TokenSealingKey(
                id: UInt32(index + 1), key: try AES256GCMKey(SecretBytes(copying: [UInt8](repeating: 9, count: 32))),
                state: state)
        }
        let issuer = Issuer(
            name: "customers", audience: "latchkey", dialect: .expressPlay, keys: [], sealingKeys: keys,
            maximumLife: 30 * 86_400)
        verifier = TokenVerifier(
            issuers: try IssuerSet([issuer]), enforced: Set(Restriction.allCases))
    }

    private static func contents() -> SealedTokenContents {
        SealedTokenContents(tokenID: Bytes16(high: 1, low: 2), issuedAt: now, expiresAt: now + 300)
    }

    private static func key() throws -> EmbeddedContentKey {
        try EmbeddedContentKey(
            key: SecretBytes(copying: Array(1...16)), iv: Bytes16(high: 0x1122_3344_5566_7788, low: 9))
    }

    private func verify(_ contents: SealedTokenContents, key: Int = 0, now: Int64 = now) throws -> Claims {
        try verifier.verify(Array(try TokenSealer(keys[key]).seal(contents).utf8), now: now)
    }

    @Test func carriesAKeyAndItsTerms() throws {
        var contents = Self.contents()
        contents.contentKey = try Self.key()
        contents.rental = 7200
        contents.lease = 300
        contents.cookie = String(repeating: "c", count: 32)
        contents.subject = "customer-7"
        contents.usesPerKey = 3
        contents.bindsFirstDevice = true
        contents.protection = Protection(hdcp: .type1, securityLevel: .main)
        contents.extensions = [.init(type: Array("wudo".utf8), payload: [0, 0, 0, 0])]
        let claims = try verify(contents)
        #expect(claims.embeddedKey == contents.contentKey)
        #expect(claims.rights == [Right(.anything, duration: 7200, lease: 300, hdcp: .type1, minimumLevel: .main)])
        #expect(claims.cookie == contents.cookie)
        #expect(claims.subject == "customer-7")
        #expect(claims.tokenID == "00000000000000010000000000000002")
        #expect(claims.issuer == "customers" && claims.keyID == "1" && claims.dialect == .expressPlay)
        #expect(claims.issuedAt == Self.now && claims.expiresAt == Self.now + 300)
        #expect(claims.restrictions == [.firstUse, .usesPerKey, .embeddedKey])
    }

    @Test func namesAStoredKeyOrAContent() throws {
        var contents = Self.contents()
        contents.keyID = KeyID(words: Bytes16(high: 3, low: 4))
        contents.allowsOffline = true
        contents.storage = 604_800
        contents.playback = 172_800
        let device = try #require(DeviceIdentifier([UInt8](repeating: 5, count: 20)))
        contents.device = device
        let claims = try verify(contents)
        #expect(
            claims.rights == [
                Right(
                    .keyIDs([KeyID(words: Bytes16(high: 3, low: 4))]), mode: .both, storage: 604_800, playback: 172_800)
            ])
        #expect(claims.device.pinned == device)
        contents.contentID = "movie-42"
        #expect(try verify(contents).rights.map(\.selector) == [.content("movie-42")])
    }

    /// A key inside the token has the id that the token gives it.
    @Test func namesItsOwnKey() throws {
        var contents = Self.contents()
        contents.contentKey = try Self.key()
        contents.keyID = KeyID(words: Bytes16(high: 3, low: 4))
        #expect(try verify(contents).rights.map(\.selector) == [.keyIDs([KeyID(words: Bytes16(high: 3, low: 4))])])
        contents.contentID = "movie-42"
        #expect(try verify(contents).rights.map(\.selector) == [.content("movie-42")])
    }

    @Test func countsOrKnowsTheDevicesOfASubject() throws {
        var contents = Self.contents()
        contents.keyID = KeyID(words: .zero)
        contents.subject = "player/viewer-7"
        contents.deviceMaximum = 2
        #expect(try verify(contents).device == DeviceClaims(maximum: 2, replacesOldest: true))
        contents.deviceMaximum = nil
        contents.isRegisteredOnly = true
        #expect(try verify(contents).device == DeviceClaims(isRegisteredOnly: true))
        #expect(try verify(contents).restrictions == [.registeredDevice])
        contents.subject = nil
        #expect(throws: EntitlementError.claimInvalid("sub")) { try verify(contents) }
    }

    @Test func fitsIntoAURL() throws {
        var contents = Self.contents()
        contents.contentKey = try Self.key()
        contents.rental = 86_400
        let text = try TokenSealer(keys[0]).seal(contents)
        #expect(text.utf8.count <= 160)
        #expect(SealedToken.looksSealed(Array(text.utf8)))
        #expect(text.utf8.allSatisfy { $0 != UInt8(ascii: "=") && $0 != UInt8(ascii: "+") && $0 != UInt8(ascii: "/") })
    }

    /// Every prefix and every changed character of a token is refused by an error, not by a trap.
    @Test func refusesEveryTruncationAndChange() throws {
        var contents = Self.contents()
        contents.contentKey = try Self.key()
        let token = Array(try TokenSealer(keys[0]).seal(contents).utf8)
        for length in 0..<token.count {
            #expect(throws: EntitlementError.self) { try verifier.verify(Array(token.prefix(length)), now: Self.now) }
        }
        for index in token.indices {
            var altered = token
            altered[index] = altered[index] == UInt8(ascii: "B") ? UInt8(ascii: "C") : UInt8(ascii: "B")
            #expect(throws: EntitlementError.self) { try verifier.verify(altered, now: Self.now) }
        }
    }

    @Test(arguments: [
        (1, now, EntitlementError.keyRevoked), (2, now + 10, .keyRetired), (0, now + 305, .tokenExpired(agoSeconds: 5)),
        (0, now - 6, .tokenNotYetValid(inSeconds: 1)),
    ])
    func keysAndTimesEnd(key: Int, time: Int64, error: EntitlementError) throws {
        var contents = Self.contents()
        contents.keyID = KeyID(words: .zero)
        #expect(throws: error) { try verify(contents, key: key, now: time) }
    }

    @Test func aLifeIsLimited() throws {
        var contents = Self.contents()
        contents.keyID = KeyID(words: .zero)
        contents.expiresAt = Self.now + 30 * 86_400
        _ = try verify(contents)
        contents.expiresAt += 1
        #expect(throws: EntitlementError.lifeTooLong) { try verify(contents) }
    }

    @Test func anotherKeyOpensNothing() throws {
        let stranger = TokenSealingKey(id: 1, key: try AES256GCMKey(SecretBytes.random(count: 32)))
        let unknown = TokenSealingKey(id: 77, key: keys[0].key)
        var contents = Self.contents()
        contents.keyID = KeyID(words: .zero)
        let forged = Array(try TokenSealer(stranger).seal(contents).utf8)
        #expect(throws: EntitlementError.signatureInvalid) { try verifier.verify(forged, now: Self.now) }
        let nameless = Array(try TokenSealer(unknown).seal(contents).utf8)
        #expect(throws: EntitlementError.keyUnknown) { try verifier.verify(nameless, now: Self.now) }
    }

    // MARK: Fields

    private func sealed(_ fields: [UInt8]) throws -> [UInt8] {
        let message = try keys[0].key.sealMessage(SecretBytes(copying: fields), header: [2, 0, 0, 0, 0, 1])
        return Array(Base64URL.encode(message).utf8)
    }

    private static let beginning: [UInt8] =
        [1, 16] + [UInt8](repeating: 7, count: 16) + [2, 4, 0x68, 0x4E, 0xE1, 0x80, 3, 4, 0x68, 0x4E, 0xE2, 0x80]
    private static let keyField: [UInt8] = [6, 16] + [UInt8](repeating: 3, count: 16)

    @Test func readsFieldsThatAreInOrder() throws {
        #expect(try verifier.verify(sealed(Self.beginning + Self.keyField), now: Self.now).rights.count == 1)
    }

    @Test(
        arguments: [
            ([], "token_schema"), ([0, 0], "token_schema"), ([99, 1, 1], "token_schema"), ([7], "token_malformed"),
            ([7, 2, 1], "token_malformed"), ([7, 2, 0, 1], "token_schema"), ([7, 0], "token_schema"),
            ([7, 9, 1, 1, 1, 1, 1, 1, 1, 1, 1], "token_schema"), ([7, 1, 1, 7, 1, 1], "token_schema"),
            ([8, 1, 1, 7, 1, 1], "token_schema"), ([9, 1, 8], "token_schema"), ([9, 1, 4], "token_schema"),
            ([20, 1, 3], "token_schema"), ([12, 0], "token_schema"),
            ([12, 1, 0xFF], "token_schema"), ([13, 1, 1], "token_schema"), ([14, 5, 1, 0, 0, 0, 0], "token_schema"),
            ([16, 1, 0x20], "token_schema"), ([17, 5] + Array("type2".utf8), "token_schema"),
            ([19, 3, 1, 2, 3], "token_schema"),
            ([19, 5] + Array("wudo".utf8) + [1], "token_schema"), ([19, 4] + Array("abcd".utf8), "token_schema"),
        ] as [([UInt8], String)])
    func refusesFieldsThatAreNot(fields: [UInt8], code: String) throws {
        // Without a key, the token would allow nothing.
        let key = fields.isEmpty ? [] : Self.keyField
        let token = try sealed(Self.beginning + key + fields)
        let error = #expect(throws: EntitlementError.self) { try verifier.verify(token, now: Self.now) }
        #expect(error?.code == code)
    }

    @Test func aKeyAndItsVectorComeTogether() throws {
        let key: [UInt8] = [4, 16] + Array(1...16)
        let iv: [UInt8] = [5, 16] + [UInt8](repeating: 1, count: 16)
        for fields in [key, iv, [4, 15] + Array(1...15) + iv, key + [5, 16] + Array(1...16)] {
            #expect(throws: EntitlementError.claimInvalid("key")) {
                try verifier.verify(sealed(Self.beginning + fields), now: Self.now)
            }
        }
        #expect(try verifier.verify(sealed(Self.beginning + key + iv), now: Self.now).embeddedKey != nil)
    }

    @Test func randomContentsComeBack() throws {
        var generator = SeededGenerator.announced("randomContentsComeBack")
        for _ in 0..<200 {
            var contents = Self.contents()
            contents.tokenID = Bytes16(high: generator.next(), low: generator.next())
            contents.keyID = KeyID(words: Bytes16(high: generator.next(), low: generator.next()))
            if Bool.random(using: &generator) { contents.contentKey = try Self.key() }
            if Bool.random(using: &generator) { contents.rental = Int64.random(in: 1...Int64.max, using: &generator) }
            if Bool.random(using: &generator) { contents.lease = Int64.random(in: 1...1000, using: &generator) }
            if Bool.random(using: &generator) {
                contents.usesPerKey = UInt32.random(in: 1...UInt32.max, using: &generator)
            }
            if Bool.random(using: &generator) {
                contents.subject = "s"
                contents.deviceMaximum = UInt32.random(in: 1...UInt32.max, using: &generator)
                contents.isRegisteredOnly = Bool.random(using: &generator)
            }
            contents.allowsOffline = Bool.random(using: &generator)
            contents.bindsFirstDevice = Bool.random(using: &generator)
            contents.protection = Protection(hdcp: [nil, .type0, .type1].randomElement(using: &generator) ?? nil)
            let read = try SealedTokenContents(reading: SealedFields(contents.fields()))
            #expect(read == contents)
        }
    }
}
