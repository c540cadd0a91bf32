/// A named value of a log line.
///
/// Names are fixed snake_case words from the source, one per line, and none of `time`, `level` and `event`. Values
/// never hold secrets: no key, no token, no part of one; identifiers of people and devices only as their HMAC.
package struct LogField: Sendable {
    /// What a log line can say.
    package enum Value: Sendable {
        case string(String)
        case integer(Int64)
        case unsigned(UInt64)
        case double(Double)
        case bool(Bool)
    }

    /// The name of the member in the line.
    package let name: String

    /// Its value.
    package let value: Value

    /// A named value.
    package init(_ name: String, _ value: Value) {
        self.name = name
        self.value = value
    }

    /// A text; beyond 2,048 bytes it is cut and ends with "…".
    package static func string(_ name: String, _ value: String) -> LogField { LogField(name, .string(value)) }

    /// A whole number.
    package static func integer(_ name: String, _ value: Int) -> LogField { LogField(name, .integer(Int64(value))) }

    /// A whole number that is not negative.
    package static func unsigned(_ name: String, _ value: UInt64) -> LogField { LogField(name, .unsigned(value)) }

    /// A number; infinities and NaN become null.
    package static func double(_ name: String, _ value: Double) -> LogField { LogField(name, .double(value)) }

    /// A truth value.
    package static func bool(_ name: String, _ value: Bool) -> LogField { LogField(name, .bool(value)) }
}
