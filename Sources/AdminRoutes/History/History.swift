package import ByteCoding
package import EventLoops
import Synchronization
package import Telemetry

/// Samples the daemon's numbers for the operator's plots: one sample every ten seconds is kept for an hour, and one
/// every two seconds is passed on while somebody watches.
///
/// A timer of the admin loop does all of it. The requests of players do nothing for it.
package final class History: Sendable {
    /// The time between two looks.
    package static let pause: Duration = .seconds(2)

    private struct State {
        var ring: HistoryRing
        var slow: HistorySampler
        var fast: HistorySampler
        var isStopped = false
    }

    private let state: Mutex<State>
    private let watchers = Mutex<[@Sendable ([Float]) -> Void]>([])
    private let wallClock: any WallClock
    private let clock: any MonotonicClock

    package init(
        _ sources: [HistorySeries: HistorySource], wallClock: any WallClock,
        clock: any MonotonicClock = SystemMonotonicClock()
    ) {
        self.wallClock = wallClock
        self.clock = clock
        let now = clock.monotonicTime
        state = Mutex(
            State(
                ring: HistoryRing(at: now), slow: HistorySampler(sources, at: now),
                fast: HistorySampler(sources, at: now)))
    }

    /// Adds a closure that hears each sample on the loop, every two seconds.
    package func tell(_ watcher: @escaping @Sendable ([Float]) -> Void) {
        watchers.withLock { $0.append(watcher) }
    }

    package func start(on loop: LoopContext) {
        _ = loop.execute { [self] in
            _ = loop.schedule(after: Self.pause) { [self] in
                guard !state.withLock({ $0.isStopped }) else { return }
                look()
                start(on: loop)
            }
        }
    }

    package func stop() { state.withLock { $0.isStopped = true } }

    /// Takes the samples that are due now.
    package func look() {
        let now = clock.monotonicTime
        let sample = state.withLock { state in
            state.slow.look()
            if state.ring.isDue(at: now) { state.ring.add(state.slow.sample(at: now), at: now) }
            return state.fast.sample(at: now)
        }
        for watcher in watchers.withLock({ $0 }) { watcher(sample) }
    }

    /// The licenses of the last five minutes.
    package var recentLicenses: Int64 {
        let ring = state.withLock { $0.ring }
        let series: Set<HistorySeries> = [.licensesV1, .licensesV2, .licensesV3]
        let rates = HistorySeries.allCases.indices.filter { series.contains(HistorySeries.allCases[$0]) }.flatMap {
            ring.values(of: $0, skipping: max(0, ring.count - 30)).filter(\.isFinite)
        }
        return Int64((rates.reduce(0, +) * Float(HistoryRing.stepSeconds)).rounded())
    }

    /// What a file keeps of it.
    var saved: SavedHistory {
        let now = (wallClock.wallTime, clock.monotonicTime)
        let ring = state.withLock { $0.ring }
        let series = HistorySeries.allCases.indices.map { ring.values(of: $0) }
        let endsAt = ring.window(since: nil, now: now).startsAt + Double(Int64(ring.count) * HistoryRing.stepSeconds)
        return SavedHistory(
            names: HistorySeries.allCases.map(\.rawValue), endsAt: Int64(endsAt.rounded()),
            steps: (0..<ring.count).map { step in series.map { $0[step] } })
    }

    /// Puts what an earlier run has saved before the first step, unless it is of the future or of an earlier hour.
    func restore(_ saved: SavedHistory) {
        let places = HistorySeries.allCases.map { saved.names.firstIndex(of: $0.rawValue) }
        let steps = saved.steps.map { step in places.map { $0.map { step[$0] } ?? .nan } }
        let missing = (wallClock.wallTime.seconds - saved.endsAt) / HistoryRing.stepSeconds
        state.withLock { $0.ring.restore(steps, missing: Int(clamping: missing)) }
    }

    /// Writes the members of the answer to `GET /v1/history`. `since` is in seconds since 1970; only later steps are
    /// written.
    package func write(since: Double?, to writer: inout JSONWriter) {
        let now = (wallClock.wallTime, clock.monotonicTime)
        let ring = state.withLock { $0.ring }
        let window = ring.window(since: since, now: now)
        writer.member("stepSeconds", HistoryRing.stepSeconds)
        writer.member("startsAt", window.startsAt)
        writer.member("count", ring.count - window.skipped)
        writer.array("series") { writer in
            for (index, series) in HistorySeries.allCases.enumerated() {
                writer.object { writer in
                    writer.member("name", series.rawValue)
                    writer.member("unit", series.unit.rawValue)
                    writer.array("values") { writer in
                        for value in ring.values(of: index, skipping: window.skipped) { writer.number(value) }
                    }
                }
            }
        }
    }

    /// Writes the members of one sample.
    package func write(_ sample: [Float], to writer: inout JSONWriter) {
        let now = wallClock.wallTime
        writer.member("at", Double(now.seconds) + Double(now.nanoseconds / 1_000_000) / 1000)
        writer.object("values") { writer in
            for (series, value) in zip(HistorySeries.allCases, sample) {
                writer.name(series.rawValue)
                writer.number(value)
            }
        }
    }
}
