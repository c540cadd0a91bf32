import ByteCoding
import ContentKeys
import Records
import Synchronization
import Telemetry

/// Makes connections that are ready for calls: checked, and with every statement prepared.
///
/// Each new connection is checked as the first one was, because behind the same name there may be another database: one
/// that took over, or one that came back from a copy.
struct SessionOpener: Sendable {
    /// 13.0
    static let oldestServer = 130_000

    let settings: PostgreSQLSettings
    let ring: KeyRing
    let secrets: ProvedSecrets
    /// Hears the database's time on each new connection, before any call is made on it.
    var noteTime: @Sendable (DatabaseTimeReading) -> Void = { _ in }

    /// Connects, brings the schema up to date, compares the key-encryption keys' proofs, prepares, and begins the
    /// pipeline. Blocks.
    func open() throws(PostgreSQLOpeningError) -> PostgreSQLConnection {
        let connection = try wrap(PostgreSQLOpeningError.failed, try PostgreSQLConnection.connect(settings))
        guard connection.serverVersion >= Self.oldestServer else { throw .serverTooOld(connection.serverVersion) }
        try checkSettings(of: connection)
        // The first migration of a large database may take long; it fails nothing but this start.
        let migrationEnd = SystemMonotonicClock().monotonicTime + .seconds(600)
        try schema(on: connection, until: migrationEnd).migrate()
        let deadline = SystemMonotonicClock().monotonicTime + settings.limits.prepare
        try schema(on: connection, until: deadline).establishProof(of: ring)
        try secrets.establish(in: schema(on: connection, until: deadline))
        try wrap(PostgreSQLOpeningError.failed) { () throws(PostgreSQLFailure) in
            for statement in PreparedStatement.allCases { try connection.prepare(statement, until: deadline) }
        }
        try readClock(on: connection, until: deadline)
        try wrap(PostgreSQLOpeningError.failed, try connection.beginPipeline())
        return connection
    }

    /// Refuses a connection whose settings are not those that were asked for: a pooler has dropped them, and each
    /// transaction may run on another connection. Tables would then be made in another schema, and locks be waited for
    /// without end.
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

    /// Compares all proofs on a connection of its own, and changes nothing. Blocks.
    func check() throws(PostgreSQLOpeningError) {
        let connection = try wrap(PostgreSQLOpeningError.failed, try PostgreSQLConnection.connect(settings))
        guard connection.serverVersion >= Self.oldestServer else { throw .serverTooOld(connection.serverVersion) }
        let deadline = SystemMonotonicClock().monotonicTime + settings.limits.connect
        try schema(on: connection, until: deadline).check(ring, secrets.current)
    }

    private func schema(on connection: PostgreSQLConnection, until deadline: MonotonicTime)
        -> PostgreSQLSchemaConnection
    {
        PostgreSQLSchemaConnection(connection, schema: settings.url.schema, until: deadline)
    }
}

/// The secrets that each new connection compares with the database's proofs. A reload may replace them.
final class ProvedSecrets: Sendable {
    private let state: Mutex<(secrets: SharedSecrets, isReplaced: Bool)>

    init(_ secrets: SharedSecrets) {
        state = Mutex((secrets, false))
    }

    var current: SharedSecrets { state.withLock { $0.secrets } }

    /// The next connection stores the proofs of these secrets in the place of those that are there.
    func replace(with secrets: SharedSecrets) {
        state.withLock { $0 = (secrets, true) }
    }

    func establish(in database: PostgreSQLSchemaConnection) throws(PostgreSQLOpeningError) {
        let (secrets, isReplaced) = state.withLock { $0 }
        if isReplaced {
            try database.replaceSecrets(secrets)
            state.withLock { if $0.secrets == secrets { $0.isReplaced = false } }
        }
        try database.establish(secrets)
    }
}
