/// The severity of a finding.
package enum FindingSeverity: String, Hashable, Sendable, CaseIterable {
    /// Players cannot play the stream, or do not play what is meant.
    case error
    /// Some players cannot play the stream, or the line may be a mistake.
    case warning
}

/// A rule that a line of a playlist breaks.
package struct PlaylistFinding: Hashable, Sendable {
    package let rule: PlaylistRule
    /// The file or address of the playlist.
    package let source: String
    /// The line, counted from 1; nil if the finding is about the whole playlist.
    package let line: Int?
    /// What is wrong in the line, as one line of printable ASCII.
    package let detail: String
}

/// Findings in the order in which they were made. Their number is limited. Findings above the limit are only counted.
package struct PlaylistFindings: Equatable, Sendable {
    /// How many findings of one playlist are kept.
    package static let countMaximum = 500

    package private(set) var found: [PlaylistFinding] = []
    package private(set) var leftOutCount = 0
    /// How many findings of each severity there are, those left out included.
    private var counts: [FindingSeverity: Int] = [:]

    package init() {}

    package func count(_ severity: FindingSeverity) -> Int { counts[severity] ?? 0 }

    package mutating func add(
        _ rule: PlaylistRule, _ source: String, line: Int?, _ detail: @autoclosure () -> String
    ) {
        counts[rule.severity, default: 0] += 1
        guard found.count < Self.countMaximum else {
            leftOutCount += 1
            return
        }
        found.append(PlaylistFinding(rule: rule, source: source, line: line, detail: detail()))
    }

    /// Adds the findings of another playlist.
    package mutating func add(_ other: PlaylistFindings) {
        found += other.found
        leftOutCount += other.leftOutCount
        counts.merge(other.counts) { $0 + $1 }
    }
}

/// Makes texts of a playlist safe for messages.
package enum PlaylistText {
    private static let countMaximum = 120

    /// Returns printable ASCII: other characters become question marks, and a long text is cut off.
    package static func shown(_ text: some StringProtocol) -> String {
        let start = text.utf8.prefix(4 * countMaximum)
        let shown = String(decoding: start, as: UTF8.self).unicodeScalars.prefix(countMaximum).map { scalar in
            (0x20...0x7E).contains(scalar.value) ? Character(scalar) : "?"
        }
        return String(shown) + (shown.count == countMaximum && text.utf8.count > countMaximum ? "..." : "")
    }
}
