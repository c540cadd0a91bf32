/// A scrape in Prometheus' text format 0.0.4, parsed strictly by its grammar.
///
/// The parser reads bytes, because regular expressions were a third of the time of the tests that scrape.
package struct MetricsText: Sendable {
    /// The values by `name` or `name{label="value",…}`, as written in the text.
    package let values: [String: Double]

    /// Parses a scrape. Throws if a line is not a comment or a sample, if a sample is repeated, or if a sample has no
    /// `TYPE`.
    package init(parsing text: String) throws {
        var values: [String: Double] = [:]
        var typed: Set<ArraySlice<UInt8>> = []
        let bytes = Array(text.utf8)
        guard bytes.last == UInt8(ascii: "\n") else { throw MetricsTextError(line: "no line feed at the end") }
        for bytes in bytes.split(separator: UInt8(ascii: "\n")) {
            var line = MetricsLine(rest: bytes)
            if bytes.first == UInt8(ascii: "#") {
                guard let comment = line.comment() else { throw MetricsTextError(bytes) }
                if comment.isType { typed.insert(comment.name) }
                continue
            }
            guard let sample = line.sample() else { throw MetricsTextError(bytes) }
            guard typed.contains(sample.name) || typed.contains(MetricsLine.family(of: sample.name)) else {
                throw MetricsTextError(bytes, "no type: ")
            }
            guard values.updateValue(sample.value, forKey: sample.key) == nil else {
                throw MetricsTextError(bytes, "twice: ")
            }
        }
        self.values = values
    }

    /// The value of a sample; nil if there is none.
    package subscript(name: String) -> Double? { values[name] }
}

/// A line of a scrape, which is read from its beginning.
private struct MetricsLine {
    var rest: ArraySlice<UInt8>

    /// `# HELP name text` or `# TYPE name text`.
    mutating func comment() -> (isType: Bool, name: ArraySlice<UInt8>)? {
        let isType = skip("# TYPE ")
        guard isType || skip("# HELP "), let name = name(), skip(" "), !rest.isEmpty else { return nil }
        return (isType, name)
    }

    /// `name value` or `name{label="value",…} value`. The key is everything before the value.
    mutating func sample() -> (name: ArraySlice<UInt8>, key: String, value: Double)? {
        let whole = rest
        guard let name = name() else { return nil }
        if skip("{") {
            repeat {
                guard !take(while: { Self.isLetter($0) || $0 == UInt8(ascii: "_") }).isEmpty, skip("=\"") else {
                    return nil
                }
                _ = take { $0 != UInt8(ascii: "\"") }
                guard skip("\"") else { return nil }
            } while skip(",")
            guard skip("}") else { return nil }
        }
        let key = whole[..<rest.startIndex]
        guard skip(" "), !rest.contains(UInt8(ascii: " ")), let value = Double(String(decoding: rest, as: UTF8.self))
        else { return nil }
        return (name, String(decoding: key, as: UTF8.self), value)
    }

    /// The metric to which a sample with this name belongs, if it is a histogram.
    static func family(of name: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        for suffix in ["_bucket", "_sum", "_count"] where name.suffix(suffix.utf8.count).elementsEqual(suffix.utf8) {
            return name.dropLast(suffix.utf8.count)
        }
        return name
    }

    private mutating func name() -> ArraySlice<UInt8>? {
        let name = take { byte in
            Self.isLetter(byte) || UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte || byte == UInt8(ascii: "_")
                || byte == UInt8(ascii: ":")
        }
        guard let first = name.first, !(UInt8(ascii: "0")...UInt8(ascii: "9") ~= first) else { return nil }
        return name
    }

    private static func isLetter(_ byte: UInt8) -> Bool { UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte }

    private mutating func take(while isWanted: (UInt8) -> Bool) -> ArraySlice<UInt8> {
        let taken = rest.prefix(while: isWanted)
        rest = rest[taken.endIndex...]
        return taken
    }

    private mutating func skip(_ text: String) -> Bool {
        guard rest.starts(with: text.utf8) else { return false }
        rest = rest.dropFirst(text.utf8.count)
        return true
    }
}

package struct MetricsTextError: Error {
    package let line: String

    init(line: String) {
        self.line = line
    }

    fileprivate init(_ line: ArraySlice<UInt8>, _ what: String = "") {
        self.line = what + String(decoding: line, as: UTF8.self)
    }
}
