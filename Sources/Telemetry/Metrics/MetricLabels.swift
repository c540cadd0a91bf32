/// The labels of a family of metrics as a closed set: every combination is known when the family is registered.
///
/// An enum of the reasons of a refusal, for instance, or a struct of two enums that lists its combinations. Nothing
/// from a request can become a label, so the number of series is fixed and no subject, asset or device shows in them.
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

    /// The metric of these labels. On a hot path keep it instead of asking each time.
    package subscript(labels: Labels) -> Metric {
        guard let metric = metrics[labels] else { preconditionFailure("\(labels) is not among its own allCases") }
        return metric
    }
}
