import ContentKeys

/// Brings a database file to the schema of this program.
///
/// The file's `application_id` says whose it is, and the table `schema_migration` which steps it has been through, each
/// with the oldest program that can still work with it. So a program may open the file of a newer one as long as the
/// newer schema allows.
struct SchemaMigrator {
    /// "LTCH", in the header of the file.
    static let applicationID: Int64 = 0x4C54_4348

    let migrations: [SchemaMigration]

    init(_ migrations: [SchemaMigration] = SchemaMigration.all) {
        precondition(migrations.map(\.number) == (0..<migrations.count).map { Int64($0) + 1 }, "steps have no gaps")
        self.migrations = migrations
    }

    /// Runs the steps that are missing, all or none. Changes nothing in a file that is refused, and takes no lock when
    /// none is missing.
    func run(on connection: inout SQLiteConnection, path: String) throws(StorageOpeningError) {
        let missing = try missingSteps(connection: &connection, path: path)
        try StorageOpeningError.wrapping { () throws(StoreError) in
            try connection.useWriteAheadLog()
            if !missing.isEmpty { try connection.beginImmediate() }
        }
        guard !missing.isEmpty else { return }
        do throws(StorageOpeningError) {
            // Another process may have migrated the file before the lock was ours.
            let stillMissing = try missingSteps(connection: &connection, path: path)
            try StorageOpeningError.wrapping { () throws(StoreError) in try apply(stillMissing, to: &connection) }
        } catch {
            connection.rollBack()
            throw error
        }
    }

    private func apply(
        _ steps: ArraySlice<SchemaMigration>, to connection: inout SQLiteConnection
    ) throws(StoreError) {
        for step in steps {
            if step.number == 1 { try connection.execute(Self.foundation) }
            try connection.execute(step.script)
            var record = try connection.prepare("INSERT INTO schema_migration (number, oldest_program) VALUES (?1, ?2)")
            try record.bind(step.number, at: 1)
            try record.bind(step.oldestProgram, at: 2)
            _ = try record.step()
        }
        try connection.commit()
    }

    /// Steps that the file has not been through; none for a newer file that this program can work with.
    private func missingSteps(
        connection: inout SQLiteConnection, path: String
    ) throws(StorageOpeningError) -> ArraySlice<SchemaMigration> {
        let state = try StorageOpeningError.wrapping { () throws(StoreError) in try SchemaState(reading: &connection) }
        switch state {
        case .empty: return migrations[...]
        case .foreign: throw .foreignDatabase(path: path)
        case .migrated(let newest, let oldestProgram):
            let supported = Int64(migrations.count)
            guard oldestProgram <= supported else { throw .schemaTooNew(found: newest, supported: supported) }
            return migrations.drop { $0.number <= newest }
        }
    }

    /// What the first step rests on. The number in decimal is `applicationID`; a pragma takes no parameters.
    private static let foundation: StaticString = """
        PRAGMA application_id = 1280590664;
        CREATE TABLE schema_migration (
            number INTEGER NOT NULL PRIMARY KEY,
            oldest_program INTEGER NOT NULL
        ) STRICT;
        """
}

/// What a database file says about its schema.
private enum SchemaState {
    case empty
    case foreign
    case migrated(newest: Int64, oldestProgram: Int64)

    init(reading connection: inout SQLiteConnection) throws(StoreError) {
        var owner = try connection.readInteger("PRAGMA application_id")
        if owner == 0 {
            guard try connection.readInteger("SELECT count(*) FROM sqlite_schema") > 0 else {
                self = .empty
                return
            }
            // Tables and owner appear together. Where the tables are there now, another process may have made both since the first look.
            owner = try connection.readInteger("PRAGMA application_id")
        }
        guard owner == SchemaMigrator.applicationID else {
            self = .foreign
            return
        }
        self = .migrated(
            newest: try connection.readInteger("SELECT max(number) FROM schema_migration"),
            oldestProgram: try connection.readInteger("SELECT max(oldest_program) FROM schema_migration"))
    }
}

extension SQLiteConnection {
    /// The first column of the first row of a statement that has one.
    mutating func readInteger(_ sql: StaticString) throws(StoreError) -> Int64 {
        var statement = try prepare(sql)
        guard try statement.step() else { throw .recordMalformed }
        return try statement.integer(at: 0)
    }
}
