import ByteCoding

/// How a field is written: what it takes, in words and by an example, and how its value is read.
struct ConfigurationForm<Value> {
    /// "a duration from 1s to 24h", for messages.
    let expected: String
    /// A value as the file would have it, quotes included.
    let example: String
    let read: (JSONNode) -> ConfigurationFormResult<Value>
    /// A value as the file would have it; nil for one that is only known as it was written.
    var write: ((Value) -> String?)?
}

enum ConfigurationFormResult<Value> {
    case value(Value)
    /// A value of another JSON type.
    case wrongType
    /// A value of the right type that the field does not take.
    case invalid
    /// The same, if there is more to say about it.
    case fault(ConfigurationFault)
}

extension ConfigurationForm {
    /// A string; `parse` gives nil for one that the field does not take. The example is written without quotes.
    package static func string(
        _ expected: String, example: String, parse: @escaping (String) -> Value?
    ) -> ConfigurationForm {
        string(expected, example: example, write: { "\($0)" }, parse: parse)
    }

    /// The same for a value whose description is not what the file has; `write` gives the text without quotes.
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
    /// A list, whose elements are read later, each by itself.
    static func list(of element: String, example: String, allowsEmpty: Bool = false) -> ConfigurationForm {
        let expected = allowsEmpty ? "a list of \(element)" : "a list of at least one: \(element)"
        return ConfigurationForm(expected: expected, example: example) { node in
            guard let elements = node.array else { return .wrongType }
            return elements.isEmpty && !allowsEmpty ? .invalid : .value(elements)
        }
    }
}
