package import ContentKeys
package import Records
import Synchronization

/// Reads run on the caller's thread. A list is a page of at most `limit` rows, found by an index.
extension SQLiteDecisionStore: AccountStore, AccountRecords {
    package func devices(
        of owner: Pseudonym, after: Pseudonym?, now: Int64, limit: Int
    ) async throws(StoreError) -> [KnownDevice] {
        let end = min(now, settledTime().end)
        return try readers.withLock { readers throws(StoreError) in
            try readers.accounts.devices(of: owner, after: after, at: end, limit: limit)
        }
    }

    package func playbacks(
        of owner: Pseudonym, after: PlaybackPosition?, now: Int64, limit: Int
    ) async throws(StoreError) -> [KnownPlayback] {
        try readers.withLock { readers throws(StoreError) in
            try readers.accounts.playbacks(of: owner, after: after, at: now, limit: limit)
        }
    }

    package func rentals(
        of owner: Pseudonym, after: Pseudonym?, now: Int64, limit: Int
    ) async throws(StoreError) -> [KnownRental] {
        let end = min(now, settledTime().end)
        return try readers.withLock { readers throws(StoreError) in
            try readers.accounts.rentals(of: owner, after: after, at: end, limit: limit)
        }
    }

    package func rental(_ name: Pseudonym, now: Int64) async throws(StoreError) -> RentalRecord? {
        let end = min(now, settledTime().end)
        return try readers.withLock { readers throws(StoreError) in try readers.accounts.rental(name, at: end) }
    }

    package func change(_ change: AccountChange) async throws(StoreError) -> Bool {
        try await self.change(.changeAccount(change, entry: nil, at: nil))
    }

    package func make(_ change: AccountChange, recording entry: LedgerEntry) async throws(StoreError) -> Bool {
        try await self.change(.changeAccount(change, entry: entry.encoded(), at: entry.at))
    }
}
