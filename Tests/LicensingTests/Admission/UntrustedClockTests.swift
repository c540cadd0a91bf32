import DeviceSimulation
import Entitlements
import FairPlay
import Records
import Telemetry
import TestSupport
import Testing

@testable import Licensing

/// Which requests are served while the wall clock is behind: renewals by session tokens, but nothing new (architecture,
/// "Trusted time").
@Suite struct UntrustedClockTests {
    private static let leased = [Right(.content("movie-1"), lease: 300)]

    private let store = MemoryDecisionStore()
    private let clock = ManualClock(wallTime: WallTime(seconds: LicensingFixture.now))
    private let trusted: TrustedClock
    private let fixture: LicensingFixture

    init() throws {
        trusted = TrustedClock(
            .init(stepTolerance: .seconds(30), settleTime: .seconds(3600), leeway: .seconds(5)), wall: clock,
            boot: clock)
        trusted.start(nil)
        fixture = try LicensingFixture(
            recorder: store.recorder(), sessions: LicensingFixture.sessions(), trustedClock: trusted)
    }

    private func step(_ seconds: Int64) {
        clock.setWallTime(WallTime(seconds: clock.wallTime.seconds + seconds))
    }

    private func message(_ state: PlaybackState) throws -> [UInt8] {
        try fixture.deviceRequest(.v1) {
            $0.deviceID = DeviceID([UInt8](repeating: 1, count: 20))
            $0.playbackState = MediaPlaybackState(createdAt: 1, state: state, sessionID: 7)
        }.message
    }

    /// Asks for a license at the time that endpoints use.
    private func ask(_ state: PlaybackState, token: [UInt8]) async throws -> Result<IssuedLicense, LicenseError> {
        await fixture.issue(try message(state), token: token, now: trusted.wallTime.seconds)
    }

    @Test(arguments: [-6, -10, -7200, -25 * 365 * 86_400])
    func servesRenewalsAndNothingNew(seconds: Int64) async throws {
        let token = try fixture.token(Self.leased)
        let first = try await ask(.readyToStart, token: token).get()
        step(seconds)
        #expect(try await ask(.readyToStart, token: token).failure == .clockUntrusted)
        #expect(try await ask(.leaseExpiring, token: token).failure == .clockUntrusted, "the entitlement's own token")
        let renewed = try await ask(.leaseExpiring, token: Array(#require(first.sessionToken).utf8)).get()
        #expect(store.entries.last?.license == renewed.id)
        step(-seconds)
        #expect(try await ask(.readyToStart, token: token).failure == nil)
    }

    @Test(arguments: [-5, 5, 600, 60 * 86_400])
    func givesLicensesIfTheClockIsNotBehindByMoreThanTheLeeway(seconds: Int64) async throws {
        let token = try fixture.token(Self.leased, expiresIn: 100 * 86_400)
        step(seconds)
        #expect(try await ask(.readyToStart, token: token).failure == nil)
    }

    /// The client keeps its token, and tries again.
    @Test func saysNothingOfTheTokensTimesWhileTheClockIsInDoubt() async throws {
        let token = try fixture.token(Self.leased, expiresIn: -60)
        guard case .entitlement(.tokenExpired) = try await ask(.readyToStart, token: token).failure else {
            Issue.record("an expired token was not refused, although the clock is trusted")
            return
        }
        step(-7200)
        #expect(try await ask(.readyToStart, token: token).failure == .clockUntrusted)
    }

    /// A clock that was 60 days ahead once lifted revocations that had an end.
    @Test func aClockAheadLiftsNoRevocation() async throws {
        var view = RevocationView()
        view.revoke(.subject, "viewer-1", of: "portal", until: LicensingFixture.now + 100)
        fixture.shared.revocations.replace(with: view)
        let token = try fixture.token(Self.leased, expiresIn: 100 * 86_400, subject: "viewer-1")
        step(60 * 86_400)
        #expect(try await ask(.readyToStart, token: token).failure == .entitlement(.subjectDisabled))
        step(-60 * 86_400)
        clock.advance(by: .seconds(100))
        #expect(try await ask(.readyToStart, token: token).failure == nil)
    }

    /// Changes each digit of the signature but the last, which contains only two bits of the signature.
    @Test(arguments: 1...85)
    func refusesABadSignatureAsAlways(distance: Int) async throws {
        step(-7200)
        let token = try fixture.token(Self.leased).changingDigit(beforeLast: distance)
        #expect(try await ask(.readyToStart, token: token).failure == .entitlement(.signatureInvalid))
    }
}
