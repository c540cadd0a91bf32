package import Telemetry

/// Where the numbers of a series come from. All of them exist anyway, so a request costs nothing more.
package enum HistorySource: Sendable {
    /// The increase for each second of a number that only increases.
    case rate(@Sendable () -> Double)
    /// The present number; nil if it is not known.
    case level(@Sendable () -> Double?)
    /// The largest number that was seen since the last sample.
    case peak(@Sendable () -> Double)
    /// A quantile of the values that were counted since the last sample.
    case quantile(Double, Histogram)
}

/// Takes samples of all series. A sample has the rates since the sample before it.
struct HistorySampler {
    private enum Memory {
        case none
        case number(Double)
        case counts(Histogram.Snapshot)
    }

    private let sources: [HistorySource?]
    private var memories: [Memory]
    private var lastTime: MonotonicTime

    /// Begins at this time. A series without a source has no values.
    init(_ sources: [HistorySeries: HistorySource], at time: MonotonicTime) {
        self.sources = HistorySeries.allCases.map { sources[$0] }
        memories = self.sources.map { source in
            switch source {
            case .rate(let number): .number(number())
            case .quantile(_, let histogram): .counts(histogram.snapshot)
            case .level, .peak, nil: .none
            }
        }
        lastTime = time
    }

    /// Looks at the numbers of which a sample has the largest one.
    mutating func look() {
        for (index, source) in sources.enumerated() {
            guard case .peak(let number) = source else { continue }
            let now = number()
            if case .number(let before) = memories[index], before >= now { continue }
            memories[index] = .number(now)
        }
    }

    /// Takes a sample, in the order of `HistorySeries.allCases`. A number that is not known is NaN.
    mutating func sample(at time: MonotonicTime) -> [Float] {
        look()
        let seconds = max((time - lastTime) / .seconds(1), .leastNormalMagnitude)
        lastTime = time
        return sources.indices.map { index in
            sources[index].map { Float(value(of: $0, at: index, over: seconds)) } ?? .nan
        }
    }

    private mutating func value(of source: HistorySource, at index: Int, over seconds: Double) -> Double {
        switch source {
        case .rate(let number):
            let now = number()
            guard case .number(let before) = memories[index] else { return .nan }
            memories[index] = .number(now)
            return max(0, now - before) / seconds
        case .level(let number):
            return number() ?? .nan
        case .peak:
            guard case .number(let peak) = memories[index] else { return .nan }
            memories[index] = .none
            return peak
        case .quantile(let share, let histogram):
            let now = histogram.snapshot
            guard case .counts(let before) = memories[index] else { return .nan }
            memories[index] = .counts(now)
            return histogram.quantile(share, from: before, to: now) ?? .nan
        }
    }
}
