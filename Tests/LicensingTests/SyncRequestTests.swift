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

/// Sync SPCs: the answer contains data and no key. Only clients with rights to the content may send one, and each
/// challenge is good for one report.
@Suite struct SyncRequestTests {
    private let fixture: LicensingFixture
    private let token: [UInt8]

    init() throws {
        fixture = try LicensingFixture()
        token = try fixture.token([Right(.content("movie-1"), mode: .both)])
    }

    private static func report(challenge: UInt64 = 0, remaining: UInt32 = 3600) -> SyncReport {
        let details = SyncReportVersion2(
            challenge: challenge, flags: [.report, .success], titleID: Bytes16(high: 1, low: 2),
            streamIDs: [Bytes16(high: 3, low: 4)])
        return SyncReport(.version2(details), remaining: .init(wireValue: remaining))
    }

    private func send(
        _ report: SyncReport, token: [UInt8]? = nil, to fixture: LicensingFixture? = nil
    ) async throws -> Result<AcceptedSyncReport, LicenseError> {
        let fixture = fixture ?? self.fixture
        let request = try fixture.deviceRequest(.v2) { $0.sync = .report(report) }
        return await fixture.outcome(of: request.message, token: token ?? self.token).map { outcome in
            switch outcome {
            case .syncReport(let accepted): accepted
            case .license, .playbackEnded: preconditionFailure("a sync SPC is answered without a license")
            }
        }
    }

    private func freshChallenge(_ token: [UInt8]? = nil) async throws -> UInt64 {
        guard case .challenge(let challenge) = try await fixture.challenge(token: token ?? self.token).get() else {
            throw NoChallenge()
        }
        return challenge
    }

    private struct NoChallenge: Error {}

    @Test func takesBothVersions() async throws {
        let second = Self.report()
        let accepted = try await send(second).get()
        #expect(accepted.report == second)
        #expect(!accepted.isChallengeAccepted)
        let first = SyncReport(.version1(contentID: Bytes16(high: 5, low: 6)), remaining: .unlimited)
        #expect(try await send(first).get().report == first)
    }

    @Test func isWrittenDownBeforeItIsTaken() async throws {
        let store = RecordingStore()
        let fixture = try LicensingFixture(recorder: store.recorder())
        let token = try fixture.token([Right(.content("movie-1"), mode: .both)], subject: "viewer-1", tokenID: "t-1")
        #expect(
            try await send(Self.report(remaining: 90), token: token, to: fixture).get().report.remaining == .seconds(90)
        )
        let entry = try #require(store.decisions.first).entry
        #expect(store.decisions.count == 1 && entry.kind == .syncReportAccepted)
        #expect(entry.content == "movie-1" && entry.tokenID == "t-1" && entry.subject != nil && entry.device != nil)
        #expect(entry.detail == "unchallenged" && entry.until == LicensingFixture.now + 90)
        guard case .version2(let details) = Self.report().subject else {
            Issue.record("the report is of version 2")
            return
        }
        #expect(
            entry.report
                == DeviceReport(
                    flags: details.flags.rawValue, titleID: details.titleID, streamIDs: details.streamIDs))
        store.answer(with: .failure(.unavailable(.diskFull)))
        #expect(
            try await send(Self.report(), token: token, to: fixture).failure == .store(.unavailable(.diskFull)))
    }

    @Test func acceptsAChallengeOnce() async throws {
        let report = Self.report(challenge: try await freshChallenge())
        #expect(try await send(report).get().isChallengeAccepted)
        #expect(try await send(report).failure == .challengeNotOpen)
    }

    @Test func refusesAChallengeThatItDidNotGive() async throws {
        #expect(try await send(Self.report(challenge: 42)).failure == .challengeNotOpen)
    }

    /// A report that is refused for another reason does not use up the challenge.
    @Test func keepsTheChallengeOfARefusedReport() async throws {
        let challenge = try await freshChallenge()
        let other = try fixture.token([Right(.content("movie-2"))])
        #expect(
            try await send(Self.report(challenge: challenge), token: other).failure
                == .entitlement(.contentNotCovered))
        #expect(try await send(Self.report(challenge: challenge)).get().isChallengeAccepted)
    }

    @Test func asksForRightsToTheContent() async throws {
        let other = try fixture.token([Right(.content("movie-2"), mode: .both)])
        #expect(try await send(Self.report(), token: other).failure == .entitlement(.contentNotCovered))
        #expect(await fixture.challenge(token: nil).failure == .tokenMissing)
        #expect(
            await fixture.challenge(token: Array("nothing".utf8)).failure
                == .entitlement(.tokenMalformed(.notThreeParts)))
    }

    /// With an external module, a report is accepted only after the module has opened the SK..R1 block.
    @Test func verifiesAtAModule() async throws {
        let module = try Self.module()
        let fixture = try LicensingFixture(module: { _ in module })
        let token = try fixture.token([Right(.content("movie-1"), mode: .both)])
        #expect(try await send(Self.report(), token: token, to: fixture).get().report == Self.report())
        #expect(module.calls.map(\.content.kind) == [.unknown])
        #expect(module.calls.first?.content.key.bytes.revealed() != LicensingFixture.key)
    }

    @Test func believesNoReportThatTheModuleRefuses() async throws {
        let module = try Self.module(failingWith: .refused(status: 9))
        let fixture = try LicensingFixture(module: { _ in module })
        let token = try fixture.token([Right(.content("movie-1"), mode: .both)])
        #expect(
            try await send(Self.report(), token: token, to: fixture).failure
                == .spc(.rejected(.moduleRefused(status: 9))))
    }

    private static func module(failingWith failure: LadderModuleError? = nil) throws -> InProcessLadderModule {
        try InProcessLadderModule(
            applicationSecret: TestCredential.shared.get().applicationSecret, failingWith: failure)
    }
}
