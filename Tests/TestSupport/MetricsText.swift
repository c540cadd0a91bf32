/// A scrape in Prometheus' text format 0.0.4, parsed strictly by its grammar.
package struct MetricsText: Sendable {
    /// The values by `name` or `name{label="value",…}`, as written in the text.
    package let values: [String: Double]

    /// Parses a scrape. Throws if a line is not a comment or a sample, if a sample is repeated, or if a sample has no
    /// `TYPE`.
    package init(parsing text: String) throws {
        var values: [String: Double] = [:]
        var typed: Set<Substring> = []
        guard text.hasSuffix("\n") else { throw MetricsTextError(line: "no line feed at the end") }
        for line in text.split(separator: "\n") {
            if line.hasPrefix("#") {
                guard let comment = line.wholeMatch(of: /# (HELP|TYPE) ([a-z_:][a-z0-9_:]*) .+/) else {
                    throw MetricsTextError(line: String(line))
                }
                if comment.1 == "TYPE" { typed.insert(comment.2) }
                continue
            }
            let sample = /([a-z_:][a-z0-9_:]*)(\{[a-z_]+="[^"]*"(?:,[a-z_]+="[^"]*")*\})? (\S+)/
            guard let match = line.wholeMatch(of: sample), let value = Double(match.3) else {
                throw MetricsTextError(line: String(line))
            }
            let family = match.1.replacing(/_(bucket|sum|count)$/, with: "")
            guard typed.contains(match.1) || typed.contains(family[...]) else {
                throw MetricsTextError(line: "no type: \(line)")
            }
            let name = String(match.1 + (match.2 ?? ""))
            guard values.updateValue(value, forKey: name) == nil else {
                throw MetricsTextError(line: "twice: \(line)")
            }
        }
        self.values = values
    }

    /// The value of a sample; nil if there is none.
    package subscript(name: String) -> Double? { values[name] }
}

package struct MetricsTextError: Error {
    package let line: String
}
