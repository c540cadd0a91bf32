import ContentKeys
import Entitlements
import Licensing
import Records
import Synchronization
import Telemetry
import TestSupport
import Testing

@testable import AdminRoutes
@testable import LatchkeyService
@testable import PackagerRoutes
@testable import PlayerRoutes
@testable import RouteKit
@testable import Upkeep

@Suite struct RevocationKeeperTests {
    private let store = ScriptedRevocations()
    private let published = PublishedCounts()
    private let upkeep: UpkeepLoop

    init() throws {
        upkeep = try UpkeepLoop()
    }

    private func keeper() throws -> RevocationKeeper {
        let clock = ManualClock()
        let trusted = TrustedClock(
            .init(stepTolerance: .seconds(30), settleTime: .seconds(3600), leeway: .seconds(5)), wall: clock,
            boot: clock)
        return RevocationKeeper(
            store: store, names: RevocationNames(try SampleDecisions.pseudonyms()), every: .milliseconds(5),
            on: upkeep.context, logger: Logger(level: .trace, sink: MemoryLogSink(), clock: clock), clock: trusted
        ) { [published] in published.append($0.count) }
    }

    fileprivate static let other = revocation("other")

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
        #expect(keeper.count == 1)
    }

    /// A store with many revocations is read completely once. Later reads get only the changes.
    @Test func readsEverythingOnceAndThenOnlyChanges() async throws {
        store.answer(with: .success((0..<12_000).map { Self.revocation("k\($0)") }))
        let keeper = try keeper()
        defer { keeper.stop() }
        #expect(published.all == [12_000])
        let pageCount = store.pageCount
        #expect(pageCount == 3)
        store.answer(with: .success((1..<12_000).map { Self.revocation("k\($0)") }))
        try await store.wait { published.all == [12_000, 11_999] }
        try await store.waitForReads(5)
        #expect(store.pageCount == pageCount && published.all.count == 2)
    }

    /// Everything is read again if the store no longer has changes that this node lacks, or has taken over without the
    /// last ones.
    @Test(arguments: [true, false])
    func readsEverythingAgainAfterAGap(isOtherStore: Bool) async throws {
        store.answer(with: .success([Self.revocation("a"), Self.revocation("b")]))
        let keeper = try keeper()
        defer { keeper.stop() }
        #expect(published.all == [2])
        if isOtherStore { store.failOver(to: [Self.revocation("b")]) } else { store.forgetChanges(leaving: []) }
        try await store.wait { published.all.last == (isOtherStore ? 1 : 0) }
        #expect(store.pageCount == 2)
    }

    /// If one of two spellings of a content is lifted, the other one stays revoked.
    @Test func knowsAValueInTwoSpellings() async throws {
        let text = "2f6c1d0e-7d3c-4c5e-9c57-0d6a5f0f6a11"
        let spellings = [text, text.uppercased()].map {
            Revocation(kind: .content, value: $0, until: nil, revokedAt: 0, reason: "")
        }
        store.answer(with: .success(spellings))
        let keeper = try keeper()
        defer { keeper.stop() }
        #expect(published.all == [1])
        store.answer(with: .success([spellings[1], Self.revocation("x")]))
        try await store.wait { published.all == [1, 2] }
        store.answer(with: .success([Self.revocation("x")]))
        try await store.wait { published.all == [1, 2, 1] }
    }

    @Test func holdsOnToWhatItReadLast() async throws {
        store.answer(with: .success([Self.revocation("a")]))
        let keeper = try keeper()
        defer { keeper.stop() }
        store.answer(with: .failure(.unavailable(.unreachable)))
        try await store.waitForReads(5)
        #expect(published.all == [1] && keeper.count == 1)
    }

    /// No license is given until the first view is published: see `KnownRevocations`.
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

    /// The result of a read that began before this node's own change is out of date.
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

/// A store with the contents that a test sets. It answers each read with its state at the start of the read.
private final class ScriptedRevocations: RevocationStore {
    private struct State {
        var all: [Revocation] = []
        var changes: [RevocationChange] = []
        /// The number of the first of the changes.
        var firstNumber: Int64 = 1
        var mark: Int64 = 1
        var error: StoreError?
        var readCount = 0
        var pageCount = 0
        var during: (@Sendable () async -> Void)?

        var position: RevocationPosition {
            let number = firstNumber + Int64(changes.count) - 1
            return number == 0 ? .start : RevocationPosition(number: number, mark: mark)
        }

        mutating func become(_ new: [Revocation]) {
            for old in all where !new.contains(old) {
                changes.append(.lifted(old.kind, value: old.value, issuer: old.issuer))
            }
            let known = Set(all)
            changes += new.filter { !known.contains($0) }.map { .revoked($0) }
            all = new
        }
    }

    private let state = Mutex(State())

    var pageCount: Int { state.withLock { $0.pageCount } }

    func answer(with answer: Result<[Revocation], StoreError>) {
        state.withLock { state in
            switch answer {
            case .success(let new):
                state.error = nil
                state.become(new)
            case .failure(let error): state.error = error
            }
        }
    }

    func forgetChanges(leaving new: [Revocation]) {
        state.withLock { state in
            state.become(new)
            state.firstNumber += Int64(state.changes.count) + 10
            state.changes = [.revoked(RevocationKeeperTests.other), .lifted(.signingKey, value: "other", issuer: nil)]
        }
    }

    func failOver(to new: [Revocation]) {
        state.withLock { state in
            state.all = new
            state.mark += 1
        }
    }

    /// Runs once, after the next read has begun and before it is answered.
    func duringNextRead(_ body: @escaping @Sendable () async -> Void) {
        state.withLock { $0.during = body }
    }

    private func read() async throws(StoreError) -> State {
        let (seen, during) = state.withLock { ($0, $0.during.take()) }
        await during?()
        state.withLock { $0.readCount += 1 }
        if let error = seen.error { throw error }
        return seen
    }

    func revocationPosition() async throws(StoreError) -> RevocationPosition { try await read().position }

    func revocations(after key: RevocationKey?, limit: Int) async throws(StoreError) -> RevocationPage {
        let all = try await read().all
        state.withLock { $0.pageCount += 1 }
        let start = key.flatMap { key in all.firstIndex { RevocationKey($0) == key } }.map { $0 + 1 } ?? 0
        let page = Array(all[start...].prefix(limit))
        return RevocationPage(page, next: page.count < limit ? nil : page.last.map { RevocationKey($0) })
    }

    func revocationChanges(
        after known: RevocationPosition, limit: Int
    ) async throws(StoreError) -> RevocationNews {
        let seen = try await read()
        var reading = RevocationNewsReading(after: known, limit: limit)
        for (offset, change) in seen.changes.enumerated() where seen.firstNumber + Int64(offset) >= known.number {
            reading.add(RevocationPosition(number: seen.firstNumber + Int64(offset), mark: seen.mark), change)
        }
        return reading.news
    }

    func revocation(
        _ kind: Revocation.Kind, _ value: String, of issuer: String?
    ) async throws(StoreError) -> Revocation? {
        try await read().all.first { $0.kind == kind && $0.value == value && $0.issuer == issuer }
    }

    func newestRevocations(limit: Int) async throws(StoreError) -> [Revocation] {
        Array(try await read().all.suffix(limit))
    }

    func revoke(_ revocation: Revocation) async throws(StoreError) {}

    func lift(_ kind: Revocation.Kind, _ value: String, of issuer: String?) async throws(StoreError) -> Bool { false }

    /// Waits for `count` reads that begin from now on.
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
