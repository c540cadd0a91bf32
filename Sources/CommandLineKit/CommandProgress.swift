import Foundation

/// Tells the person at the terminal how far a long piece of work has come, in one line that is written over.
///
/// Says nothing if standard error is not a terminal.
package struct CommandProgress {
    private static let barWidth = 30
    private static let interval: TimeInterval = 0.2

    private let context: CommandContext
    /// What is counted: "keys", "entries".
    private let unit: String
    /// Nil if the total is not known.
    private let total: Int?
    private var shownAt = Date.distantPast
    private var isShown = false

    package init(_ context: CommandContext, unit: String, total: Int? = nil) {
        self.context = context
        self.unit = unit
        self.total = total
    }

    /// Shows the count, unless it was shown a moment ago.
    ///
    /// `share` says which part of the whole it is if the total is not known, from 0 to 1.
    package mutating func show(_ count: Int, share: Double? = nil) {
        guard context.isWatched, Date().timeIntervalSince(shownAt) >= Self.interval else { return }
        shownAt = Date()
        isShown = true
        context.noteInPlace(
            Self.line(count, share: share ?? total.map { Double(count) / Double(max($0, 1)) }, of: total, unit))
    }

    /// Takes the line away.
    package mutating func clear() {
        if isShown { context.noteInPlace("") }
        isShown = false
    }

    static func line(_ count: Int, share: Double?, of total: Int?, _ unit: String) -> String {
        guard let share else { return "\(count) \(unit)" }
        let bounded = min(max(share, 0), 1)
        let filled = Int(bounded * Double(barWidth))
        let bar = String(repeating: "#", count: filled) + String(repeating: ".", count: barWidth - filled)
        return "[\(bar)] \(Int(bounded * 100)) %  \(count)\(total.map { " of \($0)" } ?? "") \(unit)"
    }
}
