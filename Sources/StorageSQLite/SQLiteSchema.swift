private import CEmbedded
import ContentKeys

/// The schema of a database file, as a list of steps.
enum SQLiteSchema {
    typealias Migration = SchemaMigration<SQL>

    /// "LTCH", in the header of the file.
    static let applicationID: Int64 = 0x4C54_4348

    /// All steps that this program can run.
    static let migrations = [Migration(number: 1, oldestProgram: 1, script: .first)]
}

extension SQL {
    /// `sqlite.sql`.
    fileprivate static let first: SQL = {
        // Safe: the file is a constant of the program, and its content has this size. It is copied.
        let file = unsafe latchkey_sqlite_schema().pointee
        let content = unsafe UnsafeBufferPointer(start: file.bytes, count: file.size)
        return unsafe SQL(stringLiteral: String(decoding: content, as: UTF8.self))
    }()
}
