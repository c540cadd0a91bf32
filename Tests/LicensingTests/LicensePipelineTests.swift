import ByteCoding
import ContentKeys
import DeviceSimulation
import Entitlements
import FairPlay
import KeyCrypto
import Licensing
import TestSupport
import Testing

@Suite struct LicensePipelineTests {
    private let fixture: LicensingFixture

    init() throws {
        fixture = try LicensingFixture()
    }

    private func open(_ license: IssuedLicense, _ request: DeviceRequest) throws -> OpenedLicense {
        try CKCOpener(secrets: request.secrets, using: CryptoContext()).open(license.ckc)
    }

    @Test(arguments: [SPCVersion.v1, .v2])
    func issuesTheStoredKey(version: SPCVersion) async throws {
        let request = try fixture.deviceRequest(version)
        let license = try await fixture.issue(request.message, token: fixture.token()).get()
        let opened = try open(license, request)
        #expect(opened.contentKey.bytes.revealed() == LicensingFixture.key)
        #expect(opened.contentIV.bytes == LicensingFixture.iv)
        #expect(opened.terms == LicenseTerms(securityLevel: .baseline))
        #expect(license.key.contentID.text == "movie-1")
    }

    @Test func limitsTheLicenseAsTheRightSays() async throws {
        let rights = [Right(.content("movie-1"), duration: 3600, lease: 120, hdcp: .type0)]
        let request = try fixture.deviceRequest(.v1)
        let license = try await fixture.issue(request.message, token: fixture.token(rights)).get()
        let terms = try open(license, request).terms
        #expect(terms.lease?.value == 120)
        #expect(terms.rental?.value == 3600)
        #expect(terms.hdcp == .type0)
    }

    @Test func refusesLimitsThatTheDeviceCannotBeTold() async throws {
        let leased = try fixture.token([Right(.content("movie-1"), lease: 120)])
        let stateless = try fixture.deviceRequest(.v1, hasState: false)
        #expect(
            await fixture.issue(stateless.message, token: leased).failure
                == .terms(.durationNeedsPlaybackState, of: .lease))
        let protected = try fixture.token([Right(.content("movie-1"), hdcp: .type1)])
        let incapable = try fixture.deviceRequest(.v1)
        #expect(await fixture.issue(incapable.message, token: protected).failure == .terms(.hdcpTypeUnsupported))
    }

    /// The backend itself counts its RSA operations. The count stays the same for every refused token, and rises for a
    /// good one.
    @Test func buysRSAOnlyWithAVerifiedToken() async throws {
        let request = try fixture.deviceRequest(.v1)
        let good = try fixture.token()
        let tampered = good.changingDigit(beforeLast: 4)
        let refused: [(token: [UInt8]?, code: String)] = [
            (nil, "token_missing"),
            (Array("not.a.token".utf8), "token_malformed"),
            (tampered, "token_signature"),
            (try fixture.token(expiresIn: -60), "token_expired"),
            (try fixture.token(keyID: "other"), "kid_unknown"),
        ]
        for (token, code) in refused {
            let failure = await fixture.issue(request.message, token: token).failure
            #expect(failure.map(Self.code) == code)
            #expect(fixture.operations.value == 0)
        }
        _ = try await fixture.issue(request.message, token: good).get()
        #expect(fixture.operations.value == 1)
    }

    private static func code(of error: LicenseError) -> String {
        switch error {
        case .tokenMissing: "token_missing"
        case .entitlement(let error): error.code
        case .spc, .contentUnknown, .hintMismatch, .keyNotFound, .keyAmbiguous, .boundKeyMissing, .schemeNotPlayed,
            .periodNotServed, .store, .keyStore, .denied, .terms, .challengeNotOpen, .module, .internalFailure,
            .entitlementDenied, .entitlementUnavailable, .rateLimited, .overloaded, .clockUntrusted:
            "\(error)"
        }
    }

    @Test func refusesOtherContentAfterTheSPCIsOpened() async throws {
        let request = try fixture.deviceRequest(.v1)
        let other = try fixture.token([Right(.content("movie-2"))])
        #expect(await fixture.issue(request.message, token: other).failure == .entitlement(.contentNotCovered))
    }

    @Test func tellsOnlyTheHolderThatAKeyIsMissing() async throws {
        let request = try fixture.deviceRequest(.v1, assetID: "movie-9")
        #expect(
            await fixture.issue(request.message, token: try fixture.token()).failure == .contentUnknown)
        let holder = try fixture.token([Right(.content("movie-9"))])
        #expect(await fixture.issue(request.message, token: holder).failure == .keyNotFound)
    }

    /// A sender without rights to the content gets the same refusal as for an asset without a key.
    @Test func tellsOnlyTheHolderThatSeveralKeysFit() async throws {
        let fixture = try LicensingFixture(source: { SeveralKeysOfOneContent(contentID: $0.contentID) })
        let request = try fixture.deviceRequest(.v1)
        let told = await fixture.issue(request.message, token: try fixture.token()).failure
        #expect(told == .keyAmbiguous && told?.code == .keyNotFound)
        let other = try fixture.token([Right(.content("movie-2"))])
        #expect(await fixture.issue(request.message, token: other).failure == .contentUnknown)
    }

    /// FairPlay supports two schemes. A request for a key of another scheme is not recorded and not counted.
    @Test(arguments: EncryptionScheme.allCases)
    func issuesNoKeyOfAnotherScheme(scheme: EncryptionScheme) async throws {
        let store = RecordingStore()
        let fixture = try LicensingFixture(recorder: store.recorder(), { $0.scheme = scheme })
        let names = ["movie-1", "00112233-4455-6677-8899-aabbccddeeff"]
        let tokens = try [
            fixture.token([Right(.content("movie-1"))]), fixture.token([Right(.contentPrefix("movie-"))]),
            fixture.token([Right(.content("movie-2"))]),
        ]
        for name in names {
            let message = try fixture.deviceRequest(.v1, assetID: name).message
            var outcomes: [Result<IssuedLicense, LicenseError>] = []
            for token in tokens { outcomes.append(await fixture.issue(message, token: token)) }
            if [.cbcs, .sampleAES].contains(scheme) {
                _ = try outcomes[0].get()
                _ = try outcomes[1].get()
                #expect(outcomes[2].failure == .entitlement(.contentNotCovered))
            } else {
                let failures = outcomes.map(\.failure)
                #expect(failures[0] == .schemeNotPlayed(scheme, isNamed: true))
                #expect(failures[1] == .schemeNotPlayed(scheme, isNamed: true))
                #expect(failures[2] == .schemeNotPlayed(scheme, isNamed: false))
                #expect(failures.map(\.?.code) == [.keyNotFound, .keyNotFound, .contentMismatch])
                #expect(failures[0]?.cause.text.contains("scheme \(scheme.rawValue)") == true)
                #expect(store.decisions.isEmpty)
            }
        }
    }

    @Test(arguments: [
        "00112233-4455-6677-8899-AABBCCDDEEFF", "00112233445566778899aabbccddeeff",
        "skd://00112233-4455-6677-8899-aabbccddeeff", "skd://movie-1",
    ])
    func findsTheKeyByEverySpelling(assetID: String) async throws {
        let request = try fixture.deviceRequest(.v1, assetID: assetID)
        let license = try await fixture.issue(request.message, token: fixture.token()).get()
        #expect(try open(license, request).contentKey.bytes.revealed() == LicensingFixture.key)
    }

    /// Many concurrent requests on two loops: each one gets the key for its own device.
    @Test func answersManyAtOnce() async throws {
        let fixture = try LicensingFixture(loopCount: 2)
        let token = try fixture.token()
        let requests = try (0..<40).map { try fixture.deviceRequest($0 % 4 == 0 ? .v2 : .v1) }
        let crypto = try CryptoContext()
        let answers = await withTaskGroup(of: (Int, Result<IssuedLicense, LicenseError>).self) { group in
            for (index, request) in requests.enumerated() {
                group.addTask { (index, await fixture.issue(request.message, token: token, loopIndex: index % 2)) }
            }
            return await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
        }
        for (index, request) in requests.enumerated() {
            let license = try #require(answers[index]).get()
            let opened = try CKCOpener(secrets: request.secrets, using: crypto).open(license.ckc)
            #expect(opened.contentKey.bytes.revealed() == LicensingFixture.key)
        }
        #expect(fixture.operations.value == 40)
    }
}

extension Result {
    /// Combines the value with another value, whose computation may throw.
    func withValue<Other>(_ transform: (Success) throws -> Other) throws -> Result<Other, Failure> {
        switch self {
        case .success(let value): .success(try transform(value))
        case .failure(let error): .failure(error)
        }
    }

    /// The error, or nil after a success. For expectations.
    var failure: Failure? {
        switch self {
        case .success: nil
        case .failure(let error): error
        }
    }
}
