import ByteCoding

/// The parameters of an operator's request: only known ones, and each at most once.
struct AdminQuery {
    private let texts: [String: String]

    init(_ pairs: QueryPairs, known names: [String]) throws(AdminQueryFault) {
        var texts: [String: String] = [:]
        for name in names {
            let values = pairs.values(name)
            guard values.count <= 1 else { throw .repeated(name) }
            guard let value = values.first else { continue }
            guard let text = String(validating: value, as: UTF8.self) else { throw .notText(name) }
            texts[name] = text
        }
        guard pairs.count == texts.count else { throw .unknown(names) }
        self.texts = texts
    }

    func text(_ name: String) -> String? { texts[name] }

    /// Reads a whole number of the range; nil if the parameter is missing.
    func number<Number: FixedWidthInteger & Sendable>(
        _ name: String, _ range: ClosedRange<Number>
    ) throws(AdminQueryFault) -> Number? {
        guard let text = texts[name] else { return nil }
        guard text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = Number(text), range.contains(number)
        else { throw .notANumber(name, from: "\(range.lowerBound)", to: "\(range.upperBound)") }
        return number
    }

    /// Reads a value of another form; nil if the parameter is missing.
    func value<Value>(_ name: String, _ read: (String) -> Value?) throws(AdminQueryFault) -> Value? {
        guard let text = texts[name] else { return nil }
        guard let value = read(text) else { throw .malformed(name) }
        return value
    }
}

/// Why a query cannot be understood.
enum AdminQueryFault: Error, Equatable, CustomStringConvertible {
    /// The query has another parameter than the listed ones.
    case unknown([String])
    case repeated(String)
    case notText(String)
    case notANumber(String, from: String, to: String)
    case malformed(String)

    /// One sentence without its full stop.
    var description: String {
        switch self {
        case .unknown([]): "this address takes no parameters"
        case .unknown(let names): "this address knows only the parameters \(names.joined(separator: ", "))"
        case .repeated(let name): "the parameter \(name) is repeated"
        case .notText(let name): "the value of \(name) is not UTF-8"
        case .notANumber(let name, let first, let last): "\(name) takes a whole number from \(first) to \(last)"
        case .malformed("after"), .malformed("before"): "after and before take the value of next in the page before"
        case .malformed(let name): "the value of \(name) has a wrong form"
        }
    }
}
