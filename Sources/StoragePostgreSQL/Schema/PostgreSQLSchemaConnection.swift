import ContentKeys
import EventLoops

/// Brings a database to the schema of this program, on a connection of its own.
///
/// The table `schema_migration` in the installation's schema says which steps it has been through, each with the oldest program that can
/// still work with it. So a program may use the database of a newer one as long as the newer schema allows. Of several nodes that start at
/// once, one runs the steps and the others wait.
struct SchemaMigrator {
    let migrations: [SchemaMigration]

    init(_ migrations: [SchemaMigration] = SchemaMigration.all) {
        precondition(migrations.map(\.number) == (0..<migrations.count).map { Int64($0) + 1 }, "steps have no gaps")
        self.migrations = migrations
    }

    /// Runs the steps that are missing, all or none. Changes nothing in a database that is refused, and takes no lock when none is missing.
    func run(
        on connection: PostgreSQLConnection, schema: String, until deadline: LoopInstant
    ) throws(PostgreSQLOpeningError) {
        guard try !missingSteps(connection, schema, deadline).isEmpty else { return }
        try PostgreSQLOpeningError.wrapping { () throws(PostgreSQLFailure) in
            // The session's own limits are meant for decisions.
            try connection.execute(
                "BEGIN; SET LOCAL statement_timeout = 0; SET LOCAL lock_timeout = 0", until: deadline)
            _ = try connection.query(
                "SELECT pg_advisory_xact_lock(hashtextextended('latchkey schema ' || $1::text, 0))", [.text(schema)],
                until: deadline)
        }
        do throws(PostgreSQLOpeningError) {
            // Another node may have migrated the database before the lock was ours.
            let steps = try missingSteps(connection, schema, deadline)
            try PostgreSQLOpeningError.wrapping { () throws(PostgreSQLFailure) in
                for step in steps { try apply(step, to: connection, schema, deadline) }
                try connection.execute("COMMIT", until: deadline)
            }
        } catch {
            // A roll-back that fails leaves nothing to do: the server drops the transaction with the connection.
            try? connection.execute("ROLLBACK", until: deadline)
            throw error
        }
    }

    private func apply(
        _ step: SchemaMigration, to connection: PostgreSQLConnection, _ schema: String, _ deadline: LoopInstant
    ) throws(PostgreSQLFailure) {
        if step.number == 1 { try makeFoundation(on: connection, schema, deadline) }
        for script in step.scripts { try connection.execute(script, until: deadline) }
        _ = try connection.query(
            "INSERT INTO schema_migration (number, oldest_program) VALUES ($1, $2)",
            [.integer(step.number), .integer(step.oldestProgram)], until: deadline)
    }

    /// What the first step rests on. A schema that an administrator has made for us is used; making one takes a right that not every role has.
    private func makeFoundation(
        on connection: PostgreSQLConnection, _ schema: String, _ deadline: LoopInstant
    ) throws(PostgreSQLFailure) {
        let found = try connection.query(
            "SELECT 1 FROM pg_namespace WHERE nspname = $1", [.text(schema)], until: deadline)
        // A schema's name has only letters, digits and underscores (`PostgreSQLURL`).
        if found.rowCount == 0 { try connection.execute("CREATE SCHEMA \"\(schema)\"", until: deadline) }
        try connection.execute(
            "CREATE TABLE schema_migration (number int8 PRIMARY KEY, oldest_program int8 NOT NULL)", until: deadline)
    }

    /// Steps that the database has not been through; none for a newer one that this program can work with.
    private func missingSteps(
        _ connection: PostgreSQLConnection, _ schema: String, _ deadline: LoopInstant
    ) throws(PostgreSQLOpeningError) -> ArraySlice<SchemaMigration> {
        switch try SchemaState(connection, schema, deadline) {
        case .empty: return migrations[...]
        case .foreign: throw .foreignSchema(schema)
        case .migrated(let newest, let oldestProgram):
            let supported = Int64(migrations.count)
            guard oldestProgram <= supported else { throw .schemaTooNew(found: newest, supported: supported) }
            return migrations.drop { $0.number <= newest }
        }
    }
}

/// What a database says about its schema.
private enum SchemaState {
    case empty
    case foreign
    case migrated(newest: Int64, oldestProgram: Int64)

    init(
        _ connection: PostgreSQLConnection, _ schema: String, _ deadline: LoopInstant
    ) throws(PostgreSQLOpeningError) {
        let tables = try PostgreSQLOpeningError.wrapping { () throws(PostgreSQLFailure) in
            try connection.query(
                """
                SELECT count(*), count(*) FILTER (WHERE relname = 'schema_migration')
                FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
                WHERE nspname = $1 AND relkind IN ('r', 'p', 'v', 'm', 'f')
                """, [.text(schema)], until: deadline)
        }
        let (all, ours) = try PostgreSQLOpeningError.reading { () throws(StoreError) in
            (try tables.integer(0, 0), try tables.integer(0, 1))
        }
        guard ours == 1 else {
            self = all == 0 ? .empty : .foreign
            return
        }
        let steps = try PostgreSQLOpeningError.wrapping { () throws(PostgreSQLFailure) in
            try connection.query("SELECT max(number), max(oldest_program) FROM schema_migration", until: deadline)
        }
        self = try PostgreSQLOpeningError.reading { () throws(StoreError) in
            .migrated(newest: try steps.integer(0, 0), oldestProgram: try steps.integer(0, 1))
        }
    }
}
