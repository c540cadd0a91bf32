import ContentKeys
import Entitlements
import TestSupport
import Testing

@testable import Licensing

/// Which holder a challenge belongs to. The store is responsible for single use and for expiry.
@Suite struct ServerChallengesTests {
    private let fixture: LicensingFixture
    private let store = MemoryCellStore()

    init() throws {
        fixture = try LicensingFixture()
    }

    private func challenges() throws -> ServerChallenges {
        ServerChallenges(store: store, pseudonyms: try SampleDecisions.pseudonyms())
    }

    private func party(
        _ subject: String?, tokenID: String? = nil, life: Int64 = 300
    ) async throws -> TokenParty {
        let token = try fixture.token(
            [Right(.content("movie-1"))], expiresIn: life, subject: subject, tokenID: tokenID)
        return try await fixture.sender(of: token).get().party
    }

    @Test func neverGivesOutZero() async throws {
        var numbers: [UInt64] = [0, 0, 7]
        let issued = try await challenges().issue(to: party("viewer-1"), now: 0) { numbers.removeFirst() }
        #expect(issued == .challenge(7) && numbers.isEmpty)
    }

    /// An attempt of another holder does not use up the challenge either.
    @Test func acceptsItOnceAndOnlyFromItsHolder() async throws {
        let challenges = try challenges()
        let (one, other) = (try await party("viewer-1"), try await party("viewer-2"))
        _ = try await challenges.issue(to: one, now: 0) { 7 }
        #expect(try await !challenges.accept(7, from: other, now: 1))
        // Another token of the same subject may use it.
        let again = try await party("viewer-1", tokenID: "second")
        #expect(try await challenges.accept(7, from: again, now: 1))
        #expect(try await !challenges.accept(7, from: one, now: 1))
    }

    @Test func endsWithItsLife() async throws {
        let challenges = try challenges()
        let party = try await party("viewer-1")
        _ = try await challenges.issue(to: party, now: 0) { 7 }
        #expect(try await !challenges.accept(7, from: party, now: ServerChallenges.life))
    }

    @Test func tellsTokensWithoutASubjectApart() async throws {
        let challenges = try challenges()
        let (one, other) = (try await party(nil, tokenID: "a"), try await party(nil, tokenID: "b"))
        _ = try await challenges.issue(to: one, now: 0) { 7 }
        #expect(try await !challenges.accept(7, from: other, now: 1))
        #expect(try await challenges.accept(7, from: one, now: 1))
    }

    /// A token without subject and id is a holder of its own, so that eight viewers do not lock out all others of the
    /// issuer.
    @Test func tellsTokensWithoutSubjectAndIDApart() async throws {
        let challenges = try challenges()
        let (one, other) = (try await party(nil), try await party(nil, life: 200))
        _ = try await challenges.issue(to: one, now: 0) { 7 }
        #expect(try await !challenges.accept(7, from: other, now: 1))
        #expect(try await challenges.accept(7, from: party(nil), now: 1), "another signature, the same claims")
        for number in 1...UInt64(ServerChallenges.countPerHolder) {
            #expect(try await challenges.issue(to: one, now: 1) { number } == .challenge(number))
        }
        #expect(try await challenges.issue(to: one, now: 1) { 99 } == .tooMany(retryAfterSeconds: 300))
        #expect(try await challenges.issue(to: other, now: 1) { 99 } == .challenge(99))
    }

    @Test func givesAHolderAFew() async throws {
        let challenges = try challenges()
        let (one, other) = (try await party("viewer-1"), try await party("viewer-2"))
        for number in 1...UInt64(ServerChallenges.countPerHolder) {
            #expect(try await challenges.issue(to: one, now: 0) { number } == .challenge(number))
        }
        #expect(try await challenges.issue(to: one, now: 0) { 99 } == .tooMany(retryAfterSeconds: 300))
        #expect(try await challenges.issue(to: other, now: 0) { 99 } == .challenge(99))
        #expect(try await challenges.accept(1, from: one, now: 0))
        #expect(try await challenges.issue(to: one, now: 0) { 100 } == .challenge(100))
    }
}
