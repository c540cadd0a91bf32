import ByteCoding
import ContentKeys
import Telemetry

/// An installation's schema in a database, on a connection of its own that has not begun its pipeline.
///
/// If several nodes start at the same time, one of them runs the missing steps and the others wait.
struct PostgreSQLSchemaConnection {
    private let connection: PostgreSQLConnection
    /// The schema's name has only letters, digits and underscores (`PostgreSQLURL`).
    let schema: String
    private let deadline: MonotonicTime

    init(_ connection: PostgreSQLConnection, schema: String, until deadline: MonotonicTime) {
        self.connection = connection
        self.schema = schema
        self.deadline = deadline
    }

    /// Migrates the database to this program's schema.
    ///
    /// Runs all missing steps or none. A database that is refused is not changed.
    func migrate(
        _ steps: [PostgreSQLSchema.Migration] = PostgreSQLSchema.migrations
    ) throws(PostgreSQLOpeningError) {
        do throws(SchemaError<PostgreSQLOpeningError>) {
            var database = self
            try SchemaMigrator(steps).run(on: &database)
        } catch {
            switch error {
            case .foreign: throw .foreignSchema(schema)
            case .retired: throw .retiredSchema(schema)
            case .tooNew(let found, let supported): throw .schemaTooNew(found: found, supported: supported)
            case .database(let error): throw error
            }
        }
    }

    /// Compares the key-encryption keys with the proofs in the database, and adds the proofs of new keys.
    func establishProof(of ring: KeyRing) throws(PostgreSQLOpeningError) {
        do throws(KeyProofError<PostgreSQLOpeningError>) {
            var database = self
            try ring.establishProof(in: &database)
        } catch {
            throw PostgreSQLOpeningError(error)
        }
    }

    private func execute(_ script: String) throws(PostgreSQLOpeningError) {
        try wrap(PostgreSQLOpeningError.failed, try connection.execute(script, until: deadline))
    }

    func query(
        _ sql: String, _ values: [PostgreSQLValue] = []
    ) throws(PostgreSQLOpeningError) -> PostgreSQLResult {
        try wrap(PostgreSQLOpeningError.failed, try connection.query(sql, values, until: deadline))
    }

    /// Reads a query's result. A malformed value becomes `recordMalformed`.
    func read<Value>(_ body: () throws(StoreError) -> Value) throws(PostgreSQLOpeningError) -> Value {
        do { return try body() } catch { throw .recordMalformed }
    }
}

extension PostgreSQLSchemaConnection: MigratedDatabase {
    func schemaState() throws(PostgreSQLOpeningError) -> SchemaState {
        let tables = try query(
            """
            SELECT count(*), count(*) FILTER (WHERE relname = 'schema_version'),
                count(*) FILTER (WHERE relname = 'schema_migration')
            FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
            WHERE nspname = $1 AND relkind IN ('r', 'p', 'v', 'm', 'f')
            """, [.text(schema)])
        let (all, ours, retired) = try read { () throws(StoreError) in
            (try tables[0].integer(at: 0), try tables[0].integer(at: 1), try tables[0].integer(at: 2))
        }
        // Programs before the first release kept their steps in a table with another name.
        if retired == 1 { return .retired }
        guard ours == 1 else { return all == 0 ? .empty : .foreign }
        let steps = try query("SELECT max(number), max(oldest_program) FROM schema_version")
        return try read { () throws(StoreError) in
            .migrated(newest: try steps[0].integer(at: 0), oldestProgram: try steps[0].integer(at: 1))
        }
    }

    func beginMigration() throws(PostgreSQLOpeningError) {
        // The session's own time limits are meant for decisions.
        try execute("BEGIN; SET LOCAL statement_timeout = 0; SET LOCAL lock_timeout = 0")
        _ = try query(
            "SELECT pg_advisory_xact_lock(hashtextextended('latchkey schema ' || $1::text, 0))", [.text(schema)])
    }

    func apply(_ step: PostgreSQLSchema.Migration) throws(PostgreSQLOpeningError) {
        if step.number == 1 { try makeFoundation() }
        try execute(step.script)
        _ = try query(
            "INSERT INTO schema_version (number, oldest_program) VALUES ($1, $2)",
            [.integer(step.number), .integer(step.oldestProgram)])
    }

    /// Creates the table of steps, and the schema if it does not exist. An administrator may have created the schema,
    /// because not every role has the right to create one.
    private func makeFoundation() throws(PostgreSQLOpeningError) {
        let found = try query("SELECT 1 FROM pg_namespace WHERE nspname = $1", [.text(schema)])
        if found.rowCount == 0 { try execute("CREATE SCHEMA \"\(schema)\"") }
        try execute("CREATE TABLE schema_version (number int8 PRIMARY KEY, oldest_program int8 NOT NULL)")
    }

    func commit() throws(PostgreSQLOpeningError) {
        try execute("COMMIT")
    }

    func rollBack() {
        // A failed roll-back needs no handling: the server drops the transaction when the connection ends.
        try? execute("ROLLBACK")
    }
}

extension PostgreSQLSchemaConnection: KeyProofTable {
    func keyProofs() throws(PostgreSQLOpeningError) -> [KeyEncryptionKeyProof] {
        let found = try query("SELECT version, proof FROM key_encryption_key ORDER BY version")
        return try read { () throws(StoreError) in
            try found.rows { row throws(StoreError) in
                try KeyEncryptionKeyProof(version: try row.integer(at: 0), bytes: try row.bytes(at: 1))
            }
        }
    }

    func add(_ proof: KeyEncryptionKeyProof) throws(PostgreSQLOpeningError) {
        _ = try query(
            "INSERT INTO key_encryption_key (version, proof) VALUES ($1, $2) ON CONFLICT (version) DO NOTHING",
            [.integer(Int64(proof.version)), .bytes(proof.bytes)])
    }
}
