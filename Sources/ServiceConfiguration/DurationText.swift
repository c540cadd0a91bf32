/// Durations as people write them in the configuration: a whole number and a unit, `300ms`, `5s`, `2m`, `24h`, `400d`.
enum DurationText {
    private static let units: [(suffix: String, milliseconds: Int64)] = [
        // "ms" stands before the units that end its spelling.
        ("ms", 1), ("s", 1000), ("m", 60_000), ("h", 3_600_000), ("d", 86_400_000),
    ]

    /// More digits than any duration here needs, and few enough that no product overflows.
    private static let digitsMaximum = 9

    /// Nil for anything but digits without a leading zero (or "0" alone) and one unit.
    static func parse(_ text: String) -> Duration? {
        guard let unit = units.first(where: { text.hasSuffix($0.suffix) }) else { return nil }
        let digits = text.utf8.dropLast(unit.suffix.utf8.count)
        guard (1...digitsMaximum).contains(digits.count), digits.allSatisfy({ (0x30...0x39).contains($0) }),
            digits.first != UInt8(ascii: "0") || digits.count == 1, let count = Int64(Substring(digits))
        else { return nil }
        return .milliseconds(count * unit.milliseconds)
    }

    /// With the largest unit that leaves a whole number; whole milliseconds only, the rest is cut off.
    static func format(_ duration: Duration) -> String {
        let (seconds, attoseconds) = duration.components
        let milliseconds = seconds * 1000 + attoseconds / 1_000_000_000_000_000
        if milliseconds == 0 { return "0s" }
        for unit in units.reversed() where milliseconds.isMultiple(of: unit.milliseconds) {
            return "\(milliseconds / unit.milliseconds)\(unit.suffix)"
        }
        return "\(milliseconds)ms"
    }
}

extension ConfigurationForm<Duration> {
    /// A duration within the range.
    static func duration(_ range: ClosedRange<Duration>, example: Duration) -> ConfigurationForm {
        let bounds = "from \(DurationText.format(range.lowerBound)) to \(DurationText.format(range.upperBound))"
        return .string("a duration \(bounds)", example: DurationText.format(example), write: DurationText.format) {
            text in
            DurationText.parse(text).flatMap { range.contains($0) ? $0 : nil }
        }
    }

    /// A duration of whole seconds within the range, in seconds.
    static func seconds(_ range: ClosedRange<Int64>, example: Int64) -> ConfigurationForm {
        let form = duration(.seconds(range.lowerBound)...(.seconds(range.upperBound)), example: .seconds(example))
        return .string(
            "\(form.expected) in whole seconds", example: DurationText.format(.seconds(example)),
            write: DurationText.format
        ) { text in
            DurationText.parse(text).flatMap { duration in
                let isInRange = range.contains(duration.components.seconds) && duration.components.attoseconds == 0
                return isInRange ? duration : nil
            }
        }
    }
}
