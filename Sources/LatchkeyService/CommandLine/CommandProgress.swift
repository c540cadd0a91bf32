import Foundation

/// Tells the person at the terminal how far a long piece of work has come, in one line that is written over.
///
/// Where nobody looks on, because standard error is no terminal, it says nothing.
struct CommandProgress {
    private static let barWidth = 30
    private static let interval: TimeInterval = 0.2

    private let context: CommandContext
    /// What is counted: "keys", "entries".
    private let unit: String
    /// Nil where nobody knows how many there will be.
    private let total: Int?
    private var shownAt = Date.distantPast
    private var isShown = false

    init(_ context: CommandContext, unit: String, total: Int? = nil) {
        self.context = context
        self.unit = unit
        self.total = total
    }

    /// Shows the count, unless it was shown a moment ago.
    mutating func show(_ count: Int) {
        guard context.isWatched, Date().timeIntervalSince(shownAt) >= Self.interval else { return }
        shownAt = Date()
        isShown = true
        context.noteInPlace(Self.line(count, of: total, unit))
    }

    /// Takes the line away.
    mutating func clear() {
        if isShown { context.noteInPlace("") }
        isShown = false
    }

    static func line(_ count: Int, of total: Int?, _ unit: String) -> String {
        guard let total, total > 0 else { return "\(count) \(unit)" }
        let share = min(max(Double(count) / Double(total), 0), 1)
        let filled = Int(share * Double(barWidth))
        let bar = String(repeating: "#", count: filled) + String(repeating: ".", count: barWidth - filled)
        return "[\(bar)] \(Int(share * 100)) %  \(count) of \(total) \(unit)"
    }
}
