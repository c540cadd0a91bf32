package import ContentKeys
import Synchronization
package import Telemetry

/// Remembers the keys that were found lately, so that a popular content is not looked up and unsealed for every viewer.
///
/// An entry is found by the exact asset id and believed for `life`; so a key that is withdrawn is still given out for that long, and what was
/// not found is looked up again each time. While the source does not answer, an entry is believed for `lifeInOutage`. At most `capacity` entries are held, however many asset ids are asked for: when the younger
/// half is full, the older one is forgotten.
package final class RecentContentKeys: Sendable {
    package static let capacityDefault = 4_096
    package static let lifeDefault: Duration = .seconds(2)

    private struct Entry {
        let record: ContentKeyRecord
        let foundAt: MonotonicTime
    }

    private struct Generations {
        var younger: [AssetID: Entry] = [:]
        var older: [AssetID: Entry] = [:]
    }

    private let source: any ContentKeySource
    private let clock: any MonotonicClock
    private let life: Duration
    private let lifeInOutage: Duration
    private let halfCapacity: Int
    private let generations = Mutex(Generations())

    /// `capacity` is at least 2. A `lifeInOutage` that is not longer than `life` adds nothing.
    package init(
        source: any ContentKeySource, capacity: Int = capacityDefault, life: Duration = lifeDefault,
        lifeInOutage: Duration = .zero, clock: any MonotonicClock = SystemMonotonicClock()
    ) {
        precondition(capacity >= 2, "a cache of two halves holds at least two entries")
        self.source = source
        self.clock = clock
        self.life = life
        self.lifeInOutage = lifeInOutage
        halfCapacity = capacity / 2
    }

    /// How many entries are held.
    package var count: Int {
        generations.withLock { $0.younger.count + $0.older.count }
    }

    /// The key of an asset id, from memory or from the source.
    package func record(for assetID: AssetID) async throws(StoreError) -> ContentKeyRecord? {
        let now = clock.monotonicTime
        if let known = known(assetID, for: life, now) { return known }
        let found: ContentKeyRecord?
        do throws(StoreError) {
            found = try await source.record(for: AssetReference(assetID))
        } catch {
            guard error == .unavailable(.unreachable), let known = known(assetID, for: lifeInOutage, now) else {
                throw error
            }
            return known
        }
        guard let found else { return nil }
        remember(Entry(record: found, foundAt: now), for: assetID)
        return found
    }

    private func known(_ assetID: AssetID, for life: Duration, _ now: MonotonicTime) -> ContentKeyRecord? {
        let entry = generations.withLock { $0.younger[assetID] ?? $0.older[assetID] }
        guard let entry, now < entry.foundAt + life else { return nil }
        return entry.record
    }

    private func remember(_ entry: Entry, for assetID: AssetID) {
        generations.withLock { generations in
            if generations.younger.count >= halfCapacity {
                generations.older = generations.younger
                generations.younger = [:]
            }
            generations.younger[assetID] = entry
        }
    }
}
