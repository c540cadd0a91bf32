import ByteCoding
import ContentKeys
import PackagerAPI
import Synchronization
import Telemetry

/// Remembers the keys that packagers were given lately.
///
/// An entry is believed as `RecentContentKeys` believes its own: for `life` without a question to the store, so that a
/// key that is withdrawn is given out for that much longer, and for `lifeInOutage` while the store cannot be reached.
/// At most `capacity` entries are held: when the younger half is full, the older one is forgotten.
final class RecentlyProvidedKeys: Sendable {
    /// What was asked for.
    enum Name: Hashable {
        case keyID(KeyID)
        case track(ContentID, TrackLabel?, period: UInt32?)
        case page(KeyPageQuery)
    }

    /// Of all keys of an entry together, in keys: a page may have many.
    static let capacityDefault = 8_192

    private struct Entry {
        let page: KeyPage
        let foundAt: MonotonicTime
    }

    /// The keys of an order, as they were found.
    struct Found {
        var records: [ContentKeyRecord] = []
        /// Until when they are believed without a question to the store.
        var end = MonotonicTime.distantFuture
        /// `changeCount` before they were looked up.
        let changeCount: UInt64
    }

    private struct Generations {
        var younger: [Name: Entry] = [:]
        var older: [Name: Entry] = [:]
        /// The keys of the younger half.
        var youngerKeyCount = 0
    }

    private let clock: any MonotonicClock
    private let life: Duration
    private let lifeInOutage: Duration
    private let halfCapacity: Int
    private let generations = Mutex(Generations())
    private let changes = Atomic<UInt64>(0)

    init(capacity: Int = capacityDefault, life: Duration, lifeInOutage: Duration, clock: any MonotonicClock) {
        precondition(capacity >= 2, "a cache of two halves holds at least two entries")
        self.clock = clock
        self.life = life
        self.lifeInOutage = max(life, lifeInOutage)
        halfCapacity = capacity / 2
    }

    /// The key of each wish; nil unless every one is remembered and is the one that is wished for.
    func keys(_ wishes: [KeyWish], inOutage: Bool) -> [ContentKeyRecord]? {
        var found: [ContentKeyRecord] = []
        for wish in wishes {
            guard let page = page(Self.name(of: wish), inOutage: inOutage), let record = page.keys.first,
                wish.conflict(with: record) == nil
            else { return nil }
            found.append(record)
        }
        return found
    }

    /// The same for an order while there is no outage. Making wishes of it would take key material.
    func keys(of order: KeyOrder) -> Found? {
        let now = clock.monotonicTime
        var found = Found(changeCount: changeCount)
        found.records.reserveCapacity(order.keys.count)
        for key in order.keys {
            let name: Name =
                if let keyID = key.keyID {
                    .keyID(keyID)
                } else {
                    .track(order.contentID, key.track.label, period: key.periodIndex)
                }
            guard let entry = entry(name, for: life, at: now), let record = entry.page.keys.first,
                KeyWish.conflict(
                    contentID: order.contentID, trackLabel: key.track.label, periodIndex: key.periodIndex,
                    scheme: key.scheme, iv: key.iv, key: key.key, with: record) == nil
            else { return nil }
            found.records.append(record)
            found.end = min(found.end, entry.foundAt + life)
        }
        return found
    }

    /// How often an entry was replaced, or forgotten because the store does not give its key. While this number stays
    /// the same, keys that were found are still the ones that would be found.
    var changeCount: UInt64 { changes.load(ordering: .acquiring) }

    func page(_ name: Name, inOutage: Bool) -> KeyPage? {
        entry(name, for: inOutage ? lifeInOutage : life, at: clock.monotonicTime)?.page
    }

    private func entry(_ name: Name, for life: Duration, at now: MonotonicTime) -> Entry? {
        let entry = generations.withLock { $0.younger[name] ?? $0.older[name] }
        guard let entry, now < entry.foundAt + life else { return nil }
        return entry
    }

    func remember(_ record: ContentKeyRecord, for wish: KeyWish) {
        remember(KeyPage(keys: [record], next: nil), for: Self.name(of: wish))
    }

    func remember(_ page: KeyPage, for name: Name) {
        let entry = Entry(page: page, foundAt: clock.monotonicTime)
        generations.withLock { generations in
            if generations.youngerKeyCount >= halfCapacity {
                generations.older = generations.younger
                generations.younger = [:]
                generations.youngerKeyCount = 0
            }
            // An entry that takes the place of another one is counted again: that only forgets earlier.
            generations.youngerKeyCount += max(1, page.keys.count)
            let isReplaced = generations.younger[name] != nil || generations.older[name] != nil
            generations.younger[name] = entry
            if isReplaced { changes.add(1, ordering: .releasing) }
        }
    }

    /// A key that the store does not give must not come back in an outage.
    func forget(_ wishes: [KeyWish]) {
        generations.withLock { generations in
            for name in wishes.map(Self.name) {
                generations.younger[name] = nil
                generations.older[name] = nil
            }
            changes.add(1, ordering: .releasing)
        }
    }

    private static func name(of wish: KeyWish) -> Name {
        let attributes = wish.record.attributes
        return switch wish.identity {
        case .keyID: .keyID(attributes.keyID)
        case .track: .track(attributes.contentID, attributes.trackLabel, period: attributes.periodIndex)
        }
    }
}
