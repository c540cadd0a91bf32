import Synchronization

/// All metrics of the process, in the order of their registration, and their text for a scrape.
///
/// Names follow Prometheus' rules: a prefix of one word, base units, `_total` for counters. A name that breaks them, a
/// name that is already registered, and invalid labels are programming errors and end the process at start-up.
package final class MetricsRegistry: Sendable {
    /// The `Content-Type` of `render()`.
    package static let contentType = "text/plain; version=0.0.4; charset=utf-8"

    private let entries = Mutex<[MetricEntry]>([])

    /// A registry without metrics.
    package init() {}

    /// All metrics in Prometheus' text format 0.0.4. Samples are taken now, on the caller's thread.
    package func render() -> String {
        var text = PrometheusText()
        for entry in entries.withLock({ $0 }) { text.append(entry) }
        return text.text
    }

    // MARK: Counters

    /// Registers a counter.
    package func counter(_ name: String, help: String) -> Counter {
        let counter = Counter()
        register(name, .counter, help: help, [MetricSeries(labels: [], source: .counter(counter))])
        return counter
    }

    /// Registers a counter for each combination of labels.
    package func counters<Labels>(_ name: String, help: String, by: Labels.Type) -> MetricFamily<Labels, Counter> {
        registerFamily(name, .counter, help, makeMetric: Counter.init) { .counter($0) }
    }

    // MARK: Gauges

    /// Registers a gauge.
    package func gauge(_ name: String, help: String) -> Gauge {
        let gauge = Gauge()
        register(name, .gauge, help: help, [MetricSeries(labels: [], source: .gauge(gauge))])
        return gauge
    }

    /// Registers a constant 1 whose labels carry the information, such as the version.
    package func information(_ name: String, help: String, labels: [(name: String, value: String)]) {
        register(name, .gauge, help: help, [MetricSeries(labels: labels, source: .sample { 1 })])
    }

    // MARK: Histograms

    /// Registers a histogram with these upper bounds.
    package func histogram(_ name: String, help: String, bounds: [Double]) -> Histogram {
        let histogram = Histogram(bounds: bounds)
        show(histogram, name, help: help)
        return histogram
    }

    /// Registers a histogram with these upper bounds for each combination of labels.
    package func histograms<Labels>(
        _ name: String, help: String, bounds: [Double], by: Labels.Type
    ) -> MetricFamily<Labels, Histogram> {
        registerFamily(
            name, .histogram, help, makeMetric: { Histogram(bounds: bounds) }, source: { .histogram($0) })
    }

    /// Registers a histogram that is there already.
    package func show(_ histogram: Histogram, _ name: String, help: String) {
        register(name, .histogram, help: help, [MetricSeries(labels: [], source: .histogram(histogram))])
    }

    // MARK: Samples

    /// Registers a number that is requested at each scrape, and left out while it is nil.
    package func sample(
        _ name: String, help: String, isCounter: Bool = false, _ sample: @escaping @Sendable () -> Double?
    ) {
        register(name, isCounter ? .counter : .gauge, help: help, [MetricSeries(labels: [], source: .sample(sample))])
    }

    /// Registers numbers that are requested at each scrape, one for each value of a label, whose values come from the
    /// configuration.
    package func samples(
        _ name: String, help: String, isCounter: Bool = false, label: String,
        _ samples: [(value: String, sample: @Sendable () -> Double?)]
    ) {
        let series = samples.map { MetricSeries(labels: [(label, $0.value)], source: .sample($0.sample)) }
        register(name, isCounter ? .counter : .gauge, help: help, series)
    }

    /// Registers numbers with labels whose values come from the configuration, and which a reload may change. Each
    /// scrape requests all of them. The caller limits how many there are. They are shown in the order of their labels.
    package func series(
        _ name: String, help: String, isCounter: Bool, labels: [String],
        _ samples: @escaping @Sendable () -> [(values: [String], number: Double)]
    ) {
        let later = { @Sendable in
            samples().sorted { $0.values.lexicographicallyPrecedes($1.values) }.map { sample in
                MetricSeries(
                    labels: zip(labels, sample.values).map { (name: $0, value: $1) },
                    source: .sample { [number = sample.number] in number })
            }
        }
        register(
            MetricEntry(
                name: name, kind: isCounter ? .counter : .gauge, help: help, series: [], laterSeries: later,
                laterLabelNames: labels))
    }

    // MARK: Registration

    private func registerFamily<Labels, Metric>(
        _ name: String, _ kind: MetricKind, _ help: String, makeMetric: () -> Metric,
        source: (Metric) -> MetricSource
    ) -> MetricFamily<Labels, Metric> {
        var series: [MetricSeries] = []
        let family = MetricFamily<Labels, Metric> { labels in
            let metric = makeMetric()
            let pairs = zip(Labels.labelNames, labels.labelValues).map { (name: $0, value: $1) }
            precondition(labels.labelValues.count == Labels.labelNames.count, "\(name) has a value for each label")
            series.append(MetricSeries(labels: pairs, source: source(metric)))
            return metric
        }
        register(name, kind, help: help, series)
        return family
    }

    private func register(_ name: String, _ kind: MetricKind, help: String, _ series: [MetricSeries]) {
        register(MetricEntry(name: name, kind: kind, help: help, series: series))
    }

    private func register(_ entry: MetricEntry) {
        let name = entry.name
        entry.checkNames()
        entries.withLock { entries in
            precondition(!entries.contains { $0.name == name }, "\(name) is registered twice")
            entries.append(entry)
        }
    }
}

/// The type of a metric, with Prometheus' names.
enum MetricKind: String, Sendable {
    case counter
    case gauge
    case histogram
}

/// The source of the value of a series.
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
    /// Series that are only known at the time of a scrape, and the names of their labels.
    var laterSeries: (@Sendable () -> [MetricSeries])?
    var laterLabelNames: [String] = []

    /// Ends the process at start-up if the names break the rules of Prometheus' data model.
    func checkNames() {
        precondition(Self.isName(name, with: ":"), "\(name) is not a valid name of a metric")
        precondition((kind == .counter) == name.hasSuffix("_total"), "\(name): _total ends the names of counters only")
        for label in series.flatMap({ $0.labels.map(\.name) }) + laterLabelNames {
            let isReserved = label.hasPrefix("__") || label == "le" || label == "quantile"
            precondition(Self.isName(label) && !isReserved, "\(name): \(label) is not a valid name of a label")
        }
        let combinations = Set(series.map { $0.labels.map(\.value) })
        precondition(combinations.count == series.count, "\(name) has the same labels twice")
    }

    private static func isName(_ name: String, with extra: Character? = nil) -> Bool {
        guard let first = name.first, !first.isNumber else { return false }
        return name.allSatisfy { $0 == extra || $0 == "_" || $0.isASCII && ($0.isLetter || $0.isNumber) }
    }
}

/// The labels of a family of metrics as a fixed set: every combination is known when the family is registered.
///
/// For instance an enum of the reasons for a refusal, or a struct of two enums that lists its combinations. Nothing
/// from a request can become a label, so the number of series is fixed, and they show no subject, asset or device.
package protocol MetricLabels: Hashable, Sendable, CaseIterable {
    /// The names of the labels, in the order of the values.
    static var labelNames: [String] { get }

    /// The value of each label, one for each name.
    var labelValues: [String] { get }
}

extension MetricLabels where Self: RawRepresentable, RawValue == String {
    /// The raw value, for an enum that is one label.
    package var labelValues: [String] { [rawValue] }
}

/// A metric for each combination of labels.
package struct MetricFamily<Labels: MetricLabels, Metric: Sendable>: Sendable {
    private let metrics: [Labels: Metric]

    init(_ makeMetric: (Labels) -> Metric) {
        metrics = Dictionary(Labels.allCases.map { ($0, makeMetric($0)) }) { first, _ in first }
    }

    /// The metric with these labels. Code that runs often should keep the metric and not look it up each time.
    package subscript(labels: Labels) -> Metric {
        guard let metric = metrics[labels] else { preconditionFailure("\(labels) is not among its own allCases") }
        return metric
    }
}
