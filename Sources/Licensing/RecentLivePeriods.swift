import ByteCoding
package import ContentKeys
import Entitlements
import Synchronization
package import Telemetry

/// Remembers which key periods of live contents are served, so that the store is not asked for every viewer.
///
/// Only keys that belong to a period are checked. An entry is used for `life`. After that, one request asks the store
/// again, and the others go on with the old entry. If there is no entry yet, they wait for the one answer. A period is
/// refused only by an entry that knows this period. At most `capacity` contents are held.
///
/// If the store gives no answer, nothing is refused: the old entry is used, and a period without an entry is served.
/// The store had its key, and an outage must not cut viewers off.
package final class RecentLivePeriods: Sendable {
    package static let capacityDefault = 1_024
    package static let lifeDefault: Duration = .seconds(3)

    private struct Entry {
        /// The periods of the content; nil for a content whose keys do not rotate.
        let found: LivePeriods?
        let foundAt: MonotonicTime

        func knows(_ period: UInt32) -> Bool { found?.knows(period) ?? true }

        func isOlder(than other: Entry) -> Bool { foundAt < other.foundAt }
    }

    /// A question to the store that has no answer yet.
    private struct Question {
        let askedAt: MonotonicTime
        var waiting: [CheckedContinuation<Entry?, Never>] = []
        /// Whether the answer is late, so that no request waits for it any more.
        var isLate = false
    }

    private struct State {
        var entries: RecentEntries<ContentID, Entry>
        var questions: [ContentID: Question] = [:]
    }

    private enum Turn {
        /// An answer has arrived meanwhile.
        case answered(Entry)
        case ask
        case wait
        case goOn
    }

    /// How long a question may be without an answer until the store is asked again.
    private static let askAgainAfter: Duration = .seconds(5)

    private let source: any LivePeriodSource
    private let clock: any MonotonicClock
    private let life: Duration
    private let patience: Patience?
    private let state: Mutex<State>

    /// `capacity` is at least 2. If there is a `patience`, no request waits longer than its limit for the store.
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

    /// Why the key's period is not served at any of these times, in seconds since 1970; nil if it is served, and for a
    /// key without a period.
    package func refusal(of key: ContentKeyAttributes, at times: ClosedRange<Int64>) async -> PeriodRefusal? {
        guard let period = key.periodIndex else { return nil }
        guard let live = await periods(of: key.contentID, with: period) else { return nil }
        return live.window(at: times)?.refusal(of: period, key.contentID)
    }

    private func periods(of contentID: ContentID, with period: UInt32) async -> LivePeriods? {
        var known = state.withLock { $0.entries[contentID] }
        if let known, known.knows(period) {
            let isYoung = clock.monotonicTime < known.foundAt + life
            // Only one request asks again. The others go on with the old entry.
            if isYoung || isAsked(contentID) { return known.found }
            return (await ask(contentID, since: known) ?? known).found
        }
        // The first answer may belong to a question that was asked before the period was created.
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

    /// An answer of the store that is newer than `known`; nil if the store gives none in time. Requests that ask at the
    /// same time share one question.
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

    /// Asks the store, remembers the answer, and gives it to all requests that wait.
    private func look(_ contentID: ContentID) async -> Entry? {
        let now = clock.monotonicTime
        var entry: Entry?
        do throws(StoreError) {
            entry = Entry(found: try await source.livePeriods(of: contentID), foundAt: now)
        } catch {
            // Other code reports the outage.
            entry = nil
        }
        let waiting = state.withLock { state in
            // The answer to an earlier question may arrive after the answer to a later one.
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

/// Checks that a live content's key period is served at this time.
///
/// The settled time decides whether a period has left the window. The time for decisions decides whether a period is
/// due. So a clock that was stepped or is not trusted serves more periods, and never fewer.
package struct ServedPeriods: Sendable {
    private let recent: RecentLivePeriods?
    private let clock: TrustedClock?

    /// Without `recent` every period is served. Without a clock the times of the checks decide.
    package init(recent: RecentLivePeriods? = nil, clock: TrustedClock? = nil) {
        self.recent = recent
        self.clock = clock
    }

    /// Throws `periodNotServed` if the key's period is not served. `now` is in seconds since 1970.
    ///
    /// If the claims do not cover the key, nothing is checked: the gate refuses them, and the sender learns nothing
    /// about the content.
    func check(_ key: ContentKeyAttributes, for held: HeldClaims, now: Int64) async throws(LicenseError) {
        guard let recent, key.periodIndex != nil,
            Gate.namesAsset(held.claims, contentID: key.contentID.text, keyID: key.keyID)
        else { return }
        let refusal = await recent.refusal(of: key, at: clock?.possibleTimes ?? now...now)
        if let refusal { throw .periodNotServed(refusal) }
    }
}
