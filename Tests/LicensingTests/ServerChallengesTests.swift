import ContentKeys
import Entitlements
import TestSupport
import Testing

@testable import Licensing

/// Whose a challenge is; that it is taken once and ends is the store's part.
@Suite struct ServerChallengesTests {
    private let fixture: LicensingFixture
    private let store = MemoryChallengeStore()

    init() throws {
        fixture = try LicensingFixture()
    }

    private func challenges() throws -> ServerChallenges {
        ServerChallenges(store: store, pseudonyms: try MemoryChallengeStore.pseudonyms())
    }

    private func claims(_ subject: String?, tokenID: String? = nil) async throws -> Claims {
        let token = try fixture.token([Right(.content("movie-1"))], subject: subject, tokenID: tokenID)
        return try await fixture.claims(of: token).get()
    }

    @Test func neverGivesOutZero() async throws {
        var numbers: [UInt64] = [0, 0, 7]
        let issued = try await challenges().issue(to: claims("viewer-1"), now: 0) { numbers.removeFirst() }
        #expect(issued == .challenge(7) && numbers.isEmpty)
    }

    /// What another one sends does not use it up either.
    @Test func acceptsItOnceAndOnlyFromItsHolder() async throws {
        let challenges = try challenges()
        let (one, other) = (try await claims("viewer-1"), try await claims("viewer-2"))
        _ = try await challenges.issue(to: one, now: 0) { 7 }
        #expect(try await !challenges.accept(7, from: other, now: 1))
        // Another token of the same subject.
        let again = try await claims("viewer-1", tokenID: "second")
        #expect(try await challenges.accept(7, from: again, now: 1))
        #expect(try await !challenges.accept(7, from: one, now: 1))
    }

    @Test func endsWithItsLife() async throws {
        let challenges = try challenges()
        let claims = try await claims("viewer-1")
        _ = try await challenges.issue(to: claims, now: 0) { 7 }
        #expect(try await !challenges.accept(7, from: claims, now: ServerChallenges.life))
    }

    @Test func tellsTokensWithoutASubjectApart() async throws {
        let challenges = try challenges()
        let (one, other) = (try await claims(nil, tokenID: "a"), try await claims(nil, tokenID: "b"))
        _ = try await challenges.issue(to: one, now: 0) { 7 }
        #expect(try await !challenges.accept(7, from: other, now: 1))
        #expect(try await challenges.accept(7, from: one, now: 1))
    }

    @Test func givesAHolderAFew() async throws {
        let challenges = try challenges()
        let (one, other) = (try await claims("viewer-1"), try await claims("viewer-2"))
        for number in 1...UInt64(ServerChallenges.countPerHolder) {
            #expect(try await challenges.issue(to: one, now: 0) { number } == .challenge(number))
        }
        #expect(try await challenges.issue(to: one, now: 0) { 99 } == .tooMany(retryAfterSeconds: 300))
        #expect(try await challenges.issue(to: other, now: 0) { 99 } == .challenge(99))
        #expect(try await challenges.accept(1, from: one, now: 0))
        #expect(try await challenges.issue(to: one, now: 0) { 100 } == .challenge(100))
    }
}
