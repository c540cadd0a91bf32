import ByteCoding
import ContentKeys
import DeviceSimulation
import Entitlements
import FairPlay
import KeyCrypto
import Licensing
import TestSupport
import Testing

/// The terms for a device that wants to keep a key, from the right to the blocks of the CKC.
@Suite struct OfflineLicenseTests {
    private static let capable: Capabilities = [.hdcpEnforcement, .offlineKey, .offlineKeyVersion2]

    private func issue(
        _ right: Right, capabilities: Capabilities?, hasState: Bool = true, policy: LicensePolicy = LicensePolicy()
    ) async throws -> Result<OpenedLicense, LicenseError> {
        let fixture = try LicensingFixture(policy: policy)
        let request = try fixture.deviceRequest(.v2) { options in
            options.capabilities = capabilities
            if !hasState { options.playbackState = nil }
        }
        let issued = await fixture.issue(request.message, token: try fixture.token([right]), for: .offline)
        return try issued.withValue { try CKCOpener(secrets: request.secrets, using: CryptoContext()).open($0.ckc) }
    }

    private static func seconds(_ value: UInt64) -> LicenseSeconds? { LicenseSeconds(value) }

    private static let keyID = Bytes16(high: 0x0011_2233_4455_6677, low: 0x8899_AABB_CCDD_EEFF)

    @Test func namesKeyAndTitleToANewDevice() async throws {
        let right = Right(.content("movie-1"), mode: .both, storage: 604_800, playback: 172_800)
        let opened = try await issue(right, capabilities: Self.capable).get()
        guard case .offlineKey(let key) = opened.terms.validity, case .version2(let stream, let title) = key.name else {
            Issue.record("no offline key of version 2: \(opened.terms.validity)")
            return
        }
        #expect(key.storage == Self.seconds(604_800) && key.playback == Self.seconds(172_800))
        #expect(stream == Self.keyID)
        #expect(title != stream && title != .zero)
        #expect(opened.contentKey.bytes.revealed() == LicensingFixture.key)
    }

    @Test func namesTheKeyToAnOlderDevice() async throws {
        let right = Right(.content("movie-1"), mode: .offline, storage: 600)
        let opened = try await issue(right, capabilities: [.offlineKey]).get()
        let name = OfflineKey.Name.version1(contentID: Self.keyID)
        #expect(
            opened.terms.validity == .offlineKey(OfflineKey(name, storage: Self.seconds(600), playback: nil)))
    }

    /// A device that does not support offline keys has a single end. It may come early, but never late.
    @Test func givesAnOldDeviceAPersistentKey() async throws {
        let limited = Right(.content("movie-1"), mode: .offline, storage: 600)
        #expect(
            try await issue(limited, capabilities: []).get().terms.validity
                == .duration(.persistentLimited(try #require(Self.seconds(600)))))
        let unlimited = Right(.content("movie-1"), mode: .offline)
        #expect(try await issue(unlimited, capabilities: nil).get().terms.validity == .duration(.persistent))
    }

    @Test func refusesWhatAnOldDeviceCannotBeTold() async throws {
        let dual = Right(.content("movie-1"), mode: .offline, storage: 600, playback: 60)
        #expect(
            try await issue(dual, capabilities: []).failure == .terms(.dualExpiryUnsupported, of: .storageAndPlayback))
        #expect(
            try await issue(dual, capabilities: nil).failure == .terms(.dualExpiryUnsupported, of: .storageAndPlayback))
        let single = Right(.content("movie-1"), mode: .offline, storage: 600)
        #expect(
            try await issue(single, capabilities: [], hasState: false).failure
                == .terms(.durationNeedsPlaybackState, of: .storage))
    }

    private static let ends = [
        Right(.content("movie-1"), end: LicensingFixture.now + 1_001, mode: .offline),
        Right(.content("movie-1"), duration: 1_001, mode: .both),
    ]

    /// Two halves would end an unplayed key at half of the time.
    @Test(arguments: ends, [Self.capable, [.offlineKey], []])
    func tellsEveryDeviceAHardEndExactly(right: Right, capabilities: Capabilities) async throws {
        let opened = try await issue(right, capabilities: capabilities).get()
        #expect(opened.terms.validity == .duration(.persistentLimited(try #require(Self.seconds(1_001)))))
    }

    /// Only an offline key can be reported and invalidated, so an operator may want the hard end in its two expiries.
    /// A device that sent no playback state takes no persistent key with an end.
    @Test(arguments: ends, [true, false])
    func sharesAHardEndBetweenTheTwoExpiriesOfAnOfflineKey(right: Right, splits: Bool) async throws {
        var policy = LicensePolicy()
        policy.device.splitsHardEnds = splits
        let name = OfflineKey.Name.version1(contentID: Self.keyID)
        let opened = try await issue(right, capabilities: [.offlineKey], hasState: splits, policy: policy).get()
        #expect(
            opened.terms.validity
                == .offlineKey(OfflineKey(name, storage: Self.seconds(501), playback: Self.seconds(500))))
        let newer = try await issue(right, capabilities: Self.capable, hasState: splits, policy: policy).get()
        guard case .offlineKey(let key) = newer.terms.validity, case .version2 = key.name else {
            Issue.record("no offline key of version 2: \(newer.terms.validity)")
            return
        }
        #expect(key.storage == Self.seconds(501) && key.playback == Self.seconds(500))
    }

    @Test(arguments: ends)
    func tellsAHardEndExactlyToADeviceWithoutOfflineKeys(right: Right) async throws {
        var policy = LicensePolicy()
        policy.device.splitsHardEnds = true
        #expect(
            try await issue(right, capabilities: [], policy: policy).get().terms.validity
                == .duration(.persistentLimited(try #require(Self.seconds(1_001)))))
        #expect(
            try await issue(right, capabilities: [], hasState: false).failure
                == .terms(.durationNeedsPlaybackState, of: .end))
    }

    /// An expiry of 0 would mean no expiry.
    @Test func doesNotHalveASingleSecond() async throws {
        var policy = LicensePolicy()
        policy.device.splitsHardEnds = true
        let right = Right(.content("movie-1"), duration: 1, mode: .both)
        #expect(
            try await issue(right, capabilities: Self.capable, policy: policy).get().terms.validity
                == .duration(.persistentLimited(try #require(Self.seconds(1)))))
        #expect(
            try await issue(right, capabilities: Self.capable, hasState: false).failure
                == .terms(.durationNeedsPlaybackState, of: .end))
    }

    @Test func refusesOfflineUseThatTheRightDoesNotGrant() async throws {
        let streaming = Right(.content("movie-1"))
        #expect(
            try await issue(streaming, capabilities: Self.capable).failure == .entitlement(.offlineNotGranted))
        let leased = Right(.content("movie-1"), lease: 60, mode: .both)
        #expect(
            try await issue(leased, capabilities: Self.capable).failure == .entitlement(.offlineOutlivesLease))
    }
}
