package import Records
package import Telemetry

/// Counts the licenses and refusals whose devices have stated their facts, by class, security level and version of the
/// operating system.
///
/// Each of them has a closed set of values, so that devices of unknown kinds make no new series.
package final class DeviceTally: Sendable {
    /// What the counts are by. The raw values are labels of metrics and names in the API, and never change.
    package enum Aspect: String, CaseIterable, Sendable {
        case deviceClass = "device_class"
        case securityLevel = "security_level"
        case osMajor = "os_major"
    }

    /// The counts of one value since the daemon has started.
    package struct Count: Sendable, Equatable {
        package let value: String
        package var licenses: UInt64
        package var refusals: UInt64
    }

    private struct Pair: Sendable {
        let licenses = Counter()
        let refusals = Counter()
    }

    private static let classes = DeviceSummary.classWords.keys.sorted()
    /// The major versions with counts of their own.
    private static let majors: ClosedRange<UInt8> = 12...32

    /// The values of each aspect: first that the device states none, last all that have no count of their own.
    private static let values: [[String]] = Aspect.allCases.map { aspect in
        let known: [String] =
            switch aspect {
            case .deviceClass: classes.map(DeviceSummary.word(ofClass:))
            case .securityLevel: ["audio", "baseline", "main"]
            case .osMajor: majors.map { "\($0)" }
            }
        return ["none"] + known + ["other"]
    }

    private let pairs: [[Pair]] = DeviceTally.values.map { $0.map { _ in Pair() } }

    package init(in registry: MetricsRegistry) {
        for aspect in Aspect.allCases {
            registry.series(
                "latchkey_requests_by_\(aspect.rawValue)_total",
                help: "License requests whose SPC was opened, by what the device states, and by outcome.",
                isCounter: true, labels: [aspect.rawValue, "outcome"]
            ) { [pairs] in
                Self.counts(of: aspect, in: pairs).flatMap { count in
                    [("issued", count.licenses), ("refused", count.refusals)].compactMap { outcome, number in
                        number == 0 ? nil : (values: [count.value, outcome], number: Double(number))
                    }
                }
            }
        }
    }

    package func noteLicense(_ device: DeviceSummary) { note(device) { $0.licenses } }

    package func noteRefusal(_ device: DeviceSummary) { note(device) { $0.refusals } }

    private func note(_ device: DeviceSummary, _ counter: (Pair) -> Counter) {
        for (aspect, pairs) in zip(Aspect.allCases, pairs) {
            counter(pairs[Self.place(of: device, by: aspect, among: pairs.count)]).increment()
        }
    }

    /// All counts that are not zero, in the order of the values.
    package func counts(of aspect: Aspect) -> [Count] { Self.counts(of: aspect, in: pairs) }

    private static func counts(of aspect: Aspect, in pairs: [[Pair]]) -> [Count] {
        guard let index = Aspect.allCases.firstIndex(of: aspect) else { return [] }
        return zip(values[index], pairs[index]).compactMap { value, pair in
            let count = Count(value: value, licenses: pair.licenses.value, refusals: pair.refusals.value)
            return count.licenses == 0 && count.refusals == 0 ? nil : count
        }
    }

    /// The place of the device's value among `count` values.
    private static func place(of device: DeviceSummary, by aspect: Aspect, among count: Int) -> Int {
        let other = count - 1
        switch aspect {
        case .deviceClass:
            guard let number = device.deviceClass else { return device.deviceType == nil ? 0 : other }
            return classes.firstIndex(of: number).map { $0 + 1 } ?? other
        case .securityLevel:
            switch device.securityLevel {
            case nil: return 0
            case .audio: return 1
            case .baseline: return 2
            case .main: return 3
            case .other: return other
            }
        case .osMajor:
            guard let major = device.majorVersion else { return 0 }
            return majors.contains(major) ? Int(major - majors.lowerBound) + 1 : other
        }
    }
}
