import ByteCoding
import ContentKeys
import Records
import Synchronization
import Testing

@testable import Licensing

/// A node's own revocations while the shared database is available, is unavailable, and is available again.
@Suite struct SharedRevocationsTests {
    private let store = MemoryRevocations()
    private let node = MemoryPending()
    private let shared: SharedRevocations

    init() {
        shared = SharedRevocations(shared: store, pending: node)
    }

    private static func revocation(_ value: String, at now: Int64 = 5) -> Revocation {
        Revocation(kind: .signingKey, value: value, until: nil, revokedAt: now, reason: "")
    }

    private static func entry(_ kind: LedgerEntry.Kind) -> LedgerEntry {
        LedgerEntry(kind: kind, at: 5, license: LicenseID(Bytes16(high: 1, low: 2)))
    }

    private func changes() async throws -> [RevocationChange] {
        guard case .changes(let changes, _, _) = try await shared.revocationChanges(after: .start, limit: 100) else {
            return []
        }
        return changes
    }

    @Test func allNodesHearOfARevocation() async throws {
        let revocation = Self.revocation("a")
        try await shared.revoke(revocation, recording: Self.entry(.revoked))
        #expect(node.kinds == [.revoked] && store.all == [], "it is durable here before it is shared")
        #expect(await shared.share(revocation))
        #expect(store.all == [revocation] && node.all == [] && node.kinds == [.revoked])
        #expect(await shared.share(revocation), "sharing it again changes nothing")
        #expect(store.changeCount == 1)
    }

    @Test func holdsHereWhileTheDatabaseIsAwayAndIsStoredLater() async throws {
        store.fail(with: .unavailable(.unreachable))
        let revocation = Self.revocation("a")
        try await shared.revoke(revocation, recording: Self.entry(.revoked))
        #expect(await shared.share(revocation) == false)
        #expect(node.all == [revocation])
        // The daemon has been restarted meanwhile, so pending revocations are read with all others.
        store.fail(with: nil)
        store.refuseChanges(true)
        #expect(try await shared.revocations(after: nil, limit: 10).revocations == [revocation])
        #expect(try await changes() == [.revoked(revocation)])
        #expect(try await shared.newestRevocations(limit: 10) == [revocation])
        store.refuseChanges(false)
        #expect(try await changes() == [.revoked(revocation)])
        #expect(store.all == [revocation] && node.all == [])
        #expect(node.kinds == [.revoked], "there is one row, even if the store gets the revocation late")
    }

    /// While a revocation is pending, the position does not move, so that the changes are read again in their true
    /// order.
    @Test func staysBeforeChangesUntilNothingIsPending() async throws {
        try await store.revoke(Self.revocation("b"))
        try await shared.revoke(Self.revocation("a"), recording: Self.entry(.revoked))
        store.refuseChanges(true)
        let news = try await shared.revocationChanges(after: .start, limit: 100)
        let expected: [RevocationChange] = [.revoked(Self.revocation("b")), .revoked(Self.revocation("a"))]
        #expect(news == .changes(expected, through: .start, isComplete: true))
        store.refuseChanges(false)
        _ = try await shared.revocationChanges(after: .start, limit: 100)
        let later = try await shared.revocationChanges(after: .start, limit: 100)
        guard case .changes(let changes, let position, _) = later else {
            Issue.record("the changes have a gap")
            return
        }
        #expect(changes == expected && position.number == 2)
    }

    /// A database that can only be read keeps a revocation pending. Every page of changes is read nevertheless.
    @Test func readsAllPagesWhileARevocationIsPending() async throws {
        let names = ["b", "c", "d", "e"]
        for name in names { try await store.revoke(Self.revocation(name)) }
        try await shared.revoke(Self.revocation("a"), recording: Self.entry(.revoked))
        store.refuseChanges(true)
        let expected = (names + ["a"]).map { RevocationChange.revoked(Self.revocation($0)) }
        let (read, position) = try await readPages(after: .start, limit: 2)
        #expect(read == expected)
        #expect(position.number < store.changeCount, "the last page is read again")
        store.refuseChanges(false)
        let (later, end) = try await readPages(after: position, limit: 2)
        #expect(later == Array(expected.suffix(later.count)) && later.last == .revoked(Self.revocation("a")))
        #expect(end.number == 5 && node.all == [])
    }

    /// Reads as a node does: page after page, until one is the last.
    private func readPages(
        after position: RevocationPosition, limit: Int
    ) async throws -> ([RevocationChange], RevocationPosition) {
        var (all, position) = ([RevocationChange](), position)
        while true {
            let news = try await shared.revocationChanges(after: position, limit: limit)
            guard case .changes(let changes, let next, let isComplete) = news else {
                Issue.record("the changes have a gap")
                return (all, position)
            }
            all += changes
            position = next
            if isComplete { return (all, position) }
        }
    }

    /// The caller gets 503, and no ledger row says that the revocation took effect.
    @Test func aRevocationThatIsNotDurableLeavesNothing() async throws {
        node.fail(with: .unavailable(.diskFull))
        await #expect(throws: StoreError.unavailable(.diskFull)) {
            try await shared.revoke(Self.revocation("a"), recording: Self.entry(.revoked))
        }
        #expect(node.kinds == [] && store.all == [])
    }

    @Test func liftsWhatIsSharedAndWhatIsPending() async throws {
        try await store.revoke(Self.revocation("a"))
        #expect(try await shared.lift(Self.revocation("a"), recording: Self.entry(.revocationLifted)))
        #expect(store.all == [] && node.kinds == [.revocationLifted])
        #expect(try await shared.lift(Self.revocation("a"), recording: Self.entry(.revocationLifted)) == false)
        try await shared.revoke(Self.revocation("b"), recording: Self.entry(.revoked))
        #expect(try await shared.lift(Self.revocation("b"), recording: Self.entry(.revocationLifted)))
        #expect(node.all == [] && node.kinds == [.revocationLifted, .revoked, .revocationLifted])
        #expect(await shared.share(Self.revocation("b")) && store.all == [], "the lifted revocation does not come back")
    }

    @Test func aLiftThatFailsLeavesNoRow() async throws {
        try await store.revoke(Self.revocation("a"))
        store.fail(with: .unavailable(.unreachable))
        await #expect(throws: StoreError.unavailable(.unreachable)) {
            try await shared.lift(Self.revocation("a"), recording: Self.entry(.revocationLifted))
        }
        store.fail(with: nil)
        node.fail(with: .unavailable(.diskFull))
        await #expect(throws: StoreError.unavailable(.diskFull)) {
            try await shared.lift(Self.revocation("a"), recording: Self.entry(.revocationLifted))
        }
        #expect(store.all == [Self.revocation("a")] && node.kinds == [])
    }
}

private final class MemoryRevocations: RevocationStore {
    private struct State {
        var all: [Revocation] = []
        var changes: [RevocationChange] = []
        var error: StoreError?
        var refusesChanges = false
    }

    private let state = Mutex(State())

    var all: [Revocation] { state.withLock { $0.all } }
    var changeCount: Int { state.withLock { $0.changes.count } }

    func fail(with error: StoreError?) {
        state.withLock { $0.error = error }
    }

    func refuseChanges(_ refuses: Bool) {
        state.withLock { $0.refusesChanges = refuses }
    }

    private func run<Result>(
        changing: Bool = false, _ body: (inout State) -> Result
    ) throws(StoreError) -> Result {
        try state.withLock { state throws(StoreError) in
            if let error = state.error { throw error }
            if changing, state.refusesChanges { throw .unavailable(.busy) }
            return body(&state)
        }
    }

    func revoke(_ revocation: Revocation) async throws(StoreError) {
        try run(changing: true) { state in
            state.all.removeAll {
                $0.kind == revocation.kind && $0.value == revocation.value && $0.issuer == revocation.issuer
            }
            state.all.append(revocation)
            state.changes.append(.revoked(revocation))
        }
    }

    func lift(
        _ kind: Revocation.Kind, _ value: String, of issuer: String?
    ) async throws(StoreError) -> Bool {
        try run(changing: true) { state in
            let count = state.all.count
            state.all.removeAll { $0.kind == kind && $0.value == value && $0.issuer == issuer }
            guard state.all.count < count else { return false }
            state.changes.append(.lifted(kind, value: value, issuer: issuer))
            return true
        }
    }

    func revocation(
        _ kind: Revocation.Kind, _ value: String, of issuer: String?
    ) async throws(StoreError) -> Revocation? {
        try run { $0.all.first { $0.kind == kind && $0.value == value && $0.issuer == issuer } }
    }

    func revocations(after key: RevocationKey?, limit: Int) async throws(StoreError) -> RevocationPage {
        try run { RevocationPage($0.all, next: nil) }
    }

    func newestRevocations(limit: Int) async throws(StoreError) -> [Revocation] { try run { $0.all } }

    func revocationPosition() async throws(StoreError) -> RevocationPosition {
        try run { RevocationPosition(number: Int64($0.changes.count), mark: 0) }
    }

    func revocationChanges(
        after known: RevocationPosition, limit: Int
    ) async throws(StoreError) -> RevocationNews {
        try run { state in
            var reading = RevocationNewsReading(after: known, limit: limit)
            let rows = state.changes.enumerated().filter { Int64($0.offset) + 1 >= known.number }
            for (index, change) in rows.prefix(limit + 1) {
                reading.add(RevocationPosition(number: Int64(index) + 1, mark: 0), change)
            }
            return reading.news
        }
    }
}

private final class MemoryPending: PendingRevocations {
    private struct State {
        var all: [Revocation] = []
        var kinds: [LedgerEntry.Kind] = []
        var error: StoreError?
    }

    private let state = Mutex(State())

    var all: [Revocation] { state.withLock { $0.all } }
    /// The rows of the ledger.
    var kinds: [LedgerEntry.Kind] { state.withLock { $0.kinds } }

    func fail(with error: StoreError?) {
        state.withLock { $0.error = error }
    }

    private func change(_ body: (inout State) -> Void) throws(StoreError) {
        try state.withLock { state throws(StoreError) in
            if let error = state.error { throw error }
            body(&state)
        }
    }

    func keep(_ revocation: Revocation, recording entry: LedgerEntry) async throws(StoreError) {
        try change { state in
            state.all.append(revocation)
            state.kinds.append(entry.kind)
        }
    }

    func drop(_ revocation: Revocation) async throws(StoreError) {
        try change { state in state.all.removeAll { $0 == revocation } }
    }

    func drop(_ key: RevocationKey, recording entry: LedgerEntry) async throws(StoreError) {
        try change { state in
            state.all.removeAll { RevocationKey($0) == key }
            state.kinds.append(entry.kind)
        }
    }

    func pendingRevocations() async throws(StoreError) -> [Revocation] { all }
}
