package import ContentKeys
import EventLoops
package import Records
package import Telemetry

/// Stores the data that several nodes share in PostgreSQL: content keys, decisions, revocations, challenges and copies
/// of the nodes' ledgers.
///
/// One thread runs all connections, which never block it. A small pool of threads makes connections, which blocks.
///
/// No call waits longer than `PostgreSQLLimits.call`. If it has no answer by then, it throws `unavailable(.busy)`.
/// While the database is away or silent, calls throw `unavailable(.unreachable)`. After the first failed attempt to
/// reconnect they throw it immediately. Calls work again when the database is back.
package final class PostgreSQLStore: Sendable {
    /// The reason why the store was opened without a connection; nil if it had one. `health` gives the current state.
    package let initialAbsence: PostgreSQLOpeningError?

    let ring: KeyRing
    let limits: PostgreSQLLimits
    private let group: EventLoopGroup
    private let pool: BlockingWorkerPool
    let connections: ConnectionSet
    private let loop: LoopContext
    private let opener: SessionOpener

    /// Connects and migrates the schema.
    ///
    /// Blocks until the first connection is made. Throws if that fails. With `mayBeAway` a server that does not answer
    /// is accepted, and the store continues to try.
    ///
    /// - Parameters:
    ///   - secrets: The secrets that each connection compares with the database's proofs, besides the key-encryption
    ///     keys.
    ///   - noteTime: Called with the database's time for each connection, before the connection is used.
    ///   - noteUnconfigured: Called once, on any thread, if the database was used with a secret that `secrets` lacks.
    package static func open(
        _ settings: PostgreSQLSettings, keyRing: KeyRing, secrets: SharedSecrets = .none, mayBeAway: Bool = false,
        noteTime: @escaping @Sendable (DatabaseTimeReading) -> Void = { _ in },
        noteUnconfigured: @escaping @Sendable (SecretProof.Name) -> Void = { _ in }
    ) throws(PostgreSQLOpeningError) -> PostgreSQLStore {
        let opener = SessionOpener(
            settings: settings, ring: keyRing, secrets: ProvedSecrets(secrets, noteUnconfigured: noteUnconfigured),
            noteTime: noteTime)
        let first: PostgreSQLConnection?
        var absence: PostgreSQLOpeningError?
        do throws(PostgreSQLOpeningError) {
            first = try opener.open()
        } catch {
            guard mayBeAway, error.mayPass else { throw error }
            (first, absence) = (nil, error)
        }
        do throws(EventLoopError) {
            return try PostgreSQLStore(opener, first: first, absence)
        } catch {
            throw .threadsNotStarted
        }
    }

    private init(
        _ opener: SessionOpener, first: PostgreSQLConnection?, _ absence: PostgreSQLOpeningError?
    ) throws(EventLoopError) {
        self.opener = opener
        initialAbsence = absence
        ring = opener.ring
        limits = opener.settings.limits
        group = try EventLoopGroup(count: 1, name: "postgresql")
        let count = limits.writers + limits.readers
        pool = try BlockingWorkerPool(
            threadCount: min(4, count), queueLengthMaximum: 2 * count, name: "pg-connect")
        loop = group.loops[0]
        connections = ConnectionSet(on: loop, opener: opener, pool: pool, first: first)
        let connections = connections
        loop.execute { connections.start() }
    }

    /// Answers open calls with `unavailable`, closes the connections and ends the threads. Must not be called on a
    /// loop.
    package func close() {
        let connections = connections
        _ = loop.runAndWait { connections.stop() }
        pool.stop()
        group.stop(within: .seconds(1))
    }

    /// Compares all proofs in the database with the secrets of this node. Changes nothing. Blocks.
    ///
    /// Returns the secret that the database was used with and that is not configured; nil if there is none.
    @discardableResult
    package static func check(
        _ settings: PostgreSQLSettings, keyRing: KeyRing, secrets: SharedSecrets
    ) throws(PostgreSQLOpeningError) -> SecretProof.Name? {
        try SessionOpener(settings: settings, ring: keyRing, secrets: ProvedSecrets(secrets)).check()
    }

    /// Stores the proofs of the new secrets of a reload.
    ///
    /// Blocks while it makes a connection. If that fails, the next successful connection stores the proofs.
    package func replaceSecrets(_ secrets: SharedSecrets) throws(PostgreSQLOpeningError) {
        opener.secrets.replace(with: secrets)
        _ = try opener.open()
    }

    /// The current state of the connections.
    package var health: PostgreSQLHealth { connections.health }

    /// Sets the closure that is called once if the database cannot serve.
    ///
    /// It is for a store that was opened while the server was away: its first connection may show an error for which
    /// `open` would have thrown. `body` is called on any thread.
    package func tellRefusal(to body: @escaping @Sendable (PostgreSQLOpeningError) -> Void) {
        connections.tellRefusal(to: body)
    }

    /// Sets the closure that is called on each new connection for decisions, before a decision runs on it.
    package func tellConnection(to body: @escaping @Sendable () -> Void) {
        connections.tellConnection(to: body)
    }

    // MARK: Calls

    enum Route: Sendable {
        case read
        /// Calls with the same number use the same connection while it is connected.
        case write(UInt64)
        /// As `write`, but only on connections with these numbers. The call does not wait for one.
        case bound(UInt64, ClosedRange<Int>)

        var isBound: Bool {
            if case .bound = self { true } else { false }
        }
    }

    /// Runs a statement on a connection of the route.
    func run(
        _ statement: PreparedStatement, _ values: [PostgreSQLValue], _ route: Route
    ) async throws(StoreError) -> PostgreSQLResult {
        do { return try await outcomes([(statement, values)], route)[0].get() } catch { throw error.storeError }
    }

    /// Runs independent statements in one round trip. Returns the outcomes in the order of the statements.
    func outcomes(
        _ statements: [(PreparedStatement, [PostgreSQLValue])], _ route: Route, lockBefore: Int64? = nil
    ) async -> [Result<PostgreSQLResult, PostgreSQLFailure>] {
        let deadline = SystemMonotonicClock().monotonicTime + limits.call
        return await withCheckedContinuation { continuation in
            let collected = CollectedOutcomes(count: statements.count) { continuation.resume(returning: $0) }
            let calls = statements.enumerated().map { index, statement in
                DatabaseCall(
                    .statement(statement.0, statement.1, lockBefore: lockBefore) { collected.set($0, at: index) },
                    deadline: deadline, isBound: route.isBound)
            }
            submit(calls, route)
        }
    }

    /// Submits calls on the loop. If it has stopped, they fail.
    func submit(_ calls: [DatabaseCall], _ route: Route) {
        let connections = connections
        let isAccepted = loop.execute { connections.submit(calls, route) }
        if !isAccepted { for call in calls { call.fail(.connectionLost) } }
    }
}

/// The state of a store's connections.
package struct PostgreSQLHealth: Equatable, Sendable {
    package var connected = 0
    package var expected = 0
    /// The number of times that the first connection was made: at the start, and after each outage.
    package var arrivals = 0
    /// The error of the last attempt to connect; nil if it succeeded.
    package var lastError: PostgreSQLOpeningError?
    /// Whether the server accepts connections and does not answer.
    package var isSilent = false
    /// The reason why the database cannot serve, if the first connection showed one.
    package var refusal: PostgreSQLOpeningError?

    package init() {}

    /// Whether calls are answered.
    package var isReachable: Bool { connected > 0 && !isSilent }
}

/// A reading of the database's clock.
package struct DatabaseTimeReading: Equatable, Sendable {
    /// The database's time, in nanoseconds since 1970.
    package let time: Int64
    /// The time before the request, on the node's boot-time clock. `answered` is the time after the answer.
    package let asked: MonotonicTime
    package let answered: MonotonicTime

    init(microseconds: Int64, asked: MonotonicTime) {
        let (nanoseconds, overflows) = microseconds.multipliedReportingOverflow(by: 1000)
        time = overflows ? (microseconds < 0 ? .min : .max) : nanoseconds
        self.asked = asked
        answered = SystemBootClock().monotonicTime
    }
}

extension PostgreSQLStore {
    /// Advances the database's settled time to `settled`, in seconds since 1970, but not beyond the database's clock.
    /// Returns a reading of that clock. If `settled` is nil, advances nothing.
    package func advanceSettledTime(to settled: Int64?) async throws(StoreError) -> DatabaseTimeReading {
        let asked = SystemBootClock().monotonicTime
        let result = try await run(.advanceSettled, [.integer(settled ?? 0)], .read)
        return DatabaseTimeReading(microseconds: try result[0].integer(at: 1), asked: asked)
    }
}

extension PostgreSQLStore {
    /// How many rows one statement deletes, so that it stays within `PostgreSQLLimits.statement` on a slow disk.
    private static let forgottenAtOnce = 500

    /// Deletes shared state that has ended by the database's settled time, about `limit` rows of each kind at most.
    /// Returns the number of deleted rows.
    ///
    /// Ended rows have no effect, so this only keeps the tables small. Any number of nodes may call it at any time.
    package func forgetEnded(limit: Int = 200_000) async throws(StoreError) -> Int {
        var total = 0
        for statement in [PreparedStatement.forgetCells, .forgetRevocations] {
            var (count, gone) = (0, 0)
            repeat {
                gone = Int(
                    try await run(statement, [.integer(Int64(Self.forgottenAtOnce))], .read)[0].integer(at: 0))
                count += gone
            } while gone == Self.forgottenAtOnce && count < limit
            total += count
        }
        return total
    }
}
