import ByteCoding
import CommandLineKit
import ContentKeys
import KeyCrypto

/// Reads content keys from a text with a key in each line: CSV with a header, or JSON with an object in each line.
///
/// The columns of CSV and the members of JSON have the same names: `KeyField`. What is empty or null is not there.
struct KeyFile: ~Copyable {
    private var lines: LineReader
    /// Nil for JSON.
    private let columns: [KeyField]?
    private var first: [UInt8]?
    private let now: Int64

    init(_ path: String, _ context: CommandContext) throws(CommandError) {
        var lines = try LineReader(path, context)
        guard let first = try lines.next() else { throw .failed("\(path == "-" ? "standard input" : path) is empty") }
        let isJSON = first.first == UInt8(ascii: "{")
        columns = isJSON ? nil : try Self.columns(of: first)
        self.first = isJSON ? first : nil
        self.lines = lines
        now = context.now
    }

    /// The number of the line that was read last.
    var lineNumber: Int { lines.number }
    /// Which part of the file has been read; nil if its size is not known.
    var share: Double? { lines.share }

    /// The next key; nil behind the last one. Empty lines are passed over.
    mutating func next() throws(CommandError) -> KeyImport? {
        while var line = try nextLine() {
            defer { line.wipe() }
            if line.isEmpty { continue }
            do throws(KeyFieldError) {
                var fields =
                    if let columns { try KeyFields(csv: line, columns) } else { try KeyFields(json: line) }
                defer { fields.wipe() }
                return try fields.makeImport(now: now)
            } catch {
                throw .failed("line \(lines.number): \(error.reason)")
            }
        }
        return nil
    }

    private mutating func nextLine() throws(CommandError) -> [UInt8]? {
        guard let line = first else { return try lines.next() }
        first = nil
        return line
    }

    private static func columns(of header: [UInt8]) throws(CommandError) -> [KeyField] {
        var columns: [KeyField] = []
        for name in header.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false) {
            guard let field = KeyField(rawValue: String(decoding: name, as: UTF8.self)) else {
                throw .failed(
                    "line 1: CSV begins with a header of these names: \(KeyField.names); JSON has an object in each line"
                )
            }
            guard !columns.contains(field) else {
                throw .failed("line 1: the column \(field.rawValue) stands there twice")
            }
            columns.append(field)
        }
        if let missing = KeyField.required.first(where: { !columns.contains($0) }) {
            throw .failed("line 1: the column \(missing.rawValue) is missing")
        }
        return columns
    }
}

/// What a file says of a key.
enum KeyField: String, CaseIterable {
    case kid, content, key, iv, track, contentType, period, scheme, hdcp, securityLevel, alias

    static let required: [KeyField] = [.kid, .content, .key, .iv]
    static let names = allCases.map(\.rawValue).joined(separator: ", ")
}

/// What is wrong with a line; holds nothing of it.
struct KeyFieldError: Error {
    let reason: String

    init(_ reason: String) {
        self.reason = reason
    }

    init(_ field: KeyField, _ expected: String) {
        reason = "\(field.rawValue) is \(expected)"
    }
}
