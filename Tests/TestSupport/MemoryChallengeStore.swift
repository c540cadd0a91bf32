package import ContentKeys
import KeyCrypto
package import Records
import Synchronization

/// A store of open challenges in memory, which follows the rules of `ChallengeStore`.
package final class MemoryChallengeStore: ChallengeStore {
    private struct Key: Hashable {
        let challenge: UInt64
        let holder: Pseudonym
    }

    /// The end of each challenge, in seconds since 1970.
    private let ends = Mutex<[Key: Int64]>([:])

    package init() {}

    package func open(
        _ challenge: UInt64, for holder: Pseudonym, now: Int64, expiresAt: Int64, limit: Int
    ) async throws(StoreError) -> Bool {
        ends.withLock { ends in
            ends = ends.filter { now < $1 }
            let key = Key(challenge: challenge, holder: holder)
            guard ends.keys.count(where: { $0.holder == holder }) < limit, ends[key] == nil else { return false }
            ends[key] = expiresAt
            return true
        }
    }

    package func take(_ challenge: UInt64, from holder: Pseudonym, now: Int64) async throws(StoreError) -> Bool {
        let end = ends.withLock { $0.removeValue(forKey: Key(challenge: challenge, holder: holder)) }
        return end.map { now < $0 } ?? false
    }

    /// Makes pseudonyms of holders, with a key for tests.
    package static func pseudonyms() throws -> Pseudonymizer {
        Pseudonymizer(key: try HMACSHA256Key(SecretBytes(copying: [UInt8](repeating: 7, count: 32))))
    }
}
