private import CEmbedded
import ContentKeys

/// The schema of an installation, as a list of migration steps. If a function must change, it gets a new name.
enum PostgreSQLSchema {
    /// The scripts of a step run with the installation's schema as the only one in the search path.
    typealias Migration = SchemaMigration<String>

    /// All steps that this program can run.
    static let migrations = [Migration(number: 1, oldestProgram: 1, script: first)]

    /// `Schemas/postgresql.sql`.
    private static let first: String = {
        let file = unsafe latchkey_postgresql_schema().pointee
        // Safe: the file is a constant of the program, of this size. It is copied.
        return unsafe String(decoding: UnsafeBufferPointer(start: file.bytes, count: file.size), as: UTF8.self)
    }()
}
