/// A value of a JSON text, and where it begins.
package struct JSONNode: Sendable {
    /// What the text says here.
    package let value: JSONValue
    /// The place of the value's first character.
    package let position: TextPosition

    /// A value and its place, for values that do not come from a text as well.
    package init(value: JSONValue, position: TextPosition) {
        self.value = value
        self.position = position
    }
}

/// A JSON value (RFC 8259 section 3).
package enum JSONValue: Sendable {
    case null
    case bool(Bool)
    case number(JSONNumber)
    case string(String)
    case array([JSONNode])
    case object(JSONObject)
}

/// The value as one Swift type each: nil when it is of another kind, and never a conversion.
extension JSONNode {
    /// Whether the value is `null`.
    package var isNull: Bool {
        if case .null = value { true } else { false }
    }

    /// The value of `true` or `false`.
    package var bool: Bool? {
        if case .bool(let bool) = value { bool } else { nil }
    }

    /// The number, with its own exact conversions.
    package var number: JSONNumber? {
        if case .number(let number) = value { number } else { nil }
    }

    /// The text; compare it by its UTF-8 if canonically equivalent spellings must not pass for equal.
    package var string: String? {
        if case .string(let string) = value { string } else { nil }
    }

    /// The elements, in order.
    package var array: [JSONNode]? {
        if case .array(let array) = value { array } else { nil }
    }

    /// The members, in order.
    package var object: JSONObject? {
        if case .object(let object) = value { object } else { nil }
    }
}
