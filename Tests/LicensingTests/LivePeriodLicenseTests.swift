import ByteCoding
import ContentKeys
import DeviceSimulation
import Entitlements
import EventLoops
import FairPlay
import KeyCrypto
import Licensing
import Telemetry
import TestSupport
import Testing

/// A source that gives the same periods for every content.
private struct ToldPeriods: LivePeriodSource {
    let live: LivePeriods?

    func livePeriods(of contentID: ContentID) async throws(StoreError) -> LivePeriods? { live }
}

/// Which periods of a live content get licenses, tested through the whole pipeline.
@Suite struct LivePeriodLicenseTests {
    /// Returns a live content whose current period is 10.
    private static func live(window: UInt32, length: Int64 = 3_600) throws -> LivePeriods {
        let schedule = PeriodSchedule(
            firstIndex: 10, firstStart: LicensingFixture.now - 5, length: length, tracks: [PeriodTrack(.unlabelled)])
        #expect(schedule != nil)
        return LivePeriods(LiveContent(try ContentID("movie-1"), window: window, schedule: schedule))
    }

    private func fixture(
        period: UInt32?, _ live: LivePeriods?, trustedClock: TrustedClock? = nil
    ) throws -> LicensingFixture {
        try LicensingFixture(
            trustedClock: trustedClock, livePeriods: RecentLivePeriods(source: ToldPeriods(live: live))
        ) { $0.periodIndex = period }
    }

    private func failure(
        _ fixture: LicensingFixture, rights: [Right] = [Right(.content("movie-1"))]
    ) async throws -> LicenseError? {
        let message = try fixture.deviceRequest(.v1).message
        return await fixture.issue(message, token: try fixture.token(rights)).failure
    }

    @Test(
        arguments: [
            (8, 0, false), (9, 0, true), (10, 0, true), (11, 0, true), (12, 0, false), (5, 4, false), (6, 4, true),
            (9, 4, true), (11, 4, true), (12, 4, false),
        ] as [(UInt32, UInt32, Bool)])
    func servesTheWindowAndTheNextPeriod(period: UInt32, window: UInt32, isServed: Bool) async throws {
        let fixture = try fixture(period: period, Self.live(window: window))
        let failure = try await failure(fixture)
        guard !isServed else {
            #expect(failure == nil)
            return
        }
        let refusal = PeriodRefusal(
            contentID: try ContentID("movie-1"), period: period, reason: period < 10 ? .past : .future, current: 10,
            window: window)
        #expect(failure == .periodNotServed(refusal))
        #expect(failure?.code == .keyNotFound && failure?.retryAfterSeconds == nil)
        #expect(failure?.cause.text == refusal.description)
    }

    @Test func servesEveryPeriodUnlessTheContentRotates() async throws {
        for period in [0, 3, UInt32.max] {
            #expect(try await failure(fixture(period: period, nil)) == nil)
        }
        #expect(try await failure(fixture(period: nil, Self.live(window: 0))) == nil)
    }

    /// Only a client with rights to the content learns anything about its periods.
    @Test func tellsStrangersNothingOfPeriods() async throws {
        let fixture = try fixture(period: 3, Self.live(window: 0))
        let other = try await failure(fixture, rights: [Right(.content("movie-2"))])
        #expect(other == .entitlement(.contentNotCovered))
    }

    /// After a step of the clock, the periods of both possible times are served, so that no viewer is cut off.
    @Test(arguments: [-7_200, 7_200] as [Int64])
    func servesByBothTimesAfterAStep(step: Int64) async throws {
        let (wall, boot) = (ManualClock(wallTime: WallTime(seconds: LicensingFixture.now)), ManualClock())
        let clock = TrustedClock(
            .init(stepTolerance: .seconds(30), settleTime: .seconds(3_600), leeway: .seconds(5)), wall: wall,
            boot: boot)
        let known = LicensingFixture.now * 1_000_000_000
        clock.start(.init(settled: known, reference: known))
        wall.setWallTime(WallTime(seconds: LicensingFixture.now + step))
        let live = try Self.live(window: 0)
        let times = clock.possibleTimes
        // The settled time stays in the range. A clock that goes back takes the lower bound with it.
        #expect(times.contains(LicensingFixture.now))
        #expect(times.lowerBound == LicensingFixture.now + min(0, step))
        #expect(times.upperBound == LicensingFixture.now + max(0, step))
        let served = try #require(live.window(at: times)).served
        for period in [9, 10, 11] as [Int64] { #expect(served.contains(period)) }
        // The explanation is tested here, because a clock that is behind gives no new license at all.
        for period in [9, 10, 11] as [UInt32] {
            let fixture = try fixture(period: period, live, trustedClock: clock)
            #expect(try await explained(fixture) == nil)
        }
    }

    @Test func explainsWhyAPeriodIsNotServed() async throws {
        let fixture = try fixture(period: 3, Self.live(window: 4))
        let refusal = try #require(try await explained(fixture))
        #expect(refusal.cause.text == "period 3 has left the window of movie-1: current 10, window 4")
        #expect(refusal.code == .keyNotFound)
    }

    /// Returns the error that the explanation gives for the key.
    private func explained(_ fixture: LicensingFixture) async throws -> LicenseError? {
        let subject = LicenseExplainer.Subject(
            token: try fixture.token(), message: try fixture.deviceRequest(.v1).message)
        let explanation = try await fixture.pipelines.explainer(under: fixture.rules).explain(
            subject, now: LicensingFixture.now)
        let stages = try #require(explanation.stages)
        guard case .failed(let error)? = stages.first(where: { $0.stage == .key })?.verdict else { return nil }
        return error
    }
}
