import ByteCoding

/// The options and operands that one command was given. All options are known to the command, and all that it requires
/// are present.
package struct Arguments: Equatable, Sendable {
    private var valuesByName: [String: [String]] = [:]
    /// The operands, as many as the command takes.
    package internal(set) var operands: [String] = []

    init() {}

    /// Whether the option was given.
    package func isSet(_ option: CommandOption) -> Bool {
        valuesByName[option.name] != nil
    }

    /// The option's value, or nil if it was not given.
    package func value(_ option: CommandOption) -> String? {
        valuesByName[option.name]?.first
    }

    /// All values of an option that may be repeated, in the order of the command line.
    package func values(_ option: CommandOption) -> [String] {
        valuesByName[option.name] ?? []
    }

    /// The value of an option that the command requires.
    package func required(_ option: CommandOption) throws(CommandError) -> String {
        guard let value = value(option) else { throw .usage("\(option.usage) is missing") }
        return value
    }

    /// The operand at an index.
    package func operand(_ index: Int) throws(CommandError) -> String {
        guard operands.indices.contains(index) else { throw .usage("an argument is missing") }
        return operands[index]
    }

    /// The option's value in seconds: a duration such as `5m`, or a number of seconds; nil if the option was not given.
    package func seconds(
        _ option: CommandOption, in range: ClosedRange<Int64>
    ) throws(CommandError) -> Int64? {
        guard let text = value(option) else { return nil }
        guard let seconds = Int64(text) ?? DurationText.seconds(text), range.contains(seconds) else {
            let bounds = [range.lowerBound, range.upperBound].map { DurationText.format(.seconds($0)) }
            throw .usage(
                "\(option.name) takes a duration from \(bounds[0]) to \(bounds[1]): a whole number and one of the units"
                    + " s, m, h and d, such as 5m; a number alone is seconds")
        }
        return seconds
    }

    /// The option's value as a whole number; nil if the option was not given.
    package func number<Number: FixedWidthInteger>(
        _ option: CommandOption, in range: ClosedRange<Number>
    ) throws(CommandError) -> Number? {
        guard let text = value(option) else { return nil }
        guard let number = Number(text), range.contains(number) else {
            throw .usage("\(option.name) takes a whole number from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    /// The option's value as a time, in seconds since 1970; nil if the option was not given.
    package func time(_ option: CommandOption) throws(CommandError) -> Int64? {
        guard let text = value(option) else { return nil }
        guard let time = try? RFC3339.parse(text) else {
            throw .usage("\(option.name) takes a time as 2026-01-31T12:00:00Z or 2026-01-31T12:00:00+01:00")
        }
        return time.seconds
    }

    /// The option's value as one of a fixed list of words; nil if the option was not given.
    package func word<Word: RawRepresentable & CaseIterable>(
        _ option: CommandOption
    ) throws(CommandError) -> Word? where Word.RawValue == String {
        guard let text = value(option) else { return nil }
        guard let word = Word(rawValue: text) else {
            throw .usage("\(option.name) takes one of: \(Word.allCases.map(\.rawValue).joined(separator: ", "))")
        }
        return word
    }

    mutating func append(_ value: String, to option: CommandOption) {
        valuesByName[option.name, default: []].append(value)
    }
}
