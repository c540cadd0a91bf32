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
    /// Hears the database's time on each new connection, before any call is made on it.
    var noteTime: @Sendable (DatabaseTimeReading) -> Void = { _ in }

    /// Connects, brings the schema up to date, compares the key-encryption keys' proofs, prepares, and begins the pipeline. Blocks.
    func open() throws(PostgreSQLOpeningError) -> PostgreSQLConnection {
        let connection = try wrap(PostgreSQLOpeningError.failed, try PostgreSQLConnection.connect(settings))
        guard connection.serverVersion >= Self.oldestServer else { throw .serverTooOld(connection.serverVersion) }
        // The first migration of a large database may take long; it fails nothing but this start.
        let migrationEnd = SystemMonotonicClock().monotonicTime + .seconds(600)
        try schema(on: connection, until: migrationEnd).migrate()
        let deadline = SystemMonotonicClock().monotonicTime + settings.limits.connect
        try schema(on: connection, until: deadline).establishProof(of: ring)
        try wrap(PostgreSQLOpeningError.failed) { () throws(PostgreSQLFailure) in
            for statement in PreparedStatement.allCases { try connection.prepare(statement, until: deadline) }
        }
        try readClock(on: connection, until: deadline)
        try wrap(PostgreSQLOpeningError.failed, try connection.beginPipeline())
        return connection
    }

    private func readClock(
        on connection: PostgreSQLConnection, until deadline: MonotonicTime
    ) throws(PostgreSQLOpeningError) {
        let asked = SystemBootClock().monotonicTime
        let result = try wrap(
            PostgreSQLOpeningError.failed,
            try connection.query("SELECT \(PreparedStatement.clockMicroseconds)", until: deadline))
        do throws(StoreError) {
            noteTime(DatabaseTimeReading(microseconds: try result.integer(0, 0), asked: asked))
        } catch {
            throw .recordMalformed
        }
    }

    private func schema(on connection: PostgreSQLConnection, until deadline: MonotonicTime)
        -> PostgreSQLSchemaConnection
    {
        PostgreSQLSchemaConnection(connection, schema: settings.url.schema, until: deadline)
    }
}
