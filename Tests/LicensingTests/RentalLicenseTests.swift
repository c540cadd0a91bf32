import ByteCoding
import ContentKeys
import DeviceSimulation
import Entitlements
import FairPlay
import KeyCrypto
import Records
import Synchronization
import TestSupport
import Testing

@testable import Licensing

/// Rentals that the store remembers, through the whole pipeline: with a store that decides by the rules, and with
/// stores that are unavailable.
@Suite struct RentalLicenseTests {
    private static let now = LicensingFixture.now
    private static let hour: Int64 = 3600

    private let store = MemoryDecisionStore()
    private let fixture: LicensingFixture

    init() throws {
        fixture = try LicensingFixture(recorder: store.recorder(), sessions: LicensingFixture.sessions())
    }

    private static func rental(
        finish: Bool = true, mode: Right.Mode = .stream, hasLease: Bool = true
    ) -> [Right] {
        var right = Right(.content("movie-1"), lease: mode == .stream && hasLease ? 300 : nil, mode: mode)
        right.rental = RentalTerms(start: 30 * 86_400, play: 48 * hour, finish: finish)
        return [right]
    }

    private func message(_ state: PlaybackState, session: UInt64 = 7, device: UInt8 = 1) throws -> [UInt8] {
        try fixture.deviceRequest(.v1) {
            $0.deviceID = DeviceID([UInt8](repeating: device, count: 20))
            $0.playbackState = MediaPlaybackState(createdAt: 1, state: state, sessionID: session)
        }.message
    }

    /// Asks for a license with a token that was made at this moment.
    private func ask(
        _ state: PlaybackState = .readyToStart, device: UInt8 = 1, subject: String = "viewer-1", finish: Bool = true,
        hasLease: Bool = true, at time: Int64 = 0
    ) async throws -> Result<IssuedLicense, LicenseError> {
        let rights = Self.rental(finish: finish, hasLease: hasLease)
        return await fixture.issue(
            try message(state, device: device),
            token: try fixture.token(rights, expiresIn: 40 * 86_400, subject: subject), now: Self.now + time)
    }

    private func renew(_ license: IssuedLicense, at time: Int64) async throws -> Result<IssuedLicense, LicenseError> {
        await fixture.issue(
            try message(.leaseExpiring), token: Array(try #require(license.sessionToken).utf8), now: Self.now + time)
    }

    @Test func aReadyPlayerDoesNotBeginTheRentalAndAPlayingOneDoes() async throws {
        let ready = try await ask().get()
        #expect(ready.terms.rental?.value == UInt32(30 * 24 * Self.hour))
        let later = try await ask(at: 86_400).get()
        #expect(later.terms.rental?.value == UInt32(29 * 24 * Self.hour))
        let playing = try await ask(.playing, at: 2 * 86_400).get()
        #expect(playing.terms.rental?.value == UInt32(48 * Self.hour))
        // Another device, and the same one after a reinstall.
        for device in [1, 2] as [UInt8] {
            let again = try await ask(device: device, at: 2 * 86_400 + 47 * Self.hour).get()
            #expect(again.terms.rental?.value == UInt32(Self.hour))
        }
        #expect(try await ask(at: 2 * 86_400 + 48 * Self.hour).failure == .entitlement(.rightEnded))
        #expect(try await ask(subject: "viewer-2", at: 2 * 86_400 + 48 * Self.hour).failure == nil)
    }

    @Test func aRenewalIsAPlay() async throws {
        let ready = try await ask().get()
        _ = try await renew(ready, at: 200).get()
        #expect(try await ask(device: 2, at: 200 + Self.hour).get().terms.rental?.value == UInt32(47 * Self.hour))
    }

    @Test func aFilmThatRunsIsNotCut() async throws {
        var license = try await ask(.playing).get()
        license = try await ask(at: 48 * Self.hour - 200).get()
        for step in 0..<20 as Range<Int64> {
            license = try await renew(license, at: 48 * Self.hour + step * 200).get()
            #expect(license.terms.lease?.value == 300 && license.terms.rental == nil)
        }
        #expect(try await ask(at: 48 * Self.hour + 100).failure == .entitlement(.rightEnded))
    }

    @Test func withoutFinishAFilmThatRunsIsCut() async throws {
        _ = try await ask(.playing, finish: false).get()
        let last = try await ask(finish: false, at: 48 * Self.hour - 350).get()
        let cut = try await renew(last, at: 48 * Self.hour - 100).get()
        #expect(cut.terms.lease?.value == 100 && cut.sessionToken == nil)
        #expect(try await renew(last, at: 48 * Self.hour).failure != nil)
    }

    /// A viewer who watches for two hours each evening, and whose player never renews and never reports a play.
    @Test(arguments: [false, true])
    func withoutALeaseTheFirstLicenseBeginsTheRental(finish: Bool) async throws {
        for (evening, left) in [(0, 48), (24, 24), (47, 1)] as [(Int64, Int64)] {
            let license = try await ask(finish: finish, hasLease: false, at: evening * Self.hour).get()
            #expect(license.terms.rental?.value == UInt32(left * Self.hour))
            #expect(license.terms.lease?.value == (finish ? nil : UInt32(left * Self.hour)))
        }
        for device in [1, 2] as [UInt8] {
            let late = try await ask(device: device, finish: finish, hasLease: false, at: 48 * Self.hour)
            #expect(late.failure == .entitlement(.rightEnded))
        }
    }

    @Test func aRepeatOfTheFirstLicenseWithoutALeaseIsNoOtherLicense() async throws {
        let request = try message(.readyToStart)
        let token = try fixture.token(Self.rental(finish: false, hasLease: false), subject: "viewer-1")
        let first = try await fixture.issue(request, token: token).get()
        let again = try await fixture.issue(request, token: token, now: Self.now + 60).get()
        #expect(again.id == first.id && store.entries.count == 1)
    }

    @Test func anOfflineLicenseBeginsTheRental() async throws {
        let token = try fixture.token(Self.rental(mode: .both), expiresIn: 40 * 86_400, subject: "viewer-1")
        let first = try await fixture.issue(message(.readyToStart), token: token, for: .offline).get()
        #expect(first.times.expiresAt == Self.now + 48 * Self.hour)
        let second = try await fixture.issue(
            message(.readyToStart, device: 2), token: token, for: .offline, now: Self.now + Self.hour
        ).get()
        #expect(second.times.expiresAt == first.times.expiresAt)
    }

    /// Of many concurrent first plays one counts as the first, and every license ends with it.
    @Test func manyFirstPlaysAtOnceAreOne() async throws {
        let messages = try (1...40).map { try message(.playing, device: UInt8($0)) }
        let token = try fixture.token(Self.rental(finish: false), expiresIn: 40 * 86_400, subject: "viewer-1")
        let ends = try await withThrowingTaskGroup(of: Int64.self) { [fixture] group in
            for (index, message) in messages.enumerated() {
                group.addTask {
                    let now = Self.now + Int64(index)
                    let license = try await fixture.issue(message, token: token, now: now).get()
                    return now + Int64(try #require(license.terms.rental?.value))
                }
            }
            return try await group.reduce(into: Set<Int64>()) { $0.insert($1) }
        }
        #expect(ends.count == 1)
    }

    @Test func theSameRequestAgainGetsWhatRemains() async throws {
        let request = try message(.playing)
        let token = try fixture.token(Self.rental(), subject: "viewer-1")
        let first = try await fixture.issue(request, token: token).get()
        let again = try await fixture.issue(request, token: token, now: Self.now + 60).get()
        #expect(again.id == first.id && store.entries.count == 1)
    }
}
