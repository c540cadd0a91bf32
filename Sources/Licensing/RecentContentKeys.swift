import ByteCoding
package import ContentKeys
import Synchronization
package import Telemetry

/// Remembers the keys that were found lately, so that a popular content is not looked up and unsealed for every viewer.
///
/// An entry is found by the exact asset id and is used for `life`. So a withdrawn key is still given out for that long.
/// An asset id that was not found is looked up again each time. At most `capacity` entries are held.
///
/// If the source is away or busy, or `patience` ends before it answers, an entry is used for `lifeInOutage`.
package final class RecentContentKeys: Sendable {
    package static let capacityDefault = 4_096
    package static let lifeDefault: Duration = .seconds(2)

    private struct Entry {
        let record: ContentKeyRecord
        let foundAt: MonotonicTime
    }

    private typealias Found = Result<ContentKeyRecord?, StoreError>

    private struct State {
        var entries: RecentEntries<AssetID, Entry>
        /// When the source was asked about an asset id while no request waited for the answer.
        var asked: [AssetID: MonotonicTime] = [:]
        var forms: AssetForms
    }

    /// How long a question may be without an answer until the source is asked again.
    private static let askAgainAfter: Duration = .seconds(5)

    private let source: any ContentKeySource
    private let clock: any MonotonicClock
    private let life: Duration
    private let lifeInOutage: Duration
    private let patience: Patience?
    private let state: Mutex<State>

    /// `capacity` is at least 2. A `lifeInOutage` that is not longer than `life` adds nothing. `forms` are those of the
    /// installation, until they are replaced.
    package init(
        source: any ContentKeySource, forms: AssetForms = .none, capacity: Int = capacityDefault,
        life: Duration = lifeDefault, lifeInOutage: Duration = .zero, patience: Patience? = nil,
        clock: any MonotonicClock = SystemMonotonicClock()
    ) {
        self.source = source
        self.clock = clock
        self.life = life
        self.lifeInOutage = lifeInOutage
        self.patience = patience
        state = Mutex(State(entries: RecentEntries(capacity: capacity), forms: forms))
    }

    /// The forms by which asset ids are read.
    package var forms: AssetForms { state.withLock { $0.forms } }

    /// Reads asset ids by other forms from now on. If they differ, the entries are forgotten.
    package func use(_ forms: AssetForms) {
        state.withLock { state in
            guard state.forms != forms else { return }
            state.forms = forms
            state.entries.forgetAll { _ in true }
        }
    }

    /// What an asset id may name.
    func reference(to assetID: AssetID) -> AssetReference { AssetReference(assetID, forms) }

    package let lookups = CacheCount()

    /// How many entries are held.
    package var count: Int { state.withLock { $0.entries.count } }

    /// The key of an asset id, from memory or from the source.
    package func record(for assetID: AssetID) async throws(StoreError) -> ContentKeyRecord? {
        let now = clock.monotonicTime
        let fresh = known(assetID, for: life, now)
        lookups.note(isHit: fresh != nil)
        if let fresh { return fresh }
        guard let known = known(assetID, for: lifeInOutage, now) else { return try await ask(assetID).get() }
        switch await askPatiently(assetID) {
        case nil, .failure(.unavailable(.unreachable)), .failure(.unavailable(.busy)),
            .failure(.unavailable(.misconfigured)):
            return known
        case .some(let found): return try found.get()
        }
    }

    /// The source's answer about an asset id; nil if it does not come in time.
    private func askPatiently(_ assetID: AssetID) async -> Found? {
        guard let patience else { return await ask(assetID) }
        // While no request waits for an answer, one question about each asset id is enough.
        if patience.isOpen, !beginAsking(assetID) { return nil }
        return await patience.answer { [self] in
            let found = await ask(assetID)
            state.withLock { $0.asked[assetID] = nil }
            return found
        }
    }

    /// Notes that the source is asked about an asset id; returns false if another question about it is under way.
    private func beginAsking(_ assetID: AssetID) -> Bool {
        let now = clock.monotonicTime
        return state.withLock { state in
            if let before = state.asked[assetID], now < before + Self.askAgainAfter { return false }
            state.asked[assetID] = now
            return true
        }
    }

    private func ask(_ assetID: AssetID) async -> Found {
        let now = clock.monotonicTime
        do throws(StoreError) {
            let forms = forms
            let found = try await source.record(for: AssetReference(assetID, forms))
            if let found { remember(Entry(record: found, foundAt: now), for: assetID, forms) } else { forget(assetID) }
            return .success(found)
        } catch {
            return .failure(error)
        }
    }

    private func known(_ assetID: AssetID, for life: Duration, _ now: MonotonicTime) -> ContentKeyRecord? {
        let entry = state.withLock { $0.entries[assetID] }
        guard let entry, now < entry.foundAt + life else { return nil }
        return entry.record
    }

    /// Forgets a key that the source no longer has, so that an outage does not bring it back.
    private func forget(_ assetID: AssetID) {
        state.withLock { $0.entries.forget(assetID) }
    }

    /// Does nothing if the forms were replaced meanwhile.
    private func remember(_ entry: Entry, for assetID: AssetID, _ forms: AssetForms) {
        state.withLock { if $0.forms == forms { $0.entries.remember(entry, for: assetID) } }
    }
}
