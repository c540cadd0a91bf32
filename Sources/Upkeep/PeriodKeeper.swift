package import Administration
import ContentKeys
package import EventLoops
package import Records
package import RouteKit
import Synchronization
package import Telemetry

/// Makes the keys of the next periods of live contents that have a schedule.
///
/// Each node makes a pass every few seconds, at random times. The first node that needs a key makes it; the others find
/// it. While the store takes no writes, licenses for existing periods are still issued.
package final class PeriodKeeper: Sendable {
    /// The shortest pause between two passes. The longest pause is twice as long.
    static let pauseDefault: Duration = .seconds(5)
    /// The seconds by which periods are made early, so that the next one is not missing between a boundary and the pass
    /// that follows it. Less than the shortest period.
    private static let lead: Int64 = 30
    /// The number of contents that are read at once.
    private static let pageSize = 500
    /// The seconds after the end of its last period after which a packager's content counts as ended.
    private static let toldLife: Int64 = 3_600

    private struct State {
        var scheduled: [Scheduled] = []
        /// The end of the last period, in seconds since 1970, of each content whose packager has sent that end.
        var told: [ContentID: Int64] = [:]
        /// Why the last pass was not complete; nil if it was complete.
        var failure: String?
    }

    /// A content whose periods Latchkey makes.
    private struct Scheduled {
        let content: LiveContent
        /// The periods, among those that are due, that have all their keys.
        let complete: Set<UInt32>
    }

    private let desk: PeriodDesk
    private let actor: String
    private let ledger: any Ledger
    private let clock: TrustedClock
    private let logger: Logger
    private let routine: Routine
    private let state = Mutex(State())

    /// Starts the first pass.
    ///
    /// `actor` is the actor in the rows of the ledger.
    package init(
        _ desk: PeriodDesk, actor: String, every pause: Duration = pauseDefault, ledger: any Ledger,
        on loop: LoopContext, clock: TrustedClock, logger: Logger
    ) {
        self.desk = desk
        self.actor = actor
        self.clock = clock
        self.logger = logger
        self.ledger = ledger
        routine = Routine(on: loop)
        routine.start(
            every: { pause + pause * Double.random(in: 0...1) }, pass: { [self] in await refresh() })
    }

    /// Must not be called on a loop. A second call returns immediately.
    package func stop() {
        routine.stop(within: .seconds(2))
    }

    /// A degradation if the last pass failed, because periods may soon be missing.
    package var degradations: [Degradation] {
        state.withLock { state in
            state.failure.map { [Degradation(part: .periods, cause: $0, stopsLicenses: false)] } ?? []
        }
    }

    // MARK: Passes

    private func refresh() async {
        do throws(StoreError) {
            let times = clock.possibleTimes
            let told = try await desk.store.toldEnds(after: times.lowerBound - Self.toldLife)
            var (scheduled, ended, failure) = ([Scheduled](), Set<ContentID>(), String?.none)
            for content in try await contents() {
                if content.endedAt != nil { ended.insert(content.contentID) }
                guard content.rotates else { continue }
                let (standing, cause) = try await keep(content, times.lowerBound...times.upperBound + Self.lead)
                scheduled.append(standing)
                failure = failure ?? cause
            }
            let names = Set(scheduled.map(\.content.contentID)).union(ended)
            state.withLock { [scheduled, failure] state in
                state.scheduled = scheduled
                state.told = told.filter { !names.contains($0.key) }
                state.failure = failure
            }
        } catch {
            // The last known state stays, for the metrics too. A node without live contents lacks nothing.
            state.withLock { state in
                state.failure = state.scheduled.isEmpty ? nil : "live contents: \(error.explanation)"
            }
        }
    }

    private func contents() async throws(StoreError) -> [LiveContent] {
        var found: [LiveContent] = []
        while true {
            let page = try await desk.store.liveContents(after: found.last?.contentID, limit: Self.pageSize)
            found += page
            guard page.count == Self.pageSize else { return found }
        }
    }

    /// Makes the missing periods of a content. Returns its state after that, and why a period is still missing.
    private func keep(
        _ content: LiveContent, _ times: ClosedRange<Int64>
    ) async throws(StoreError) -> (Scheduled, cause: String?) {
        var (missing, complete) = try await desk.standing(of: content, at: times)
        guard let schedule = content.schedule, !missing.isEmpty else {
            return (Scheduled(content: content, complete: complete), nil)
        }
        var cause: String?
        var all: [PeriodDesk.Made] = []
        do throws(KeyProvisionError) {
            for period in missing {
                let made = try await desk.make(
                    period, of: content.contentID, for: schedule.tracks, scheme: schedule.scheme,
                    now: times.upperBound - Self.lead)
                complete.insert(period)
                all.append(made)
            }
        } catch {
            cause = "\(content.contentID): \(error.explanation)"
        }
        await note(all)
        return (Scheduled(content: content, complete: complete), cause)
    }

    /// Logs the keys that this node has made, and records them in the ledger.
    private func note(_ made: [PeriodDesk.Made]) async {
        for made in made {
            guard let new = made.keys.first(where: \.isNew) else { continue }
            logger.info(
                "period_made",
                [.string("content", new.record.contentID.text), .integer("period", Int(made.period))])
        }
        let now = clock.wallTime.seconds
        do {
            let entries = try PeriodDesk.entries(made, by: actor, now: now)
            if !entries.isEmpty { try await ledger.append(together: entries) }
        } catch {
            logger.error("ledger_row_lost", [.string("row", "key_created"), .string("cause", "\(error)")])
        }
    }

    // MARK: Metrics

    /// The number of contents for which Latchkey or a packager still makes periods.
    func liveContentCount() -> Int {
        let now = clock.possibleTimes.lowerBound
        return state.withLock { state in
            state.scheduled.count + state.told.count { now < $0.value + Self.toldLife }
        }
    }

    /// The number of these contents that lack a key of the current or the next period.
    ///
    /// A packager's content counts if its last period has ended.
    func contentsWithoutNextPeriodCount() -> Int {
        let times = clock.possibleTimes
        return state.withLock { state in
            let scheduled = state.scheduled.count { !$0.content.duePeriods(at: times).isSubset(of: $0.complete) }
            let told = state.told.count { (_, end) in
                end <= times.lowerBound && times.lowerBound < end + Self.toldLife
            }
            return scheduled + told
        }
    }

    package func register(in registry: MetricsRegistry) {
        registry.sample(
            "latchkey_live_contents", help: "Live contents whose keys rotate, and which have not ended.",
            isCounter: false
        ) { [self] in Double(liveContentCount()) }
        registry.sample(
            "latchkey_live_contents_without_next_period",
            help: "Of these, the contents that lack a key of their current or next period.", isCounter: false
        ) { [self] in Double(contentsWithoutNextPeriodCount()) }
    }
}
