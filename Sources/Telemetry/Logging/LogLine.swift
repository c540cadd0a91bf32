import Glibc

/// One log line as bytes: a JSON object (RFC 8259) and a line feed.
///
/// Written here and not by `ByteCoding`'s writer, because targets of one floor do not import one another. Control
/// characters are escaped, those from U+007F to U+009F too, so that no value can steer a terminal or forge a line.
struct LogLine {
    /// The most bytes of a text, so that no request can make a line longer than journald takes in one piece.
    private static let textSizeMaximum = 2048

    private(set) var bytes: [UInt8] = []

    init(time: WallTime, level: LogLevel, event: String, fields: [LogField]) {
        bytes.reserveCapacity(256)
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

    /// Appends a time as RFC 3339 in UTC with milliseconds; a year beyond four digits means a clock that is far off,
    /// and shows as the last one.
    private mutating func append(_ time: WallTime) {
        var seconds = time_t(min(max(time.seconds, -62_167_219_200), 253_402_300_799))
        // Safe: both pointers are local variables, the year, which is all that could fail, is in range, and the only
        // pointer among the parts is not read.
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
        default: UTF8.encode(scalar).map { bytes.append(contentsOf: $0) }
        }
    }
}
