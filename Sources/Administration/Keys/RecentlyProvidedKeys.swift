import ByteCoding
import ContentKeys
import PackagerAPI
import Synchronization
import Telemetry

/// Remembers the keys that packagers got recently.
///
/// An entry is used as in `RecentContentKeys`: for `life` without asking the store, and for `lifeInOutage` while the
/// store cannot be reached. A withdrawn key may therefore be delivered for the rest of that time. The entries hold at
/// most `capacity` keys: when the younger half is full, the older half is dropped.
final class RecentlyProvidedKeys: Sendable {
    /// The name of an entry: a key id, a track, or a query for a page.
    enum Name: Hashable {
        case keyID(KeyID)
        case track(ContentID, TrackLabel?, period: UInt32?)
        case page(KeyPageQuery)
    }

    /// The largest number of keys in all entries together; a page may have many keys.
    static let capacityDefault = 8_192

    private struct Entry {
        let page: KeyPage
        let foundAt: MonotonicTime
    }

    /// The remembered keys of an order.
    struct Found {
        var records: [ContentKeyRecord] = []
        /// The end of the time in which the keys are used without a question to the store.
        var end = MonotonicTime.distantFuture
        /// The value of `changeCount` before the look-up.
        let changeCount: UInt64
    }

    private struct State {
        var entries: RecentEntries<Name, Entry>
        /// The number of keys in the younger half, which is never less than the number of its entries.
        var youngerKeyCount = 0
    }

    private let clock: any MonotonicClock
    private let life: Duration
    private let lifeInOutage: Duration
    private let halfCapacity: Int
    private let state: Mutex<State>
    private let changes = Atomic<UInt64>(0)

    init(capacity: Int = capacityDefault, life: Duration, lifeInOutage: Duration, clock: any MonotonicClock) {
        self.clock = clock
        self.life = life
        self.lifeInOutage = max(life, lifeInOutage)
        halfCapacity = capacity / 2
        state = Mutex(State(entries: RecentEntries(capacity: capacity)))
    }

    /// Returns the key of each wish. Returns nil unless each key is remembered and is the wanted one.
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

    /// Returns the keys of an order while there is no outage. It makes no wishes, because that would need key material.
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
                    scheme: key.scheme, iv: key.iv, key: key.key, leastHDCP: key.leastHDCP,
                    leastSecurityLevel: key.leastSecurityLevel, with: record) == nil
            else { return nil }
            found.records.append(record)
            found.end = min(found.end, entry.foundAt + life)
        }
        return found
    }

    /// Counts the entries that were replaced, or forgotten because the store does not give their keys. While this
    /// number stays the same, a look-up finds the same keys again.
    var changeCount: UInt64 { changes.load(ordering: .acquiring) }

    func page(_ name: Name, inOutage: Bool) -> KeyPage? {
        entry(name, for: inOutage ? lifeInOutage : life, at: clock.monotonicTime)?.page
    }

    private func entry(_ name: Name, for life: Duration, at now: MonotonicTime) -> Entry? {
        let entry = state.withLock { $0.entries[name] }
        guard let entry, now < entry.foundAt + life else { return nil }
        return entry
    }

    func remember(_ record: ContentKeyRecord, for wish: KeyWish) {
        remember(KeyPage(keys: [record], next: nil), for: Self.name(of: wish))
    }

    func remember(_ page: KeyPage, for name: Name) {
        let entry = Entry(page: page, foundAt: clock.monotonicTime)
        state.withLock { state in
            if state.youngerKeyCount >= halfCapacity {
                state.entries.beginHalf()
                state.youngerKeyCount = 0
            }
            // An entry that replaces another one is counted again. This only drops entries earlier.
            state.youngerKeyCount += max(1, page.keys.count)
            let isReplaced = state.entries[name] != nil
            state.entries.remember(entry, for: name)
            if isReplaced { changes.add(1, ordering: .releasing) }
        }
    }

    /// Forgets keys that the store does not return, so that they do not come back in an outage.
    func forget(_ wishes: [KeyWish]) {
        state.withLock { state in
            for name in wishes.map(Self.name) { state.entries.forget(name) }
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
