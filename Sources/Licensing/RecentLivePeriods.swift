package import ContentKeys
import Entitlements
import Synchronization
package import Telemetry

/// Remembers which periods of live contents are served, so that the store is not asked for every viewer.
///
/// Only keys that have a period are looked at. What was found is believed for `life`; until then one request asks the
/// store again, and the others go on with what is known, or wait for the one answer if nothing is. A refusal comes from
/// knowledge that has the period in question. At most `capacity` contents are held.
///
/// A store that gives no answer refuses nothing: what was known last holds, and a period of which nothing is known is
/// served. Its key was found, so that the content has a right holder, and an outage must not cut viewers off.
package final class RecentLivePeriods: Sendable {
    package static let capacityDefault = 1_024
    package static let lifeDefault: Duration = .seconds(3)

    private struct Entry {
        /// Nil for a content that does not rotate.
        let found: LivePeriods?
        let foundAt: MonotonicTime

        func knows(_ period: UInt32) -> Bool { found?.knows(period) ?? true }

        func isOlder(than other: Entry) -> Bool { foundAt < other.foundAt }
    }

    /// A question to the store that has no answer yet.
    private struct Question {
        let askedAt: MonotonicTime
        var waiting: [CheckedContinuation<Entry?, Never>] = []
        /// Whether it was waited for long enough: then no request waits for it.
        var isLate = false
    }

    private struct State {
        var entries: RecentEntries<ContentID, Entry>
        var questions: [ContentID: Question] = [:]
    }

    private enum Turn {
        /// An answer has come meanwhile.
        case answered(Entry)
        case ask
        case wait
        case goOn
    }

    /// After so long without an answer the store is asked again.
    private static let askAgainAfter: Duration = .seconds(5)

    private let source: any LivePeriodSource
    private let clock: any MonotonicClock
    private let life: Duration
    private let patience: Patience?
    private let state: Mutex<State>

    /// `capacity` is at least 2. With `patience` no request waits longer than that for the store.
    package init(
        source: any LivePeriodSource, capacity: Int = capacityDefault, life: Duration = lifeDefault,
        patience: Patience? = nil, clock: any MonotonicClock = SystemMonotonicClock()
    ) {
        self.source = source
        self.clock = clock
        self.life = life
        self.patience = patience
        state = Mutex(State(entries: RecentEntries(capacity: capacity)))
    }

    /// How many contents are held.
    package var count: Int { state.withLock { $0.entries.count } }

    /// Why the key of a period is not served if the time is one of these, in seconds since 1970. Nil if it is, and for
    /// a key without a period.
    package func refusal(of key: ContentKeyAttributes, at times: ClosedRange<Int64>) async -> PeriodRefusal? {
        guard let period = key.periodIndex else { return nil }
        guard let live = await periods(of: key.contentID, with: period) else { return nil }
        return live.window(at: times)?.refusal(of: period, key.contentID)
    }

    private func periods(of contentID: ContentID, with period: UInt32) async -> LivePeriods? {
        var known = state.withLock { $0.entries[contentID] }
        if let known, known.knows(period) {
            let isYoung = clock.monotonicTime < known.foundAt + life
            // One request asks, and the others do not wait for it.
            if isYoung || isAsked(contentID) { return known.found }
            return (await ask(contentID, since: known) ?? known).found
        }
        // The first answer may be to a question that was asked before the period was made.
        for _ in 0..<2 {
            guard let answer = await ask(contentID, since: known) else { break }
            known = answer
            if answer.knows(period) { break }
        }
        return known?.found
    }

    private func isAsked(_ contentID: ContentID) -> Bool {
        state.withLock { $0.questions[contentID] != nil }
    }

    // MARK: Asking the store

    /// What the store says of a content since it has said `known`; nil if it does not, or not in time. All who ask at
    /// once share one question.
    private func ask(_ contentID: ContentID, since known: Entry?) async -> Entry? {
        switch turn(contentID, since: known) {
        case .answered(let entry): return entry
        case .goOn: return nil
        case .wait: return await answer(about: contentID)
        case .ask:
            guard let patience else { return await look(contentID) }
            if let answer = await patience.answer(to: { [self] in await look(contentID) }) { return answer }
            for waiting in giveUp(contentID) { waiting.resume(returning: nil) }
            return nil
        }
    }

    private func turn(_ contentID: ContentID, since known: Entry?) -> Turn {
        let now = clock.monotonicTime
        return state.withLock { state in
            if let entry = state.entries[contentID], known?.isOlder(than: entry) ?? true { return .answered(entry) }
            if let question = state.questions[contentID], now < question.askedAt + Self.askAgainAfter {
                return question.isLate ? .goOn : .wait
            }
            state.questions[contentID] = Question(
                askedAt: now, waiting: state.questions[contentID]?.waiting ?? [])
            return .ask
        }
    }

    /// Waits for the question that another request has asked.
    private func answer(about contentID: ContentID) async -> Entry? {
        await withCheckedContinuation { continuation in
            let (isOver, entry) = state.withLock { state in
                if state.questions[contentID]?.isLate == false {
                    state.questions[contentID]?.waiting.append(continuation)
                    return (false, Entry?.none)
                }
                return (true, state.entries[contentID])
            }
            if isOver { continuation.resume(returning: entry) }
        }
    }

    /// Asks, remembers the answer, and gives it to all who wait.
    private func look(_ contentID: ContentID) async -> Entry? {
        let now = clock.monotonicTime
        var entry: Entry?
        do throws(StoreError) {
            entry = Entry(found: try await source.livePeriods(of: contentID), foundAt: now)
        } catch {
            // The outage itself is reported by others.
            entry = nil
        }
        let waiting = state.withLock { state in
            // One that was asked for earlier may come later.
            if let entry, state.entries[contentID].map({ !entry.isOlder(than: $0) }) ?? true {
                state.entries.remember(entry, for: contentID)
            }
            return state.questions.removeValue(forKey: contentID)?.waiting ?? []
        }
        for continuation in waiting { continuation.resume(returning: entry) }
        return entry
    }

    private func giveUp(_ contentID: ContentID) -> [CheckedContinuation<Entry?, Never>] {
        state.withLock { state in
            state.questions[contentID]?.isLate = true
            defer { state.questions[contentID]?.waiting = [] }
            return state.questions[contentID]?.waiting ?? []
        }
    }
}

/// The check that a live content's period is served at this time.
///
/// What has left the window is judged by the settled time, and what is not due yet by the time for decisions. So a
/// clock that is stepped, or not trusted, serves more periods and never fewer.
package struct ServedPeriods: Sendable {
    private let recent: RecentLivePeriods?
    private let clock: TrustedClock?

    /// Without `recent` every period is served. Without a clock the times of the checks decide.
    package init(recent: RecentLivePeriods? = nil, clock: TrustedClock? = nil) {
        self.recent = recent
        self.clock = clock
    }

    /// Throws `periodNotServed`, but only if the claims cover the key: otherwise the gate refuses them, and the sender
    /// learns nothing of the content. `now` is in seconds since 1970.
    func check(_ key: ContentKeyAttributes, for claims: Claims, now: Int64) async throws(LicenseError) {
        guard let recent, key.periodIndex != nil,
            Gate.namesAsset(claims, contentID: key.contentID.text, keyID: key.keyID)
        else { return }
        let refusal = await recent.refusal(of: key, at: clock?.possibleTimes ?? now...now)
        if let refusal { throw .periodNotServed(refusal) }
    }
}
