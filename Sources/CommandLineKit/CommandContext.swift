package import ByteCoding
package import Foundation
package import KeyCrypto

/// What a command has of the process around it.
package struct CommandContext: Sendable {
    /// The environment variables.
    package let environment: [String: String]
    /// When the program was started, in seconds since 1970.
    package let now: Int64
    private let input: FileHandle
    private let output: FileHandle
    private let messages: FileHandle

    /// The process's own unless told otherwise.
    package init(
        environment: [String: String] = ProcessInfo.processInfo.environment,
        now: Int64 = Int64(Date().timeIntervalSince1970), input: FileHandle = .standardInput,
        output: FileHandle = .standardOutput, messages: FileHandle = .standardError
    ) {
        self.environment = environment
        self.now = now
        self.input = input
        self.output = output
        self.messages = messages
    }

    /// Writes a result to standard output, with a line feed behind it.
    package func print(_ text: String) throws(CommandError) {
        try printPart(Array(text.utf8) + [UInt8(ascii: "\n")])
    }

    /// Writes a part of a result to standard output as it is, for results that are too long to be held in memory.
    package func printPart(_ bytes: [UInt8]) throws(CommandError) {
        do {
            try output.write(contentsOf: bytes)
        } catch {
            throw .failed("cannot write to standard output")
        }
    }

    /// Writes one JSON object to standard output, in one line.
    package func printObject(_ write: (inout JSONWriter) -> Void) throws(CommandError) {
        try print(String(decoding: JSONWriter.object(write), as: UTF8.self))
    }

    /// Writes a word to the person at the terminal: to standard error, apart from the output.
    package func note(_ text: String) {
        // If even this cannot be written, there is no other place to say so.
        try? messages.write(contentsOf: Array(text.utf8) + [UInt8(ascii: "\n")])
    }

    /// Standard input, for texts that are read line by line.
    package var inputHandle: FileHandle { input }

    /// Whether a person looks on at a terminal.
    var isWatched: Bool { isatty(messages.fileDescriptor) == 1 }

    /// Writes a line for the person at the terminal over the one before; an empty one takes it away.
    func noteInPlace(_ text: String) {
        // Back to the first column, and nothing left to the right of it (ECMA-48: CR, EL).
        try? messages.write(contentsOf: Array("\r\u{1B}[K\(text)".utf8))
    }

    /// Everything that standard input has; at least one byte and at most `sizeMaximum`.
    package func readInput(sizeMaximum: Int) throws(CommandError) -> SecretBytes {
        var bytes: [UInt8] = []
        defer { bytes.wipe() }
        do {
            while bytes.count <= sizeMaximum, let part = try input.read(upToCount: 1 << 16), !part.isEmpty {
                bytes += part
            }
        } catch {
            throw .failed("cannot read standard input")
        }
        guard !bytes.isEmpty else { throw .failed("standard input is empty") }
        guard bytes.count <= sizeMaximum else { throw .failed("standard input has more than \(sizeMaximum) bytes") }
        return SecretBytes(copying: bytes)
    }
}

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
