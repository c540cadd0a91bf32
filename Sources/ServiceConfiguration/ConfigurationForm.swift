import ByteCoding

/// The form of a field's values: a description, an example, and how a value is read and written.
struct ConfigurationForm<Value> {
    /// The description for messages, such as "a duration from 1s to 24h".
    let expected: String
    /// An example in the syntax of the file, quotes included.
    let example: String
    let read: (JSONNode) -> ConfigurationFormResult<Value>
    /// Writes a value in the syntax of the file; returns nil for a value that must be shown as it was written.
    var write: ((Value) -> String?)?
}

enum ConfigurationFormResult<Value> {
    case value(Value)
    /// The value has another JSON type.
    case wrongType
    /// The value has the right type, but is not allowed.
    case invalid
    /// The same, with the reason in words. They have no part of the value.
    case refused(String)
    /// The value is not allowed, for a reason that has a fault of its own.
    case fault(ConfigurationFault)
}

extension ConfigurationForm {
    /// A string. `parse` returns nil for a text that is not allowed. `example` has no quotes.
    package static func string(
        _ expected: String, example: String, parse: @escaping (String) -> Value?
    ) -> ConfigurationForm {
        string(expected, example: example, write: { "\($0)" }, parse: parse)
    }

    /// A string whose value is written by `write`, without quotes, and not by its description.
    static func string(
        _ expected: String, example: String, write: @escaping (Value) -> String, parse: @escaping (String) -> Value?
    ) -> ConfigurationForm {
        let read = { (node: JSONNode) -> ConfigurationFormResult<Value> in
            guard let text = node.string else { return .wrongType }
            return parse(text).map { .value($0) } ?? .invalid
        }
        return ConfigurationForm(expected: expected, example: "\"\(example)\"", read: read) { value in
            JSONNode.quoted(write(value))
        }
    }

    /// One of a few words.
    static func choice(
        _ words: [Value], example: Value
    ) -> ConfigurationForm where Value: RawRepresentable<String> {
        let names = words.map { "\"\($0.rawValue)\"" }.joined(separator: ", ")
        return .string(
            words.count == 1 ? names : "one of \(names)", example: example.rawValue, write: \.rawValue
        ) { text in
            words.first { $0.rawValue == text }
        }
    }

    /// A whole number within the range.
    static func integer(_ range: ClosedRange<Value>, example: Value) -> ConfigurationForm
    where Value: FixedWidthInteger {
        let expected = "a whole number from \(range.lowerBound) to \(range.upperBound)"
        let read = { (node: JSONNode) -> ConfigurationFormResult<Value> in
            guard let number = node.number else { return .wrongType }
            guard let value = number.signed.flatMap({ Value(exactly: $0) }), range.contains(value) else {
                return .invalid
            }
            return .value(value)
        }
        return ConfigurationForm(expected: expected, example: "\(example)", read: read) { "\($0)" }
    }
}

extension ConfigurationForm<Bool> {
    static var boolean: ConfigurationForm {
        let read = { (node: JSONNode) -> ConfigurationFormResult<Bool> in node.bool.map { .value($0) } ?? .wrongType }
        return ConfigurationForm(expected: "true or false", example: "false", read: read) { "\($0)" }
    }
}

extension ConfigurationForm<[JSONNode]> {
    /// A list. Its elements are read later, one by one.
    static func list(of element: String, example: String, allowsEmpty: Bool = false) -> ConfigurationForm {
        let expected = allowsEmpty ? "a list of \(element)" : "a list of at least one: \(element)"
        return ConfigurationForm(expected: expected, example: example) { node in
            guard let elements = node.array else { return .wrongType }
            return elements.isEmpty && !allowsEmpty ? .invalid : .value(elements)
        }
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

    /// A duration of whole seconds. The range and the example are in seconds.
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
