import Synchronization
package import Telemetry

/// Notices that the process stood still: it was stopped, or its machine suspended. What it knew of other nodes may then
/// be old.
///
/// Beats show that it runs. After a gap between two beats it counts as standing still until what it shares with other
/// nodes has been read again. One thread beats; any thread may ask.
package final class Standstill: Sendable {
    /// A shorter gap is no standstill: a busy machine may delay a beat.
    package static let gapMinimum: Duration = .seconds(10)
    /// The time between two beats.
    package static let pause: Duration = .seconds(1)

    private let clock: any MonotonicClock
    /// The time of the last beat in nanoseconds.
    private let lastBeat: Atomic<Int64>
    private let gapCount = Atomic<Int>(0)
    /// The value of `gapCount` when a reading began that has ended.
    private let readGapCount = Atomic<Int>(0)

    package init(clock: any MonotonicClock = SystemBootClock()) {
        self.clock = clock
        lastBeat = Atomic(clock.monotonicTime.nanoseconds)
    }

    /// Returns whether a gap has ended with this beat.
    package func beat() -> Bool {
        let now = clock.monotonicTime
        let hasGap = isGap(until: now)
        // The gap is known before the beat hides it.
        if hasGap { gapCount.add(1, ordering: .releasing) }
        lastBeat.store(now.nanoseconds, ordering: .releasing)
        return hasGap
    }

    /// Whether what is shared with other nodes may be old.
    package var isStale: Bool {
        isGap(until: clock.monotonicTime)
            || gapCount.load(ordering: .acquiring) != readGapCount.load(ordering: .acquiring)
    }

    /// To be called before a reading of what is shared. `endReading` takes the value.
    package func beginReading() -> Int { gapCount.load(ordering: .acquiring) }

    /// The reading has ended, well or not: an outage has rules of its own.
    package func endReading(_ reading: Int) { readGapCount.store(reading, ordering: .releasing) }

    private func isGap(until now: MonotonicTime) -> Bool {
        let last = MonotonicTime(nanoseconds: lastBeat.load(ordering: .acquiring))
        return now - last > Self.gapMinimum
    }
}
