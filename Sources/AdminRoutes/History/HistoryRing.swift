import Administration
import ByteCoding
import Telemetry

/// The samples of the last hour, one for each step of ten seconds.
///
/// The memory is allocated once. Steps are counted on the monotonic clock, so a step of the wall clock neither loses
/// samples nor stores any twice.
struct HistoryRing {
    /// The seconds of a step.
    static let stepSeconds: Int64 = 10
    static let step: Duration = .seconds(stepSeconds)
    /// The number of steps that are kept.
    static let capacity = 360

    private let seriesCount: Int
    /// All values, step by step.
    private var values: [Float]
    /// The number of all steps that were ever added.
    private var addedCount = 0
    /// The end of the newest step.
    private var end: MonotonicTime

    /// Makes a ring whose first step begins at this time.
    init(seriesCount: Int = HistorySeries.allCases.count, at time: MonotonicTime) {
        self.seriesCount = seriesCount
        values = [Float](repeating: .nan, count: seriesCount * Self.capacity)
        end = time
    }

    /// The number of steps that are kept.
    var count: Int { min(addedCount, Self.capacity) }

    /// The bytes of all values.
    var memorySize: Int { values.capacity * MemoryLayout<Float>.stride }

    /// Whether a step has ended at this time.
    func isDue(at time: MonotonicTime) -> Bool { time >= end + Self.step }

    /// Adds a sample for the step that has just ended. If further steps were missed before it, they have no values.
    mutating func add(_ sample: [Float], at time: MonotonicTime) {
        let steps = Int((time - end) / Self.step)
        guard steps > 0 else { return }
        for _ in 1..<min(steps, Self.capacity + 1) { append([Float](repeating: .nan, count: seriesCount)) }
        append(sample)
        end = end + Self.step * steps
    }

    /// Puts the steps of an earlier run before the first one of this run. `missing` steps lie between them.
    mutating func restore(_ steps: [[Float]], missing: Int) {
        guard addedCount == 0, missing >= 0, missing < Self.capacity else { return }
        for step in steps { append(step) }
        for _ in 0..<missing { append([Float](repeating: .nan, count: seriesCount)) }
    }

    private mutating func append(_ sample: [Float]) {
        let start = addedCount % Self.capacity * seriesCount
        for (index, value) in sample.prefix(seriesCount).enumerated() { values[start + index] = value }
        addedCount += 1
    }

    /// The values of a series, the oldest first, without the first `skipped` of the kept steps.
    func values(of index: Int, skipping skipped: Int = 0) -> [Float] {
        (min(skipped, count)..<count).map { position in
            values[(addedCount - count + position) % Self.capacity * seriesCount + index]
        }
    }

    /// The steps that are shown at a time.
    struct Window {
        /// The beginning of the first step, in seconds since 1970.
        let startsAt: Double
        /// How many of the kept steps are left out, because the reader has them.
        let skipped: Int
    }

    /// Returns the steps that end after `since`, in seconds since 1970; all of them if it is nil. `now` is the present
    /// time on both clocks.
    func window(since: Double?, now: (wall: WallTime, monotonic: MonotonicTime)) -> Window {
        let wall = Double(now.wall.seconds) + Double(now.wall.nanoseconds) / 1e9
        let endsAt = wall - (now.monotonic - end) / .seconds(1)
        let startsAt = endsAt - Double(count) * Double(Self.stepSeconds)
        guard let since else { return Window(startsAt: startsAt, skipped: 0) }
        // A reader names the end of its last step as it has computed it. Half a step is room for rounding and for a
        // clock that is adjusted.
        let steps = ((since - startsAt) / Double(Self.stepSeconds)).rounded()
        let skipped = steps.isFinite ? Int(min(max(0, steps), Double(count))) : 0
        return Window(startsAt: startsAt + Double(skipped) * Double(Self.stepSeconds), skipped: skipped)
    }
}
