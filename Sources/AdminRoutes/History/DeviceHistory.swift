package import ByteCoding
package import RouteKit
import Synchronization
package import Telemetry

/// What devices have stated in the license requests of the last hour, from the counts of a `DeviceTally`.
package final class DeviceHistory: Sendable {
    /// The counts of each aspect at one time.
    private struct Sample: Sendable {
        let time: MonotonicTime
        let wallTime: WallTime
        let counts: [[DeviceTally.Count]]
    }

    /// The time between two samples. The hour is exact to this time.
    private static let step: Duration = .seconds(60)
    private static let sampleCount = 60

    private let tally: DeviceTally
    private let wallClock: any WallClock
    private let clock: any MonotonicClock
    /// The oldest first; never empty.
    private let samples: Mutex<[Sample]>

    package init(
        _ tally: DeviceTally, wallClock: any WallClock, clock: any MonotonicClock = SystemMonotonicClock()
    ) {
        self.tally = tally
        self.wallClock = wallClock
        self.clock = clock
        samples = Mutex([Self.sample(tally, wallClock, clock)])
    }

    private static func sample(
        _ tally: DeviceTally, _ wallClock: any WallClock, _ clock: any MonotonicClock
    ) -> Sample {
        Sample(
            time: clock.monotonicTime, wallTime: wallClock.wallTime,
            counts: DeviceTally.Aspect.allCases.map(tally.counts))
    }

    /// Takes a sample if one is due.
    package func look() {
        samples.withLock { samples in
            guard let last = samples.last, clock.monotonicTime - last.time >= Self.step else { return }
            samples.append(Self.sample(tally, wallClock, clock))
            if samples.count > Self.sampleCount { samples.removeFirst() }
        }
    }

    /// Writes the members of the answer to `GET /v1/device-kinds`. `since` is in seconds since 1970.
    package func write(to writer: inout JSONWriter) {
        guard let first = samples.withLock({ $0.first }) else { return }
        writer.member("since", first.wallTime.seconds)
        for (aspect, before) in zip(DeviceTally.Aspect.allCases, first.counts) {
            let earlier = Dictionary(uniqueKeysWithValues: before.map { ($0.value, $0) })
            let counts = tally.counts(of: aspect).map { now in
                var count = now
                count.licenses -= earlier[now.value]?.licenses ?? 0
                count.refusals -= earlier[now.value]?.refusals ?? 0
                return count
            }
            writer.objects(aspect.rawValue, counts.filter { $0.licenses + $0.refusals > 0 }) { writer, count in
                writer.member("value", count.value)
                writer.member("licenses", Int64(clamping: count.licenses))
                writer.member("refusals", Int64(clamping: count.refusals))
            }
        }
    }
}
