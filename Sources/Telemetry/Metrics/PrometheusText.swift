/// Metrics in Prometheus' text format 0.0.4 ("Exposition formats" in its documentation).
struct PrometheusText {
    private(set) var text = ""

    mutating func append(_ entry: MetricEntry) {
        var lines = PrometheusText()
        for series in entry.series + (entry.laterSeries?() ?? []) { lines.append(series, of: entry.name) }
        guard !lines.text.isEmpty else { return }
        text += "# HELP \(entry.name) \(Self.escaped(entry.help, quote: false))\n"
        text += "# TYPE \(entry.name) \(entry.kind.rawValue)\n"
        text += lines.text
    }

    private mutating func append(_ series: MetricSeries, of name: String) {
        switch series.source {
        case .counter(let counter): appendLine(name, series.labels, String(counter.value))
        case .gauge(let gauge): appendLine(name, series.labels, String(gauge.value))
        case .histogram(let histogram): append(histogram, of: name, series.labels)
        case .sample(let sample):
            if let value = sample() { appendLine(name, series.labels, Self.number(value)) }
        }
    }

    private mutating func append(_ histogram: Histogram, of name: String, _ labels: [(name: String, value: String)]) {
        let snapshot = histogram.snapshot
        for (bound, count) in zip(histogram.bounds, snapshot.cumulativeCounts) {
            appendLine("\(name)_bucket", labels + [("le", Self.number(bound))], String(count))
        }
        appendLine("\(name)_bucket", labels + [("le", "+Inf")], String(snapshot.count))
        appendLine("\(name)_sum", labels, Self.number(snapshot.sum))
        appendLine("\(name)_count", labels, String(snapshot.count))
    }

    private mutating func appendLine(_ name: String, _ labels: [(name: String, value: String)], _ value: String) {
        text += name
        if !labels.isEmpty {
            let pairs = labels.map { "\($0.name)=\"\(Self.escaped($0.value, quote: true))\"" }
            text += "{\(pairs.joined(separator: ","))}"
        }
        text += " \(value)\n"
    }

    private static func escaped(_ text: String, quote: Bool) -> String {
        var escaped = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\\": escaped.append(contentsOf: "\\\\".unicodeScalars)
            case "\n": escaped.append(contentsOf: "\\n".unicodeScalars)
            case "\"" where quote: escaped.append(contentsOf: "\\\"".unicodeScalars)
            default: escaped.append(scalar)
            }
        }
        return String(escaped)
    }

    /// A number in the format that Go reads. Whole numbers have no fraction, as in other clients of Prometheus.
    private static func number(_ value: Double) -> String {
        if value.isNaN { return "NaN" }
        if value.isInfinite { return value < 0 ? "-Inf" : "+Inf" }
        return Int64(exactly: value).map(String.init) ?? value.description
    }
}
