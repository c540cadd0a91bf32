/// Durations in the configuration, in tokens and on command lines: a whole number and a unit, such as `300ms`, `5s`,
/// `2m`, `24h` or `400d`.
package enum DurationText {
    private static let units: [(suffix: String, milliseconds: Int64)] = [
        // "ms" comes first, because it ends with "s".
        ("ms", 1), ("s", 1000), ("m", 60_000), ("h", 3_600_000), ("d", 86_400_000),
    ]

    /// How many digits a number may have. No duration here needs so many, and no product overflows with so few.
    private static let digitsMaximum = 9

    /// Reads digits without a leading zero (or "0" alone) and one unit. Returns nil for any other text.
    package static func parse(_ text: String) -> Duration? {
        guard let unit = units.first(where: { text.hasSuffix($0.suffix) }) else { return nil }
        let digits = text.utf8.dropLast(unit.suffix.utf8.count)
        guard (1...digitsMaximum).contains(digits.count), digits.allSatisfy({ (0x30...0x39).contains($0) }),
            digits.first != UInt8(ascii: "0") || digits.count == 1, let count = Int64(Substring(digits))
        else { return nil }
        return .milliseconds(count * unit.milliseconds)
    }

    /// Reads a duration of one or more whole seconds, without the unit `ms`.
    package static func seconds(_ text: String) -> Int64? {
        guard !text.hasSuffix("ms"), let seconds = parse(text)?.components.seconds, seconds > 0 else { return nil }
        return seconds
    }

    /// Writes a duration with the largest unit that gives a whole number. Fractions of a millisecond are cut off.
    package static func format(_ duration: Duration) -> String {
        let (seconds, attoseconds) = duration.components
        let milliseconds = seconds * 1000 + attoseconds / 1_000_000_000_000_000
        if milliseconds == 0 { return "0s" }
        for unit in units.reversed() where milliseconds.isMultiple(of: unit.milliseconds) {
            return "\(milliseconds / unit.milliseconds)\(unit.suffix)"
        }
        return "\(milliseconds)ms"
    }
}
