import ContentKeys
import Records
import Testing

@testable import StoragePostgreSQL

/// A node's store whose database has the time of each call. A real database has a clock of its own, which no caller
/// changes.
struct ClockedNode: SharedStateStore, ChallengeStore, PlaybackSlotStore {
    let store: PostgreSQLStore
    let database: TestDatabase

    private func set(_ time: Int64) {
        do { try database.setTime(time) } catch { Issue.record("the database's time was not set: \(error)") }
    }

    func settle(_ decision: LicenseDecision) async throws(StoreError) -> DecisionOutcome {
        set(decision.now)
        return try await store.settle(decision)
    }

    func noteRecorded(_ request: Pseudonym) { store.noteRecorded(request) }

    func release(_ claims: [SlotClaim], at now: Int64) async throws(StoreError) {
        set(now)
        try await store.release(claims, at: now)
    }

    func open(
        _ challenge: UInt64, for holder: Pseudonym, now: Int64, expiresAt: Int64, limit: Int
    ) async throws(StoreError) -> Bool {
        set(now)
        return try await store.open(challenge, for: holder, now: now, expiresAt: expiresAt, limit: limit)
    }

    func take(_ challenge: UInt64, from holder: Pseudonym, now: Int64) async throws(StoreError) -> Bool {
        set(now)
        return try await store.take(challenge, from: holder, now: now)
    }
}
