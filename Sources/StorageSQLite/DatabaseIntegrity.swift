import ContentKeys

/// What SQLite itself finds wrong with a database file: pages, trees, indexes that do not fit their tables, references
/// to nothing.
package enum DatabaseIntegrity {
    /// No more lines than these are collected; a file with as many is not worth more.
    private static let findingsMaximum = 100

    /// Reads the whole file, while other connections work; a line for each finding, which names tables and pages and
    /// shows nothing of a row.
    ///
    /// Throws for a file that cannot be opened; one whose damage keeps SQLite from reading on is a finding.
    package static func findings(
        path: String, busyTimeoutMilliseconds: Int32 = 5000
    ) throws(StorageOpeningError) -> [String] {
        guard try DatabaseFile.exists(path) else { throw .fileNotUsable(path: path, errno: 2) }
        try DatabaseFile.checkPermissions(path)
        do throws(StoreError) {
            var connection = try SQLiteConnection.open(path: path, busyTimeoutMilliseconds: busyTimeoutMilliseconds)
            try connection.execute("PRAGMA query_only = ON")
            return try pages(of: &connection) + references(in: &connection)
        } catch .unavailable(.damaged) {
            return ["the file is no SQLite database any more, or too damaged to be read"]
        } catch {
            throw .store(error)
        }
    }

    private static func pages(of connection: inout SQLiteConnection) throws(StoreError) -> [String] {
        var statement = try connection.prepare("PRAGMA integrity_check(100)")
        var lines: [String] = []
        while lines.count < findingsMaximum, try statement.step() {
            let line = try statement.text(at: 0)
            if line != "ok" { lines.append(line) }
        }
        return lines
    }

    /// Aliases without a key, and keys without the proof of their key-encryption key.
    private static func references(in connection: inout SQLiteConnection) throws(StoreError) -> [String] {
        var statement = try connection.prepare("PRAGMA foreign_key_check")
        var lines: [String] = []
        while lines.count < findingsMaximum, try statement.step() {
            lines.append(
                "a row of \(try statement.text(at: 0)) names a row of \(try statement.text(at: 2)) that is not there")
        }
        return lines
    }
}
