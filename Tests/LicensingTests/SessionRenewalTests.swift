import ByteCoding
import ContentKeys
import DeviceSimulation
import Entitlements
import FairPlay
import KeyCrypto
import Records
import TestSupport
import Testing

@testable import Licensing

@Suite struct SessionRenewalTests {
    private static let leased = [Right(.content("movie-1"), lease: 300)]

    private let store = MemoryDecisionStore()
    private let fixture: LicensingFixture

    init() throws {
        fixture = try LicensingFixture(recorder: store.recorder(), sessions: LicensingFixture.sessions())
    }

    private func message(
        _ state: PlaybackState = .leaseExpiring, session: UInt64 = 7, device: UInt8 = 1
    ) throws -> [UInt8] {
        try fixture.deviceRequest(.v1) {
            $0.deviceID = DeviceID([UInt8](repeating: device, count: 20))
            $0.playbackState = MediaPlaybackState(createdAt: 1, state: state, sessionID: session)
        }.message
    }

    private func begin(_ rights: [Right] = leased) async throws -> IssuedLicense {
        try await fixture.issue(message(.readyToStart), token: fixture.token(rights)).get()
    }

    private func renew(
        _ license: IssuedLicense, with message: [UInt8]? = nil, after seconds: Int64 = 200
    ) async throws -> Result<IssuedLicense, LicenseError> {
        let token = try #require(license.sessionToken)
        return await fixture.issue(
            try message ?? self.message(), token: Array(token.utf8), now: LicensingFixture.now + seconds)
    }

    @Test func renewsALeaseWithTheSessionTokenAlone() async throws {
        let first = try await begin()
        let second = try await renew(first).get()
        #expect(second.terms == first.terms && second.id != first.id && second.sessionToken != nil)
        let entry = try #require(store.entries.last)
        #expect(entry.kind == .licenseRenewed && entry.previous == first.id && entry.license == second.id)
        let third = try await renew(second, after: 400).get()
        #expect(store.entries.last?.previous == second.id && store.entries.last?.license == third.id)
    }

    @Test(arguments: [
        [Right(.content("movie-1"))], [Right(.content("movie-1"), duration: 900)],
        [Right(.content("movie-1"), end: LicensingFixture.now + 200)],
    ])
    func comesOnlyWithALeaseThatCanBeRenewed(rights: [Right]) async throws {
        #expect(try await begin(rights).sessionToken == nil)
    }

    @Test func isNotGivenWithoutAKeyForIt() async throws {
        let fixture = try LicensingFixture(recorder: store.recorder())
        let license = try await fixture.issue(message(.readyToStart), token: fixture.token(Self.leased)).get()
        #expect(license.sessionToken == nil)
    }

    /// If an operator removes a signing key from the configuration, the sessions that this key has granted end.
    @Test func endsWithTheKeyThatSignedTheFirstToken() async throws {
        let first = try await begin()
        let other = VerificationKey(id: "other", es256: try ES256PrivateKey.generate().publicKey)
        try fixture.reload { rules in
            rules.verifier = TokenVerifier(
                issuers: try IssuerSet([Issuer(name: "portal", audience: "latchkey", keys: [other])]),
                sessions: try LicensingFixture.sessions())
        }
        #expect(try await renew(first).failure == .entitlement(.keyUnknown))
    }

    /// If a reload limits the scope of an issuer, the limit applies to running sessions too.
    @Test func endsWithAScopeThatLeavesItsContentOut() async throws {
        let first = try await begin()
        for (contents, error) in [(["movie-*"], nil), (["other"], LicenseError.entitlement(.contentNotCovered))] {
            try fixture.reload { rules in
                let key = VerificationKey(id: "test", es256: try ES256PrivateKey.generate().publicKey)
                let issuer = Issuer(
                    name: "portal", audience: "latchkey", keys: [key], contents: ContentScope(contents))
                rules.verifier = TokenVerifier(
                    issuers: try IssuerSet([issuer]), sessions: try LicensingFixture.sessions())
            }
            #expect(try await renew(first).failure == error)
        }
    }

    @Test func isGoodForNoOtherDeviceAndNoOtherPlayback() async throws {
        let first = try await begin()
        #expect(try await renew(first, with: message(device: 2)).failure == .entitlement(.deviceMismatch))
        #expect(
            try await renew(first, with: message(session: 8)).failure == .entitlement(.sessionEnded(.otherPlayback)))
        #expect(store.entries.count == 1, "a refused request does not block later ones")
        _ = try await renew(first).get()
    }

    @Test func grantsNoLicenseToKeep() async throws {
        let token = try #require(try await begin().sessionToken)
        let failure = await fixture.issue(try message(), token: Array(token.utf8), for: .offline).failure
        #expect(failure == .entitlement(.offlineNotGranted))
    }

    /// Each renewal gets the terms that the server's policy allows at the time of that renewal.
    @Test func meetsThePolicyOfItsTime() async throws {
        let first = try await begin()
        fixture.reload { $0.entitlementPolicy = EntitlementPolicy(common: PolicyRule(lease: 60)) }
        #expect(try await renew(first).get().terms.lease?.value == 60)
        fixture.reload { $0.entitlementPolicy = EntitlementPolicy() }
        #expect(try await renew(first, after: 210).get().terms.lease?.value == 300)
    }

    /// A request for another key of the content would cost a use of the entitlement token.
    @Test func fetchesNoOtherKeyOfAContentWhoseUsesAreCounted() async throws {
        let sealed = try fixture.sealed {
            $0.contentID = "movie-1"
            $0.lease = 300
            $0.usesPerKey = 1
        }
        let first = try await fixture.issue(message(.readyToStart), token: sealed).get()
        _ = try await renew(first).get()
        let token = try #require(first.sessionToken)
        let claims = try await fixture.claims(of: Array(token.utf8)).get()
        #expect(claims.rights.map(\.selector) == [.keyIDs([first.key.keyID])])
    }

    // MARK: Rotation

    @Test func staysGoodUntilItsSuccessorIsUsed() async throws {
        let first = try await begin()
        let lost = try await renew(first).get()
        // The answer was lost. The app still has only its old token, and makes another SPC.
        let second = try await renew(first, after: 230).get()
        #expect(second.id != lost.id)
        _ = try await renew(second, after: 430).get()
        #expect(try await renew(first, after: 240).failure == .denied(.sessionSuperseded))
        // The token of the lost answer has the same generation as the token of the other answer.
        _ = try await renew(lost, after: 500).get()
    }

    @Test func countsARepeatedRenewalOnce() async throws {
        let first = try await begin()
        let request = try message()
        let answers = [
            try await renew(first, with: request).get(), try await renew(first, with: request, after: 260).get(),
        ]
        #expect(answers[0].id == answers[1].id && answers[1].isRepeated)
        #expect(store.entries.count == 2)
        // The token of either answer renews the session.
        for answer in answers { _ = try await renew(answer, after: 400).get() }
    }

    @Test func endsWithItsGrace() async throws {
        let first = try await begin()
        _ = try await renew(first, after: 300 + SessionTokens.graceDefault).get()
        #expect(try await renew(first, after: 600).failure == .entitlement(.sessionEnded(.expired)))
    }
}

/// The rule of apps/renewals.md, over a link that loses a third of the requests and a third of the answers.
@Suite struct FlakyLinkTests {
    private static let lease: Int64 = 300
    private static let sessionLife: Int64 = 3600

    /// An app that renews when it is told to, and repeats the request every hundredth of its lease until an answer
    /// comes. It sends the same SPC for a minute at most.
    private struct Player {
        let fixture: LicensingFixture
        let session: UInt64
        var token: String?
        var leaseEnd: Int64
        var asksAt: Int64
        var message: (bytes: [UInt8], madeAt: Int64)?

        static let patience: Int64 = 60

        mutating func nextMessage(at now: Int64) throws -> [UInt8] {
            if let message, now < message.madeAt + Self.patience { return message.bytes }
            let bytes = try fixture.deviceRequest(.v1) {
                $0.deviceID = DeviceID([UInt8](repeating: UInt8(session), count: 20))
                $0.playbackState = MediaPlaybackState(
                    createdAt: 1, state: token == nil ? .readyToStart : .leaseExpiring, sessionID: session)
            }.message
            message = (bytes, now)
            return bytes
        }

        mutating func hear(_ license: IssuedLicense) {
            token = license.sessionToken
            leaseEnd = license.times.expiresAt ?? leaseEnd
            asksAt = license.times.renewAfter ?? leaseEnd
            message = nil
        }

        mutating func hearNothing(at now: Int64) {
            asksAt = now + max(1, FlakyLinkTests.lease / 100)
        }
    }

    @Test func losesNoPictureAndCountsEachRenewalOnce() async throws {
        var random = SeededGenerator.announced("renewals over a flaky link")
        let store = MemoryDecisionStore()
        let fixture = try LicensingFixture(
            recorder: store.recorder(), sessions: LicensingFixture.sessions(maximumLife: Self.sessionLife))
        var heard: Set<LicenseID> = []
        var lostAnswers = 0
        var decided: Set<LicenseID> = []
        for session in 1...12 as ClosedRange<UInt64> {
            var player = try await begin(session, fixture, &decided)
            while let token = player.token {
                let now = player.asksAt
                #expect(now < player.leaseEnd, "the next request must come before the lease ends")
                let isRequestLost = Int.random(in: 0..<3, using: &random) == 0
                let isAnswerLost = Int.random(in: 0..<3, using: &random) == 0
                let message = try player.nextMessage(at: now)
                guard !isRequestLost else {
                    player.hearNothing(at: now)
                    continue
                }
                let license = try await fixture.issue(message, token: Array(token.utf8), now: now).get()
                decided.insert(license.id)
                guard !isAnswerLost else {
                    lostAnswers += 1
                    player.hearNothing(at: now)
                    continue
                }
                #expect(heard.insert(license.id).inserted)
                player.hear(license)
            }
            // The session ends when it was meant to end: the last lease reaches exactly to its end.
            #expect(player.leaseEnd == LicensingFixture.now + Self.sessionLife)
        }
        #expect(lostAnswers > 12)
        let entries = store.entries
        #expect(Set(entries.map(\.license)) == decided && entries.count == decided.count)
        let renewals = entries.filter { $0.kind == .licenseRenewed }
        #expect(renewals.allSatisfy { $0.previous.map(decided.contains) ?? false })
    }

    private func begin(
        _ session: UInt64, _ fixture: LicensingFixture, _ decided: inout Set<LicenseID>
    ) async throws -> Player {
        var player = Player(
            fixture: fixture, session: session, token: nil, leaseEnd: .max, asksAt: LicensingFixture.now)
        let message = try player.nextMessage(at: LicensingFixture.now)
        let right = Right(.content("movie-1"), lease: Self.lease)
        let license = try await fixture.issue(message, token: fixture.token([right])).get()
        decided.insert(license.id)
        player.hear(license)
        return player
    }
}
