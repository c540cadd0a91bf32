package import ByteCoding
package import Foundation
package import KeyCrypto

/// What a command uses of its process: environment, time and standard streams.
package struct CommandContext: Sendable {
    /// The environment variables.
    package let environment: [String: String]
    /// When the program was started, in seconds since 1970.
    package let now: Int64
    private let input: FileHandle
    private let output: FileHandle
    private let messages: FileHandle

    /// Without arguments, it uses the environment, the time and the standard streams of the process.
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

    /// Writes a result and a line feed to standard output.
    package func print(_ text: String) throws(CommandError) {
        try printPart(Array(text.utf8) + [UInt8(ascii: "\n")])
    }

    /// Writes a part of a result to standard output unchanged, for results that are too long to be held in memory.
    package func printPart(_ bytes: [UInt8]) throws(CommandError) {
        do {
            try output.write(contentsOf: bytes)
        } catch {
            throw .failed("cannot write to standard output")
        }
    }

    /// Writes one JSON object to standard output, on one line.
    package func printObject(_ write: (inout JSONWriter) -> Void) throws(CommandError) {
        try print(String(decoding: JSONWriter.object(write), as: UTF8.self))
    }

    /// Writes a result to standard output: as one JSON object if `--json` was given, and otherwise as text.
    package func printResult(
        _ text: @autoclosure () -> String, or write: (inout JSONWriter) -> Void, _ arguments: Arguments
    ) throws(CommandError) {
        if arguments.isSet(.json) { try printObject(write) } else { try print(text()) }
    }

    /// Writes a message for the person at the terminal to standard error, separate from the output.
    package func note(_ text: String) {
        // If this cannot be written, there is no other place to report it.
        try? messages.write(contentsOf: Array(text.utf8) + [UInt8(ascii: "\n")])
    }

    /// Standard input, for reading line by line.
    package var inputHandle: FileHandle { input }

    /// Whether messages go to a terminal, so that a person may be watching.
    var isWatched: Bool { isatty(messages.fileDescriptor) == 1 }

    /// Replaces the last line on the terminal; an empty text removes it.
    func noteInPlace(_ text: String) {
        // Returns to the first column and clears the line (ECMA-48: CR, EL).
        try? messages.write(contentsOf: Array("\r\u{1B}[K\(text)".utf8))
    }

    /// Reads standard input to its end; fails unless there are from 1 to `sizeMaximum` bytes.
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

/// Shows the progress of long work on the terminal, in one line that is replaced again and again.
///
/// Shows nothing if standard error is not a terminal.
package struct CommandProgress {
    private static let barWidth = 30
    private static let interval: TimeInterval = 0.2

    private let context: CommandContext
    /// What is counted, such as "keys" or "entries".
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
    /// `share` is the part of the work that is done, from 0 to 1, for work whose total count is not known.
    package mutating func show(_ count: Int, share: Double? = nil) {
        guard context.isWatched, Date().timeIntervalSince(shownAt) >= Self.interval else { return }
        shownAt = Date()
        isShown = true
        context.noteInPlace(
            Self.line(count, share: share ?? total.map { Double(count) / Double(max($0, 1)) }, of: total, unit))
    }

    /// Removes the line.
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
