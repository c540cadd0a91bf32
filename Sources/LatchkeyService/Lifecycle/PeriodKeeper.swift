import Administration
import ContentKeys
import EventLoops
import Records
import Synchronization
import Telemetry

/// Makes the keys of the next periods of live contents that have a schedule, on a thread of its own.
///
/// Each node does so every few seconds, at times that chance spreads; a key is made once, by the node that is first.
/// While the store takes no writes, licences for the periods that are there go on.
final class PeriodKeeper: Sendable {
    /// Between two passes: this, and as much again at most.
    static let pauseDefault: Duration = .seconds(5)
    /// Periods are made as if it were so many seconds later, so that the next one is never missing, not even between a
    /// boundary and the pass that follows it. Less than the shortest period.
    private static let lead: Int64 = 30
    /// How many contents are read at once.
    private static let pageSize = 500
    /// A packager's content counts as over if its last period ended so many seconds ago.
    private static let toldLife: Int64 = 3_600

    typealias Record = @Sendable ([LedgerEntry]) async throws(StoreError) -> Void

    private struct State {
        var scheduled: [Scheduled] = []
        /// When the last period ends, of contents whose packagers have said so.
        var told: [ContentID: Int64] = [:]
        /// Why the last pass was not complete; nil if it was.
        var failure: String?
        var isStopped = false
    }

    /// A content that Latchkey makes the periods of.
    private struct Scheduled {
        let content: LiveContent
        /// The periods that have all keys, of those that need them.
        let complete: Set<UInt32>
    }

    private let desk: PeriodDesk
    private let actor: String
    private let record: Record
    private let pause: Duration
    private let clock: TrustedClock
    private let logger: Logger
    private let group: EventLoopGroup
    private let state = Mutex(State())

    /// Starts the thread, and the first pass. `actor` stands in the ledger's rows, which `record` makes durable.
    init(
        _ desk: PeriodDesk, actor: String, every pause: Duration = pauseDefault, clock: TrustedClock, logger: Logger,
        record: @escaping Record
    ) throws(EventLoopError) {
        self.desk = desk
        self.actor = actor
        self.pause = pause
        self.clock = clock
        self.logger = logger
        self.record = record
        group = try EventLoopGroup(count: 1, name: "periods")
        pass()
    }

    /// Ends the thread. Not to be called on a loop; a second call returns at once.
    func stop() {
        state.withLock { $0.isStopped = true }
        group.stop(within: .seconds(2))
    }

    /// While a pass fails, periods may be missing soon.
    var degradations: [Degradation] {
        state.withLock { state in
            state.failure.map { [Degradation(part: .periods, cause: $0, stopsLicences: false)] } ?? []
        }
    }

    // MARK: Passes

    private func pass() {
        let loop = group.loops[0]
        loop.spawn { [self] in
            await refresh()
            guard !state.withLock({ $0.isStopped }) else { return }
            let pause = pause + pause * Double.random(in: 0...1)
            loop.execute { _ = loop.schedule(after: pause) { [self] in pass() } }
        }
    }

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
            // What was known last holds on, for the metrics too. A node without live contents misses nothing.
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

    /// Makes what a content lacks. Returns how it stands then, and why something is still missing.
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

    /// Writes down what this node has made.
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
            if !entries.isEmpty { try await record(entries) }
        } catch {
            logger.error("ledger_row_lost", [.string("row", "keyCreated"), .string("cause", "\(error)")])
        }
    }

    // MARK: Metrics

    /// Contents that Latchkey or a packager makes further periods of.
    func liveContentCount() -> Int {
        let now = clock.possibleTimes.lowerBound
        return state.withLock { state in
            state.scheduled.count + state.told.count { now < $0.value + Self.toldLife }
        }
    }

    /// Those that lack a key of the current or the next period; of a packager's contents, those whose last period has
    /// ended.
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

    func register(in registry: MetricsRegistry) {
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
