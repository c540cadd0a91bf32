/// What a metric's values mean, by Prometheus' names.
enum MetricKind: String, Sendable {
    case counter
    case gauge
    case histogram
}

/// Where the value of a series comes from.
enum MetricSource: Sendable {
    case counter(Counter)
    case gauge(Gauge)
    case histogram(Histogram)
    case sample(@Sendable () -> Double?)
}

/// One combination of labels and its value.
struct MetricSeries: Sendable {
    let labels: [(name: String, value: String)]
    let source: MetricSource
}

/// A metric with its series.
struct MetricEntry: Sendable {
    let name: String
    let kind: MetricKind
    let help: String
    let series: [MetricSeries]
    /// Series that are only known when they are asked for, and the names of their labels.
    var laterSeries: (@Sendable () -> [MetricSeries])?
    var laterLabelNames: [String] = []

    /// Stops the process at start-up if the source breaks the rules of Prometheus' data model.
    func checkNames() {
        precondition(Self.isName(name, with: ":"), "\(name) is no name of a metric")
        precondition((kind == .counter) == name.hasSuffix("_total"), "\(name): _total ends the names of counters only")
        for label in series.flatMap({ $0.labels.map(\.name) }) + laterLabelNames {
            let isReserved = label.hasPrefix("__") || label == "le" || label == "quantile"
            precondition(Self.isName(label) && !isReserved, "\(name): \(label) is no name of a label")
        }
        let combinations = Set(series.map { $0.labels.map(\.value) })
        precondition(combinations.count == series.count, "\(name) has the same labels twice")
    }

    private static func isName(_ name: String, with extra: Character? = nil) -> Bool {
        guard let first = name.first, !first.isNumber else { return false }
        return name.allSatisfy { $0 == extra || $0 == "_" || $0.isASCII && ($0.isLetter || $0.isNumber) }
    }
}
