import ContentKeys
import Entitlements
import Licensing
import Records
import Synchronization
import Telemetry
import TestSupport
import Testing

@testable import LatchkeyService

@Suite struct RevocationKeeperTests {
    private let store = ScriptedRevocations()
    private let published = PublishedCounts()

    private func keeper() throws -> RevocationKeeper {
        let clock = ManualClock()
        let trusted = TrustedClock(
            .init(stepTolerance: .seconds(30), settleTime: .seconds(3600), leeway: .seconds(5)), wall: clock,
            boot: clock)
        return try RevocationKeeper(
            store: store, names: RevocationNames(try MemoryChallengeStore.pseudonyms()), every: .milliseconds(5),
            logger: Logger(level: .trace, sink: MemoryLogSink(), clock: clock), clock: trusted
        ) { [published] in published.append($0.count) }
    }

    private static func revocation(_ value: String) -> Revocation {
        Revocation(kind: .signingKey, value: value, until: nil, revokedAt: 0, reason: "")
    }

    @Test func publishesWhatIsNewAndNothingTwice() async throws {
        let keeper = try keeper()
        defer { keeper.stop() }
        try await store.waitForReads(5)
        #expect(published.all == [0])
        store.answer(with: .success([Self.revocation("a"), Self.revocation("b")]))
        try await store.wait { published.all == [0, 2] }
        store.answer(with: .success([Self.revocation("b")]))
        try await store.wait { published.all == [0, 2, 1] }
        #expect(keeper.revocations == [Self.revocation("b")])
    }

    @Test func holdsOnToWhatItReadLast() async throws {
        store.answer(with: .success([Self.revocation("a")]))
        let keeper = try keeper()
        defer { keeper.stop() }
        store.answer(with: .failure(.unavailable(.unreachable)))
        try await store.waitForReads(5)
        #expect(published.all == [1] && keeper.revocations == [Self.revocation("a")])
    }

    /// Until the first view is published, no licence is given: see `KnownRevocations`.
    @Test func publishesNothingBeforeTheStoreHasAnswered() async throws {
        store.answer(with: .failure(.unavailable(.unreachable)))
        let keeper = try keeper()
        defer { keeper.stop() }
        await keeper.hold(Self.revocation("a"))
        try await store.waitForReads(3)
        #expect(published.all == [])
        store.answer(with: .success([]))
        try await store.wait { published.all == [0] }
    }

    /// What was read before this node's own change is out of date.
    @Test func aChangeDuringAReadIsNotLost() async throws {
        let keeper = try keeper()
        defer { keeper.stop() }
        store.duringNextRead { [store] in
            await keeper.hold(Self.revocation("a"))
            store.answer(with: .success([Self.revocation("a")]))
        }
        try await store.waitForReads(10)
        #expect(published.all == [0, 1])
        store.answer(with: .success([]))
        try await store.wait { published.all == [0, 1, 0] }
        store.duringNextRead { [store] in
            await keeper.hold(Self.revocation("b"))
            await keeper.release(Self.revocation("b"))
            store.answer(with: .success([]))
        }
        try await store.wait { published.all == [0, 1, 0, 1, 0] }
    }
}

private final class PublishedCounts: Sendable {
    private let counts = Mutex<[Int]>([])

    var all: [Int] { counts.withLock { $0 } }

    func append(_ count: Int) {
        counts.withLock { $0.append(count) }
    }
}

/// A store that gives the answer it was told to, as it was when the read began.
private final class ScriptedRevocations: RevocationStore {
    private struct State {
        var answer: Result<[Revocation], StoreError> = .success([])
        var readCount = 0
        var during: (@Sendable () async -> Void)?
    }

    private let state = Mutex(State())

    func answer(with answer: Result<[Revocation], StoreError>) {
        state.withLock { $0.answer = answer }
    }

    /// Runs once, after the next read has begun and before it is answered.
    func duringNextRead(_ body: @escaping @Sendable () async -> Void) {
        state.withLock { $0.during = body }
    }

    func revocations(at now: Int64) async throws(StoreError) -> [Revocation] {
        let (answer, during) = state.withLock { ($0.answer, $0.during.take()) }
        await during?()
        state.withLock { $0.readCount += 1 }
        return try answer.get()
    }

    func revoke(_ revocation: Revocation) async throws(StoreError) {}

    func lift(_ kind: Revocation.Kind, _ value: String, of issuer: String?) async throws(StoreError) -> Bool { false }

    /// So many more reads that began from now on.
    func waitForReads(_ count: Int) async throws {
        let start = state.withLock { $0.readCount }
        try await wait { self.state.withLock { $0.readCount } > start + count }
    }

    func wait(until condition: () -> Bool) async throws {
        let clock = ContinuousClock()
        let end = clock.now + .seconds(60)
        while !condition() {
            try #require(clock.now < end, "it never came")
            try await Task.sleep(for: .milliseconds(2))
        }
    }
}
