package import ContentKeys
package import Records
import Synchronization

/// Reads run on the caller's thread, and take about a microsecond for each revocation.
extension SQLiteDecisionStore: RevocationStore {
    package func revoke(_ revocation: Revocation) async throws(StoreError) {
        _ = try await change(.revoke(revocation, entry: nil))
    }

    package func lift(
        _ kind: Revocation.Kind, _ value: String, of issuer: String?
    ) async throws(StoreError) -> Bool {
        let key = RevocationKey(kind: kind.rawValue, issuer: issuer ?? "", value: value)
        return try await change(.lift(key, entry: nil, at: nil))
    }

    package func revocation(
        _ kind: Revocation.Kind, _ value: String, of issuer: String?
    ) async throws(StoreError) -> Revocation? {
        let key = RevocationKey(kind: kind.rawValue, issuer: issuer ?? "", value: value)
        return try readers.withLock { readers throws(StoreError) in try readers.revocations.revocation(key) }
    }

    package func revocations(after key: RevocationKey?, limit: Int) async throws(StoreError) -> RevocationPage {
        try readers.withLock { readers throws(StoreError) in
            try readers.revocations.revocations(after: key, limit: limit)
        }
    }

    package func newestRevocations(limit: Int) async throws(StoreError) -> [Revocation] {
        try readers.withLock { readers throws(StoreError) in try readers.revocations.newestRevocations(limit: limit) }
    }

    package func revocationPosition() async throws(StoreError) -> RevocationPosition {
        try readers.withLock { readers throws(StoreError) in try readers.revocations.revocationPosition() }
    }

    package func revocationChanges(
        after position: RevocationPosition, limit: Int
    ) async throws(StoreError) -> RevocationNews {
        try readers.withLock { readers throws(StoreError) in
            try readers.revocations.revocationChanges(after: position, limit: limit)
        }
    }
}

/// The revocation and its ledger entry are written in one transaction. There are no other nodes to share it with.
extension SQLiteDecisionStore: RevocationRecords {
    package func revoke(_ revocation: Revocation, recording entry: LedgerEntry) async throws(StoreError) {
        _ = try await change(.revoke(revocation, entry: entry.encoded()))
    }

    package func share(_ revocation: Revocation) async -> Bool { true }

    package func lift(_ revocation: Revocation, recording entry: LedgerEntry) async throws(StoreError) -> Bool {
        try await change(.lift(RevocationKey(revocation), entry: entry.encoded(), at: entry.at))
    }
}

extension SQLiteDecisionStore: PendingRevocations {
    package func keep(_ revocation: Revocation, recording entry: LedgerEntry) async throws(StoreError) {
        _ = try await change(.keepPending(revocation, entry: entry.encoded()))
    }

    package func drop(_ revocation: Revocation) async throws(StoreError) {
        _ = try await change(.dropPending(revocation))
    }

    package func drop(_ key: RevocationKey, recording entry: LedgerEntry) async throws(StoreError) {
        _ = try await change(.dropAnyPending(key, entry: entry.encoded(), at: entry.at))
    }

    package func pendingRevocations() async throws(StoreError) -> [Revocation] {
        try readers.withLock { readers throws(StoreError) in try readers.revocations.pendingRevocations() }
    }
}
