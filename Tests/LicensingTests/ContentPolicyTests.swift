import ByteCoding
import ContentKeys
import DeviceSimulation
import Entitlements
import FairPlay
import KeyCrypto
import Licensing
import TestSupport
import Testing

/// What a license demands of the device: the strictest of content policy, key and right. A device that cannot meet this
/// is refused.
@Suite struct ContentPolicyTests {
    private static let everything: Capabilities = [.hdcpEnforcement, .securityLevelBaseline, .securityLevelMain]

    private func terms(
        _ track: Track, right: Right = Right(.content("movie-1")), capabilities: Capabilities? = everything,
        denyListVersion: UInt32? = nil, policy: LicensePolicy = LicensePolicy(),
        _ adjust: (inout ContentKeyAttributes) -> Void = { _ in }
    ) async throws -> Result<LicenseTerms, LicenseError> {
        let fixture = try LicensingFixture(track: track, policy: policy, adjust)
        let request = try fixture.deviceRequest(.v2) { options in
            options.capabilities = capabilities
            options.denyListVersion = denyListVersion
        }
        let issued = await fixture.issue(request.message, token: try fixture.token([right]))
        return try issued.withValue { license in
            let opened = try CKCOpener(secrets: request.secrets, using: CryptoContext()).open(license.ckc).terms
            #expect(opened == license.terms)
            return opened
        }
    }

    /// The table of protocol section 4.6.
    @Test(
        arguments: [
            (.audio, .audio, nil), (.sd, .baseline, nil), (.hd, .baseline, .type0), (.uhd, .main, .type1),
        ] as [(ContentType, SecurityLevel, HDCPLevel?)])
    func demandsWhatTheTableSays(type: ContentType, level: SecurityLevel, hdcp: HDCPLevel?) async throws {
        let terms = try await terms(Track(type)).get()
        #expect(terms.securityLevel == level)
        #expect(terms.hdcp == hdcp)
    }

    @Test func treatsAKeyWithoutALabelAsSD() async throws {
        #expect(try await terms(.unlabelled).get().securityLevel == .baseline)
    }

    @Test func noTokenLoosensAFloor() async throws {
        let lax = Right(.content("movie-1"), hdcp: .notRequired, minimumLevel: .audio)
        let uhd = try await terms(Track(.uhd), right: lax).get()
        #expect(uhd.hdcp == .type1 && uhd.securityLevel == .main)
        let key = try await terms(Track(.audio), right: lax) { key in
            key.leastHDCP = .type0
            key.leastSecurityLevel = .main
        }.get()
        #expect(key.hdcp == .type0 && key.securityLevel == .main)
    }

    @Test func aTokenTightens() async throws {
        let strict = Right(.content("movie-1"), hdcp: .type1, minimumLevel: .main)
        let audio = try await terms(Track(.audio), right: strict).get()
        #expect(audio.hdcp == .type1 && audio.securityLevel == .main)
        let perTrack = Right(
            .content("movie-1"), tracks: ["HD": Protection(hdcp: .type1), "SD": Protection(securityLevel: .main)])
        #expect(try await terms(Track(.hd), right: perTrack).get().hdcp == .type1)
        #expect(try await terms(Track(.audio), right: perTrack).get().hdcp == nil)
        #expect(try await terms(.unlabelled, right: perTrack).get().securityLevel == .main)
    }

    /// A key whose lowest HDCP level is "none" does not switch HDCP off. Only a right can do so, if neither the key nor
    /// the policy demands more.
    @Test func onlyARightSwitchesHDCPOff() async throws {
        #expect(try await terms(Track(.sd)) { $0.leastHDCP = .notRequired }.get().hdcp == nil)
        let off = Right(.content("movie-1"), hdcp: .notRequired)
        #expect(try await terms(Track(.sd), right: off).get().hdcp == HDCPLevel.none)
        #expect(try await terms(Track(.hd), right: off).get().hdcp == .type0)
    }

    @Test func refusesADeviceBelowTheLevel() async throws {
        let baseline: Capabilities = [.hdcpEnforcement, .securityLevelBaseline]
        #expect(
            try await terms(Track(.uhd), capabilities: baseline).failure
                == .terms(.securityLevelTooLow(required: .main, device: .baseline)))
        #expect(try await terms(Track(.hd), capabilities: baseline).failure == nil)
        // An old device that does not tell its security level is not known to be too weak.
        #expect(try await terms(Track(.uhd), capabilities: [.hdcpEnforcement]).failure == nil)
        #expect(try await terms(Track(.uhd), capabilities: nil).failure == .terms(.hdcpTypeUnsupported))
    }

    /// The guide reduces the level of a device on an old deny list to Baseline. A setting refuses such devices instead.
    @Test func degradesAnOldDenyList() async throws {
        #expect(
            try await terms(Track(.uhd), denyListVersion: 30).failure
                == .terms(.securityLevelTooLow(required: .main, device: .baseline)))
        #expect(try await terms(Track(.uhd), denyListVersion: 31).failure == nil)
        #expect(try await terms(Track(.hd), denyListVersion: 30).failure == nil)
        var policy = LicensePolicy()
        policy.device.refusesOldDenyLists = true
        #expect(
            try await terms(Track(.hd), denyListVersion: 30, policy: policy).failure
                == .terms(.denyListOutdated(version: 30)))
    }

    @Test func followsAReplacedTable() async throws {
        var policy = LicensePolicy()
        policy.content.sd = ContentPolicy(securityLevel: .main, leastHDCP: .type0)
        let terms = try await terms(Track(.sd), policy: policy).get()
        #expect(terms.securityLevel == .main && terms.hdcp == .type0)
    }
}
