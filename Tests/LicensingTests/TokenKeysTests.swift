import ByteCoding
import ContentKeys
import DeviceSimulation
import Entitlements
import FairPlay
import KeyCrypto
import Licensing
import Records
import TestSupport
import Testing

/// Licenses for keys that a token contains or names.
@Suite struct TokenKeysTests {
    private static let key = [UInt8](0x80...0x8F)
    private static let iv = [UInt8](0x90...0x9F)

    private let fixture: LicensingFixture
    private let store = RecordingStore()

    init() throws {
        fixture = try LicensingFixture(recorder: store.recorder())
    }

    private func embedded() throws -> EmbeddedContentKey {
        try EmbeddedContentKey(key: SecretBytes(copying: Self.key), iv: Bytes16(Self.iv, at: 0))
    }

    /// The whole URL of a token, as an app may pass it on.
    private static let url = String(
        ("fp.example:80/hms/fp/rights/?ExpressPlayToken=" + String(repeating: "A", count: 200)).prefix(200))

    @Test(arguments: [SPCVersion.v1, .v2], ["movie-1", "whatever", url])
    func givesTheKeyInsideWhateverIsAskedFor(version: SPCVersion, assetID: String) async throws {
        let token = try fixture.sealed {
            $0.contentKey = try embedded()
            $0.cookie = "order-7"
        }
        let request = try fixture.deviceRequest(version, assetID: assetID)
        let license = try await fixture.issue(request.message, token: token).get()
        let opened = try CKCOpener(secrets: request.secrets, using: CryptoContext()).open(license.ckc)
        #expect(opened.contentKey.bytes.revealed() == Self.key && opened.contentIV.bytes == Self.iv)
        let entry = try #require(store.decisions.last).entry
        // The ledger names the key after the token, which reveals nothing about the key.
        let name = KeyID(words: Bytes16(high: 1, low: 2))
        #expect(entry.keyID == name && entry.content == "key:\(name)")
        #expect(entry.tokenID == "00000000000000010000000000000002" && entry.cookie == "order-7")
        // Another issuer may give the same id to a token.
        #expect(entry.subject == nil && entry.issuer == "customers")
    }

    @Test func callsAKeyAsItsTokenDoes() async throws {
        let keyID = KeyID(words: Bytes16(high: 3, low: 4))
        let request = try fixture.deviceRequest(.v1, assetID: "whatever")
        let named = try fixture.sealed {
            $0.contentKey = try embedded()
            $0.keyID = keyID
        }
        #expect(try await fixture.issue(request.message, token: named).get().key.keyID == keyID)
        let titled = try fixture.sealed {
            $0.contentKey = try embedded()
            $0.contentID = "movie-9"
        }
        #expect(try await fixture.issue(request.message, token: titled).get().key.contentID.text == "movie-9")
    }

    @Test func givesTheStoredKeyThatItsTokenNames() async throws {
        let stored = try KeyID(parsing: "00112233-4455-6677-8899-aabbccddeeff")
        let token = try fixture.sealed { $0.keyID = stored }
        for assetID in ["movie-1", "whatever", Self.url] {
            let request = try fixture.deviceRequest(.v1, assetID: assetID)
            let license = try await fixture.issue(request.message, token: token).get()
            let opened = try CKCOpener(secrets: request.secrets, using: CryptoContext()).open(license.ckc)
            #expect(opened.contentKey.bytes.revealed() == LicensingFixture.key)
        }
        // A token for another key gives no right to the key that the asset id names. An unknown asset id gives no key
        // either.
        let other = try fixture.sealed { $0.keyID = KeyID(words: .zero) }
        let request = try fixture.deviceRequest(.v1)
        #expect(
            await fixture.issue(request.message, token: other).failure == .entitlement(.contentNotCovered))
        let unknown = try fixture.deviceRequest(.v1, assetID: "whatever")
        #expect(await fixture.issue(unknown.message, token: other).failure == .contentUnknown)
        // For a token of another dialect, only the asset id names the key.
        let native = try fixture.token([Right(.keyIDs([stored]))])
        #expect(await fixture.issue(unknown.message, token: native).failure == .contentUnknown)
    }

    /// A content with one key names that key. An asset id that names another key is still refused.
    @Test func givesTheOnlyKeyOfTheContentThatItsTokenNames() async throws {
        let token = try fixture.sealed { $0.contentID = "movie-1" }
        for assetID in ["movie-1", "whatever", Self.url] {
            let request = try fixture.deviceRequest(.v1, assetID: assetID)
            let license = try await fixture.issue(request.message, token: token).get()
            let opened = try CKCOpener(secrets: request.secrets, using: CryptoContext()).open(license.ckc)
            #expect(opened.contentKey.bytes.revealed() == LicensingFixture.key)
        }
        let other = try fixture.sealed { $0.contentID = "movie-2" }
        let named = try fixture.deviceRequest(.v1, assetID: "movie-1")
        #expect(await fixture.issue(named.message, token: other).failure == .entitlement(.contentNotCovered))
        let unknown = try fixture.deviceRequest(.v1, assetID: "whatever")
        #expect(await fixture.issue(unknown.message, token: other).failure == .contentUnknown)
        let native = try fixture.token([Right(.content("movie-1"))])
        #expect(await fixture.issue(unknown.message, token: native).failure == .contentUnknown)
    }

    private static let unknownKeyID = "7b1d0c9e-52a4-4e0b-9c61-0a5f3b8d2e11"

    /// Text beside an explicit key id does not defeat it: a sealed token that names another key gives none.
    @Test(arguments: [
        "skd://\(unknownKeyID)/0", "skd://\(unknownKeyID):HD", "skd://h/\(unknownKeyID)/HD/7",
        "skd://\(unknownKeyID)?iv=00112233445566778899aabbccddeeff", "skd://h/getckc/movie-1/\(unknownKeyID)",
        "skd://h/\(unknownKeyID)/movie-1?track=HD", "skd://h/x?contentId=movie-1&track=HD&key_id=\(unknownKeyID)",
    ])
    func aSealedTokenGivesNoOtherKey(assetID: String) async throws {
        fixture.shared.keys.use(
            AssetForms(template: .standard, [try AssetForm(parsing: "skd://*/getckc/{content}/{kid}")]))
        let message = try fixture.deviceRequest(.v1, assetID: assetID).message
        for token in [
            try fixture.sealed { $0.contentID = "movie-1" },
            try fixture.sealed { $0.keyID = try KeyID(parsing: "00112233-4455-6677-8899-aabbccddeeff") },
        ] {
            let code = await fixture.issue(message, token: token).failure?.code
            #expect(code == .keyNotFound || code == .contentMismatch)
        }
    }

    /// A form that reads a content from the path still gives only what the token allows.
    @Test func aFormGivesOnlyWhatTheTokenAllows() async throws {
        let message = try fixture.deviceRequest(.v1, assetID: "skd://h/\(Self.unknownKeyID)/license/movie-1").message
        #expect(await fixture.issue(message, token: try fixture.token()).failure?.code == .contentMismatch)
        let forms = try ["skd://*/{content}/*/*", "skd://*/*/license/{content}"].map { try AssetForm(parsing: $0) }
        // What was found by the forms before is forgotten.
        fixture.shared.keys.use(AssetForms(template: .standard, forms))
        let opened = try await fixture.issue(message, token: try fixture.token()).get()
        #expect(opened.key.contentID.text == "movie-1")
        let other = try fixture.token([Right(.content("movie-2"))])
        #expect(await fixture.issue(message, token: other).failure?.code == .contentMismatch)
        fixture.shared.keys.use(.none)
        #expect(await fixture.issue(message, token: try fixture.token()).failure?.code == .contentMismatch)
    }

    /// An explicit key id binds: the only key of the content that stands beside it, or that a sealed token names, is
    /// not given in its place.
    @Test(arguments: [
        "skd://h/x?contentId=movie-1&kid=\(unknownKeyID)", "skd://h/movie-1?kid=\(unknownKeyID)",
        "skd://drmtoday?assetId=movie-1&variantId=&keyId=\(unknownKeyID)", "skd://h/\(unknownKeyID)?cid=movie-1",
    ])
    func givesNoOtherKeyForAnExplicitKeyID(assetID: String) async throws {
        let names = BoundKeyNames(keyIDs: [try KeyID(parsing: Self.unknownKeyID)], content: "movie-1")
        let message = try fixture.deviceRequest(.v1, assetID: assetID).message
        for token in [try fixture.token(), try fixture.sealed { $0.contentID = "movie-1" }] {
            let refusal = await fixture.issue(message, token: token).failure
            #expect(refusal == .boundKeyMissing(names, isNamed: true) && refusal?.code == .keyNotFound)
        }
        // A sender without rights to either name learns nothing.
        let other = await fixture.issue(message, token: try fixture.token([Right(.content("movie-2"))])).failure
        #expect(other == .boundKeyMissing(names, isNamed: false) && other?.code == .contentMismatch)
    }

    /// The same for asset ids that name only the key, when a sealed token names a content or has another key inside.
    @Test(arguments: [unknownKeyID, "skd://h/\(unknownKeyID)", "skd://h/x?kid=\(unknownKeyID)"])
    func givesNoKeyOfItsTokenForAnExplicitKeyID(assetID: String) async throws {
        let names = BoundKeyNames(keyIDs: [try KeyID(parsing: Self.unknownKeyID)], content: "movie-1")
        let message = try fixture.deviceRequest(.v1, assetID: assetID).message
        let titled = try fixture.sealed { $0.contentID = "movie-1" }
        #expect(await fixture.issue(message, token: titled).failure == .boundKeyMissing(names, isNamed: true))
        let stored = try KeyID(parsing: "00112233-4455-6677-8899-aabbccddeeff")
        let keyed = try fixture.sealed { $0.keyID = stored }
        #expect(await fixture.issue(message, token: keyed).failure?.code == .contentMismatch)
        let inside = try fixture.sealed {
            $0.contentKey = try embedded()
            $0.keyID = stored
        }
        guard case .boundKeyMissing(let found, true) = await fixture.issue(message, token: inside).failure else {
            Issue.record("the key inside the token was given")
            return
        }
        #expect(found.keyIDs == names.keyIDs)
        // The same key id as the token's own is no contradiction.
        let right = try fixture.deviceRequest(.v1, assetID: "skd://h/x?kid=\(stored)")
        #expect(try await fixture.issue(right.message, token: inside).get().key.keyID == stored)
        #expect(try await fixture.issue(right.message, token: titled).get().key.keyID == stored)
    }

    @Test func asksTheStoreForRegisteredDevicesAlone() async throws {
        for (isRegisteredOnly, limit) in [(true, UInt32(0)), (false, 3)] {
            let token = try fixture.sealed {
                $0.contentKey = try embedded()
                $0.subject = "player/viewer-7"
                if isRegisteredOnly { $0.isRegisteredOnly = true } else { $0.deviceMaximum = 3 }
            }
            let request = try fixture.deviceRequest(.v1)
            _ = try await fixture.issue(request.message, token: token).get()
            let claim = try #require(store.decisions.last?.devicePlaces.first)
            #expect(claim.limit == limit)
            #expect(claim.keptUntil == LicensingFixture.now + DecisionRecorder.deviceLifeDefault)
        }
        #expect(Set(store.decisions.flatMap(\.devicePlaces).map(\.owner)).count == 1)
    }
}

/// The ledger entries about minted tokens.
@Suite struct MintedTokenTests {
    private static let now: Int64 = 1_800_000_000
    private let store = RecordingStore()

    private func mint(
        perDay: UInt32? = nil, at now: Int64 = now, unused: [UnusedParameter] = [],
        _ adjust: (inout SealedTokenContents) throws -> Void = { _ in }
    ) async throws -> DecisionOutcome {
        var contents = SealedTokenContents(
            tokenID: Bytes16(high: 5, low: 6), issuedAt: now, expiresAt: now + 60)
        contents.contentKey = try EmbeddedContentKey(
            key: SecretBytes(copying: [UInt8](0x80...0x8F)), iv: Bytes16([UInt8](0x90...0x9F), at: 0))
        try adjust(&contents)
        return try await store.recorder().record(
            MintedToken(
                customer: "player", issuer: "customers", contents: contents, unused: unused, perDayMaximum: perDay),
            as: LicenseID(milliseconds: UInt64(now) * 1000, random: .zero), at: now)
    }

    @Test func isOneRowWithoutAKey() async throws {
        let outcome = try await mint(unused: [.rightsType, .useHttps]) {
            $0.cookie = "order-7"
            $0.rental = 7200
        }
        #expect(outcome == .recorded)
        let decision = try #require(store.decisions.first)
        let entry = decision.entry
        #expect(!decision.needsSharedState)
        #expect(entry.kind == .tokenMinted && entry.at == Self.now && entry.until == Self.now + 60)
        #expect(entry.tokenID == "00000000000000050000000000000006" && entry.cookie == "order-7")
        #expect(entry.keyID == KeyID(words: Bytes16(high: 5, low: 6)) && entry.content == nil && entry.rental == 7200)
        #expect(entry.detail == "unused rights,https; player")
        #expect(try LedgerEntry(parsing: entry.encoded()) == entry.bounded)
    }

    @Test func countsTheTokensOfADay() async throws {
        let midnight = Self.now - Self.now % 86_400
        for time in [midnight, midnight + 86_399, midnight + 86_400] { _ = try await mint(perDay: 9, at: time) }
        let uses = store.decisions.compactMap(\.tokenUse)
        #expect(uses.map(\.limit) == [9, 9, 9])
        #expect(uses[0].token == uses[1].token && uses[1].token != uses[2].token)
        #expect(uses.map(\.keptUntil) == [midnight + 86_400, midnight + 86_400, midnight + 2 * 86_400])
        store.answer(with: .success(.denied(.tokenUsed(limit: 9))))
        #expect(try await mint(perDay: 9) == .denied(.tokenUsed(limit: 9)))
    }

    @Test func isNotMadeWhereItCannotBeRecorded() async throws {
        store.answer(with: .failure(.unavailable(.diskFull)))
        await #expect(throws: LicenseError.store(.unavailable(.diskFull))) { try await mint() }
    }
}
