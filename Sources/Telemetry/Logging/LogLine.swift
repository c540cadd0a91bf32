import Glibc

/// One log line as bytes: a JSON object (RFC 8259) and a line feed.
///
/// It does not use the JSON writer of `ByteCoding`, because targets on the same level do not import one another.
/// Control characters are escaped, including those from U+007F to U+009F, so that no value can control a terminal or
/// forge a line.
struct LogLine {
    /// The most bytes of a text, so that no request can make a line that journald would split.
    private static let textSizeMaximum = 2048

    private(set) var bytes: [UInt8] = []

    init(time: WallTime, level: LogLevel, event: String, fields: [LogField], style: LogStyle = .json) {
        bytes.reserveCapacity(256)
        switch style {
        case .terminal:
            appendWords(time, level, event: event, fields)
            return
        case .journal: append("<\(level.priority)>")
        case .json: break
        }
        append("{\"time\":\"")
        append(time)
        append("\",\"level\":\"")
        append(level.rawValue)
        append("\",\"event\":")
        appendQuoted(event)
        for field in fields {
            append(",")
            appendQuoted(field.name)
            append(":")
            append(field.value)
        }
        append("}\n")
    }

    private mutating func appendWords(_ time: WallTime, _ level: LogLevel, event: String, _ fields: [LogField]) {
        append(time)
        bytes.removeSubrange(0..<Self.dateSize)
        append(" \(level.rawValue)")
        append(String(repeating: " ", count: max(1, Self.levelWidth - level.rawValue.utf8.count)))
        append(event)
        for field in fields {
            append("  \(field.name)=")
            if case .string(let text) = field.value, Self.isWord(text) { append(text) } else { append(field.value) }
        }
        append("\n")
    }

    /// The bytes of `2026-01-31T`, which a person at a terminal knows.
    private static let dateSize = 11
    private static let levelWidth = 9

    /// Whether a text needs no quotes.
    private static func isWord(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.count <= textSizeMaximum
            && text.utf8.allSatisfy {
                (0x21..<0x7F).contains($0) && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\")
            }
    }

    private mutating func append(_ text: String) {
        bytes.append(contentsOf: text.utf8)
    }

    private mutating func append(_ value: LogField.Value) {
        switch value {
        case .string(let text): appendQuoted(text)
        case .integer(let integer): append(String(integer))
        case .unsigned(let unsigned): append(String(unsigned))
        case .double(let double): append(double.isFinite ? double.description : "null")
        case .bool(let bool): append(bool ? "true" : "false")
        }
    }

    /// Appends a time in the format of RFC 3339, in UTC with milliseconds. A time beyond the years 0000 to 9999, which
    /// only a wrong clock has, is shown as the nearest time in them.
    private mutating func append(_ time: WallTime) {
        var seconds = time_t(min(max(time.seconds, -62_167_219_200), 253_402_300_799))
        // Safe: both pointers are local variables, and the only pointer among the parts is not read. Only a year out of
        // range could make the call fail, and the year is in range.
        var parts = unsafe tm()
        _ = unsafe gmtime_r(&seconds, &parts)
        unsafe appendDigits(Int(parts.tm_year) + 1900, count: 4, then: "-")
        unsafe appendDigits(Int(parts.tm_mon) + 1, count: 2, then: "-")
        unsafe appendDigits(Int(parts.tm_mday), count: 2, then: "T")
        unsafe appendDigits(Int(parts.tm_hour), count: 2, then: ":")
        unsafe appendDigits(Int(parts.tm_min), count: 2, then: ":")
        unsafe appendDigits(Int(parts.tm_sec), count: 2, then: ".")
        appendDigits(Int(time.nanoseconds / 1_000_000), count: 3, then: "Z")
    }

    private mutating func appendDigits(_ value: Int, count: Int, then separator: Unicode.Scalar) {
        var divisor = count == 4 ? 1000 : count == 3 ? 100 : 10
        while divisor > 0 {
            bytes.append(UInt8(ascii: "0") + UInt8(value / divisor % 10))
            divisor /= 10
        }
        bytes.append(UInt8(ascii: separator))
    }

    private mutating func appendQuoted(_ text: String) {
        append("\"")
        var remaining = Self.textSizeMaximum
        for scalar in text.unicodeScalars {
            remaining -= UTF8.width(scalar)
            guard remaining >= 0 else {
                append("…")
                break
            }
            append(scalar)
        }
        append("\"")
    }

    /// Scalars that are shown as nothing, but can change what is shown: U+202E reverses the text after it.
    private static let hiddenCategories: [Unicode.GeneralCategory] = [.format, .lineSeparator, .paragraphSeparator]

    private mutating func append(_ scalar: Unicode.Scalar) {
        switch scalar.value {
        case 0x22, 0x5C:
            append("\\")
            bytes.append(UInt8(scalar.value))
        case 0x0A: append("\\n")
        case 0x00..<0x20, 0x7F..<0xA0:
            append("\\u00")
            append(scalar.value < 0x10 ? "0" : "")
            append(String(scalar.value, radix: 16))
        case 0x20..<0x7F: bytes.append(UInt8(scalar.value))
        case _ where Self.hiddenCategories.contains(scalar.properties.generalCategory):
            for unit in scalar.utf16 {
                append("\\u")
                append(String(repeating: "0", count: unit.leadingZeroBitCount / 4))
                append(String(unit, radix: 16))
            }
        default: UTF8.encode(scalar).map { bytes.append(contentsOf: $0) }
        }
    }
}

/// A named value of a log line.
///
/// Names are fixed snake_case words from the source. A line has each name only once, and `time`, `level` and `event`
/// are reserved. Values never contain secrets: no key, no token, and no part of them. Identifiers of people and devices
/// appear only as an HMAC.
package struct LogField: Sendable {
    /// The kinds of values in a log line.
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

    /// A text. If it has more than 2,048 bytes, it is cut and ends with "…".
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

/// How important a log line is. Names and order are the same as in swift-log.
package enum LogLevel: String, CaseIterable, Comparable, Sendable {
    /// Every step, for developers.
    case trace
    /// Details that help to find an error, too many for normal operation.
    case debug
    /// Something that operators may want to look up, such as a decision.
    case info
    /// Not an error, but worth noticing, such as a start, a stop or a reload.
    case notice
    /// Something that will become an error if it is not corrected.
    case warning
    /// Something failed that should not fail.
    case error
    /// The service as a whole is in danger.
    case critical

    /// Orders levels from trace to critical.
    package static func < (left: LogLevel, right: LogLevel) -> Bool {
        left.rank < right.rank
    }

    /// The priority of syslog (RFC 5424, section 6.2.1): 7 for what only debugging needs, 2 for what is critical.
    var priority: UInt8 {
        switch self {
        case .trace, .debug: 7
        case .info: 6
        case .notice: 5
        case .warning: 4
        case .error: 3
        case .critical: 2
        }
    }

    /// The place in the order, from 0.
    var rank: UInt8 {
        switch self {
        case .trace: 0
        case .debug: 1
        case .info: 2
        case .notice: 3
        case .warning: 4
        case .error: 5
        case .critical: 6
        }
    }
}
