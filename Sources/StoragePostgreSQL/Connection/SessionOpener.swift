import ByteCoding
import ContentKeys
import Telemetry

/// Makes connections that are ready for calls: checked, and with every statement prepared.
///
/// Each new connection is checked as the first one was, because behind the same name there may be another database: one that took over, or
/// one that came back from a copy.
struct SessionOpener: Sendable {
    /// 13.0
    static let oldestServer = 130_000

    let settings: PostgreSQLSettings
    let ring: KeyRing

    /// Connects, brings the schema up to date, compares the key-encryption keys' proofs, prepares, and begins the pipeline. Blocks.
    func open() throws(PostgreSQLOpeningError) -> PostgreSQLConnection {
        let connection = try wrap(PostgreSQLOpeningError.failed, try PostgreSQLConnection.connect(settings))
        guard connection.serverVersion >= Self.oldestServer else { throw .serverTooOld(connection.serverVersion) }
        try checkSettings(of: connection)
        // The first migration of a large database may take long; it fails nothing but this start.
        let migrationEnd = SystemMonotonicClock().monotonicTime + .seconds(600)
        try schema(on: connection, until: migrationEnd).migrate()
        let deadline = SystemMonotonicClock().monotonicTime + settings.limits.prepare
        try schema(on: connection, until: deadline).establishProof(of: ring)
        try wrap(PostgreSQLOpeningError.failed) { () throws(PostgreSQLFailure) in
            for statement in PreparedStatement.allCases { try connection.prepare(statement, until: deadline) }
            try connection.beginPipeline()
        }
        return connection
    }

    /// Refuses a connection whose settings are not those that were asked for: a pooler has dropped them, and each transaction may run on
    /// another connection. Tables would then be made in another schema, and locks be waited for without end.
    private func checkSettings(of connection: PostgreSQLConnection) throws(PostgreSQLOpeningError) {
        let limits = settings.limits
        let deadline = SystemMonotonicClock().monotonicTime + limits.prepare
        let found = try wrap(PostgreSQLOpeningError.failed) { () throws(PostgreSQLFailure) in
            try connection.query(
                """
                SELECT count(*) FROM pg_settings WHERE (name, setting) IN (
                    ('search_path', $1::text), ('statement_timeout', $2::text), ('lock_timeout', $3::text))
                """,
                [
                    .text(settings.url.schema), .text(String(limits.statement.milliseconds)),
                    .text(String(limits.lock.milliseconds)),
                ], until: deadline)
        }
        let count: Int64
        do throws(StoreError) { count = try found.integer(0, 0) } catch { throw .recordMalformed }
        guard count == 3 else { throw .settingsNotKept }
    }

    private func schema(on connection: PostgreSQLConnection, until deadline: MonotonicTime)
        -> PostgreSQLSchemaConnection
    {
        PostgreSQLSchemaConnection(connection, schema: settings.url.schema, until: deadline)
    }
}
