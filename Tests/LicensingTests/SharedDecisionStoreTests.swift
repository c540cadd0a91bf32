import ByteCoding
import ContentKeys
import Entitlements
import Records
import Synchronization
import Testing

@testable import Licensing

/// The rows of the design's outage table that decisions are about (section 8).
@Suite struct SharedDecisionStoreTests {
    private let shared = SharedStandIn()
    private let ledger = LedgerStandIn()

    private func store(_ rule: SharedDecisionStore.OutageRule = .refuse) -> SharedDecisionStore {
        SharedDecisionStore(shared: shared, ledger: ledger, onStoreOutage: rule)
    }

    private func decision(spends: Bool) throws -> LicenseDecision {
        let entry = LedgerEntry(kind: .licenseIssued, at: 5, license: LicenseID(Bytes16(high: 1, low: 2)))
        guard spends else { return LicenseDecision(now: 5, entry: entry) }
        let token = try #require(Pseudonym([UInt8](repeating: 3, count: 32)))
        let use = TokenUse(token: token, keyID: KeyID(words: Bytes16(high: 4, low: 4)), limit: 3, keptUntil: 100)
        return LicenseDecision(now: 5, tokenUse: use, entry: entry)
    }

    @Test func writesDownWhatWasSettled() async throws {
        let decision = try decision(spends: true)
        #expect(try await store().commit(decision) == .recorded)
        #expect(shared.count == 1 && ledger.entries == [decision.entry])
    }

    @Test(arguments: [SharedDecisionStore.OutageRule.refuse, .admit])
    func asksTheDatabaseForNothingThatItDoesNotShare(rule: SharedDecisionStore.OutageRule) async throws {
        shared.answer(with: .failure(.unavailable(.unreachable)))
        let store = store(rule)
        #expect(try await store.commit(decision(spends: false)) == .recorded)
        #expect(shared.count == 0 && ledger.entries.count == 1 && store.admittedCount == 0)
    }

    @Test func refusesInAnOutage() async throws {
        shared.answer(with: .failure(.unavailable(.unreachable)))
        let decision = try decision(spends: true)
        await #expect(throws: StoreError.unavailable(.unreachable)) { try await store().commit(decision) }
        #expect(ledger.entries.isEmpty)
    }

    @Test func admitsInAnOutageWhereItIsTold() async throws {
        shared.answer(with: .failure(.unavailable(.unreachable)))
        let store = store(.admit)
        #expect(try await store.commit(decision(spends: true)) == .recorded)
        #expect(ledger.entries.count == 1 && store.admittedCount == 1)
    }

    /// A picture that runs goes on, whatever the rule says of new ones.
    @Test(arguments: [SharedDecisionStore.OutageRule.refuse, .admit])
    func renewsSessionsInAnOutage(rule: SharedDecisionStore.OutageRule) async throws {
        shared.answer(with: .failure(.unavailable(.unreachable)))
        var renewal = try decision(spends: true)
        renewal.sessionTokenUse = SessionTokenUse(
            session: try #require(Pseudonym([UInt8](repeating: 4, count: 32))), generation: 1, keptUntil: 100)
        let store = store(rule)
        #expect(try await store.commit(renewal) == .recorded)
        #expect(ledger.entries.count == 1 && store.admittedCount == 1)
        shared.answer(with: .failure(.unavailable(.busy)))
        await #expect(throws: StoreError.unavailable(.busy)) { try await store.commit(renewal) }
    }

    /// Who floods the database must not gain by it.
    @Test(arguments: [StoreError.unavailable(.busy), .unavailable(.damaged), .recordMalformed])
    func admitsNothingWhileTheDatabaseAnswers(error: StoreError) async throws {
        shared.answer(with: .failure(error))
        let (store, decision) = (store(.admit), try decision(spends: true))
        await #expect(throws: error) { try await store.commit(decision) }
        #expect(ledger.entries.isEmpty && store.admittedCount == 0)
    }

    /// Node and database disagree about the time: that is no outage, whatever the rule for outages says.
    @Test(arguments: [SharedDecisionStore.OutageRule.refuse, .admit])
    func countsNothingWhileTheClocksDiffer(rule: SharedDecisionStore.OutageRule) async throws {
        let store = SharedDecisionStore(shared: shared, ledger: ledger, onStoreOutage: rule) { false }
        let decision = try decision(spends: true)
        await #expect(throws: StoreError.unavailable(.clockUntrusted)) { try await store.commit(decision) }
        #expect(shared.count == 0 && ledger.entries.isEmpty && store.admittedCount == 0)
        #expect(try await store.commit(self.decision(spends: false)) == .recorded)
        var renewal = decision
        renewal.sessionTokenUse = SessionTokenUse(
            session: try #require(Pseudonym([UInt8](repeating: 4, count: 32))), generation: 1, keptUntil: 100)
        #expect(try await store.commit(renewal) == .recorded)
        #expect(shared.count == 0 && ledger.entries.count == 2 && store.admittedCount == 1)
    }

    @Test(arguments: [SharedDecisionStore.OutageRule.refuse, .admit], [true, false])
    func givesNothingThatTheLedgerDoesNotTake(rule: SharedDecisionStore.OutageRule, spends: Bool) async throws {
        ledger.fail(with: .unavailable(.diskFull))
        let (store, decision) = (store(rule), try decision(spends: spends))
        await #expect(throws: StoreError.unavailable(.diskFull)) { try await store.commit(decision) }
        shared.answer(with: .failure(.unavailable(.unreachable)))
        await #expect(throws: StoreError.self) { try await store.commit(decision) }
        #expect(store.admittedCount == 0)
    }

    @Test(arguments: [DecisionDenial.replayed, .tokenUsed(limit: 3), .slotEvicted])
    func writesDownNothingThatIsDenied(denial: DecisionDenial) async throws {
        shared.answer(with: .success(.denied(denial)))
        #expect(try await store(.admit).commit(decision(spends: true)) == .denied(denial))
        #expect(ledger.entries.isEmpty)
    }

    /// As after a crash between the two: the licence that the client gets at last is in the ledger.
    @Test func writesDownARepetitionUnderItsFirstName() async throws {
        let first = LicenseID(Bytes16(high: 9, low: 9))
        let answer = RecordedAnswer(license: first, use: .streaming).bytes
        shared.answer(with: .success(.repeated(answer: answer)))
        #expect(try await store().commit(decision(spends: true)) == .repeated(answer: answer))
        #expect(ledger.entries.map(\.license) == [first])
    }

    @Test func repeatsNothingThatItCannotRead() async throws {
        shared.answer(with: .success(.repeated(answer: [1, 2])))
        let decision = try decision(spends: true)
        await #expect(throws: StoreError.recordMalformed) { try await store().commit(decision) }
        #expect(ledger.entries.isEmpty)
    }
}

private final class SharedStandIn: SharedStateStore {
    private let state = Mutex<(count: Int, outcome: Result<DecisionOutcome, StoreError>)>((0, .success(.recorded)))

    var count: Int { state.withLock { $0.count } }

    func answer(with outcome: Result<DecisionOutcome, StoreError>) {
        state.withLock { $0.outcome = outcome }
    }

    func settle(_ decision: LicenseDecision) async throws(StoreError) -> DecisionOutcome {
        let outcome = state.withLock { state in
            state.count += 1
            return state.outcome
        }
        return try outcome.get()
    }
}

private final class LedgerStandIn: Ledger {
    private let state = Mutex<(entries: [LedgerEntry], error: StoreError?)>(([], nil))

    var entries: [LedgerEntry] { state.withLock { $0.entries } }

    func fail(with error: StoreError) {
        state.withLock { $0.error = error }
    }

    func append(_ entry: LedgerEntry) async throws(StoreError) {
        if let error = state.withLock({ $0.error }) { throw error }
        state.withLock { $0.entries.append(entry) }
    }
}
