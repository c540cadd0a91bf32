import ByteCoding
import ContentKeys
import Records
import Synchronization
import Telemetry

/// Opens connections that are ready for calls: they are checked, and every statement is prepared.
///
/// Each new connection is checked like the first one, because the same name may lead to another database later: one
/// that took over, or one that was restored from a copy.
struct SessionOpener: Sendable {
    /// The oldest version that is supported: 13.0.
    static let oldestServer = 130_000

    let settings: PostgreSQLSettings
    let ring: KeyRing
    let secrets: ProvedSecrets
    /// Called with the database's time on each new connection, before any call is made on it.
    var noteTime: @Sendable (DatabaseTimeReading) -> Void = { _ in }

    /// Connects, migrates the schema, compares the proofs of the key-encryption keys and secrets, prepares all
    /// statements and begins the pipeline. Blocks.
    func open() throws(PostgreSQLOpeningError) -> PostgreSQLConnection {
        let connection = try wrap(PostgreSQLOpeningError.failed, try PostgreSQLConnection.connect(settings))
        guard connection.serverVersion >= Self.oldestServer else { throw .serverTooOld(connection.serverVersion) }
        try checkSettings(of: connection)
        // The first migration of a large database may take long. If the limit passes, only this start fails.
        let migrationEnd = SystemMonotonicClock().monotonicTime + .seconds(600)
        try schema(on: connection, until: migrationEnd).migrate()
        let deadline = SystemMonotonicClock().monotonicTime + settings.limits.prepare
        try schema(on: connection, until: deadline).establishProof(of: ring)
        try secrets.establish(in: schema(on: connection, until: deadline))
        try readClock(on: connection, until: deadline)
        try wrap(
            PostgreSQLOpeningError.failed,
            try connection.beginPipeline(preparing: PreparedStatement.allCases, until: deadline))
        return connection
    }

    /// Refuses a connection that does not have the requested settings.
    ///
    /// A pooler has then dropped them, and may run each transaction on another connection. Tables would be created in
    /// another schema, and statements would wait for locks without a limit.
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
        do throws(StoreError) { count = try found[0].integer(at: 0) } catch { throw .recordMalformed }
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
            noteTime(DatabaseTimeReading(microseconds: try result[0].integer(at: 0), asked: asked))
        } catch {
            throw .recordMalformed
        }
    }

    /// Compares all proofs on a connection of its own. Changes nothing. Blocks.
    func check() throws(PostgreSQLOpeningError) -> SecretProof.Name? {
        let connection = try wrap(PostgreSQLOpeningError.failed, try PostgreSQLConnection.connect(settings))
        guard connection.serverVersion >= Self.oldestServer else { throw .serverTooOld(connection.serverVersion) }
        try checkSettings(of: connection)
        let deadline = SystemMonotonicClock().monotonicTime + settings.limits.connect
        return try schema(on: connection, until: deadline).check(ring, secrets.current)
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
    private let noteUnconfigured: @Sendable (SecretProof.Name) -> Void
    private let isNoted = Atomic<Bool>(false)

    init(
        _ secrets: SharedSecrets, noteUnconfigured: @escaping @Sendable (SecretProof.Name) -> Void = { _ in }
    ) {
        state = Mutex((secrets, false))
        self.noteUnconfigured = noteUnconfigured
    }

    var current: SharedSecrets { state.withLock { $0.secrets } }

    /// Replaces the secrets. The next connection replaces the database's proofs by the proofs of these secrets.
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
        guard !isNoted.load(ordering: .relaxed), let name = try database.unconfigured(secrets) else { return }
        if !isNoted.exchange(true, ordering: .relaxed) { noteUnconfigured(name) }
    }
}
