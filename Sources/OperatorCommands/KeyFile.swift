import ByteCoding
import CommandLineKit
import CommandSupport
import ContentKeys
import KeyCrypto

/// Reads content keys from a text with a key in each line: CSV with a header, or JSON with an object in each line.
///
/// The columns of CSV and the members of JSON have the names of `KeyField`. An empty cell or a null counts as missing.
struct KeyFile: ~Copyable {
    /// The size of the longest cell that can be the name of a column.
    private static let nameSizeMaximum = 20

    private var lines: LineReader
    /// The columns of CSV; nil for JSON.
    private let columns: [KeyField]?
    private var first: [UInt8]?
    private let now: Int64

    init(_ path: String, _ context: CommandContext) throws(CommandError) {
        var lines = try LineReader(path, context)
        guard let first = try lines.next() else { throw .failed("\(path == "-" ? "standard input" : path) is empty") }
        if let encoding = Self.markedEncoding(of: first) {
            throw .failed(
                "line 1: the file begins with the byte order mark of \(encoding); save it as UTF-8 without a mark")
        }
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

    /// The encoding whose byte order mark begins a file; nil if there is no mark.
    private static func markedEncoding(of line: [UInt8]) -> String? {
        if line.starts(with: [0xEF, 0xBB, 0xBF]) { return "UTF-8" }
        return line.starts(with: [0xFF, 0xFE]) || line.starts(with: [0xFE, 0xFF]) ? "UTF-16" : nil
    }

    private static func columns(of header: [UInt8]) throws(CommandError) -> [KeyField] {
        let names = try columnNames(of: header)
        let columns = names.compactMap { KeyField(rawValue: $0) }
        let missing = KeyField.required.filter { !columns.contains($0) }.map { "\($0.rawValue) is missing" }
        let unknown = names.filter { KeyField(rawValue: $0) == nil }.map { "\"\(VisibleText.shown($0))\" is not known" }
        guard missing.isEmpty, unknown.isEmpty else {
            let found = VisibleText.shown(names.joined(separator: ", "))
            throw .failed(
                "line 1: the columns are wrong: \((missing + unknown).joined(separator: ", ")); found: \(found); "
                    + "known: \(KeyField.names), of which the first \(KeyField.required.count) are needed")
        }
        if let repeated = columns.first(where: { field in columns.count { $0 == field } > 1 }) {
            throw .failed("line 1: the column \(repeated.rawValue) is repeated")
        }
        return columns
    }

    private static func columnNames(of header: [UInt8]) throws(CommandError) -> [String] {
        let (semicolon, tab) = (UInt8(ascii: ";"), UInt8(ascii: "\t"))
        if !header.contains(UInt8(ascii: ",")), let separator = header.first(where: { $0 == semicolon || $0 == tab }) {
            throw .failed(
                "line 1: \(separator == tab ? "tabs" : "semicolons") separate the columns; export the file with commas")
        }
        let names: [String]
        do throws(KeyFieldError) {
            names = try KeyFields.cells(of: header).map { String(decoding: $0, as: UTF8.self) }
        } catch {
            throw .failed("line 1: \(error.reason)")
        }
        // A longer cell may be a key, which no message may show.
        guard names.allSatisfy({ $0.utf8.count <= nameSizeMaximum }) else {
            throw .failed(
                "line 1 is not a header: CSV must begin with names of columns, \(KeyField.names); JSON has an object in each "
                    + "line")
        }
        return names
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
