import ByteCoding
import CommandLineKit
import ContentKeys
import KeyCrypto

/// Reads content keys from a text with a key in each line: CSV with a header, or JSON with an object in each line.
///
/// The columns of CSV and the members of JSON have the names of `KeyField`. An empty cell or a null counts as missing.
struct KeyFile: ~Copyable {
    private var lines: LineReader
    /// The columns of CSV; nil for JSON.
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
    /// The part of the file that has been read, from 0 to 1; nil if the file's size is not known.
    var share: Double? { lines.share }

    /// The next key; nil after the last one. Empty lines are skipped.
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
                    "line 1: CSV must begin with a header of these names: \(KeyField.names); JSON has an object in each line"
                )
            }
            guard !columns.contains(field) else {
                throw .failed("line 1: the column \(field.rawValue) is repeated")
            }
            columns.append(field)
        }
        if let missing = KeyField.required.first(where: { !columns.contains($0) }) {
            throw .failed("line 1: the column \(missing.rawValue) is missing")
        }
        return columns
    }
}

/// A field of a key in a file.
enum KeyField: String, CaseIterable {
    case kid, content, key, iv, track, contentType, period, scheme, hdcp, securityLevel, alias

    static let required: [KeyField] = [.kid, .content, .key, .iv]
    static let names = allCases.map(\.rawValue).joined(separator: ", ")
}

/// The fault of a line. It has none of the line's values, which may be secret.
struct KeyFieldError: Error {
    let reason: String

    init(_ reason: String) {
        self.reason = reason
    }

    init(_ field: KeyField, _ expected: String) {
        reason = "\(field.rawValue) is \(expected)"
    }
}
