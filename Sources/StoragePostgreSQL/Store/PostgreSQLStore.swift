package import ContentKeys
import EventLoops
package import Records
package import Telemetry

/// What an installation of many nodes shares: content keys, decisions, revocations, challenges and the shipped ledgers,
/// in PostgreSQL.
///
/// A thread of its own runs all connections, which never block it. A small pool of threads connects, which blocks. No
/// call waits longer than `PostgreSQLLimits.call`; one that has no answer by then throws `unavailable(.busy)`. While
/// the database is away or silent calls throw `unavailable(.unreachable)`, at once after the first failed attempt to
/// connect again; when it is back they work again.
package final class PostgreSQLStore: Sendable {
    /// Why the store was opened without a connection; nil if it had one. What became of it since, `health` says.
    package let initialAbsence: PostgreSQLOpeningError?

    let ring: KeyRing
    let limits: PostgreSQLLimits
    private let group: EventLoopGroup
    private let pool: BlockingWorkerPool
    private let connections: ConnectionSet
    private let loop: LoopContext
    private let opener: SessionOpener

    /// Connects, and brings the schema up to date.
    ///
    /// Blocks until the first connection is made. Throws what stands in the way; with `mayBeAway` a server that does
    /// not answer is no reason, and the store goes on trying.
    ///
    /// - Parameters:
    ///   - secrets: What each connection compares with the database's proofs, beside the key-encryption keys.
    ///   - noteTime: Is called with the database's time for each connection, before it is used.
    package static func open(
        _ settings: PostgreSQLSettings, keyRing: KeyRing, secrets: SharedSecrets = .none, mayBeAway: Bool = false,
        noteTime: @escaping @Sendable (DatabaseTimeReading) -> Void = { _ in }
    ) throws(PostgreSQLOpeningError) -> PostgreSQLStore {
        let opener = SessionOpener(
            settings: settings, ring: keyRing, secrets: ProvedSecrets(secrets), noteTime: noteTime)
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

    /// Answers what is under way with `unavailable`, closes the connections and ends the threads. Not to be called on a
    /// loop.
    package func close() {
        let connections = connections
        _ = loop.runAndWait { connections.stop() }
        pool.stop()
        group.stop(within: .seconds(1))
    }

    /// Compares all proofs in the database with the secrets of this node, and changes nothing. Blocks.
    package static func check(
        _ settings: PostgreSQLSettings, keyRing: KeyRing, secrets: SharedSecrets
    ) throws(PostgreSQLOpeningError) {
        try SessionOpener(settings: settings, ring: keyRing, secrets: ProvedSecrets(secrets)).check()
    }

    /// Takes the secrets of a reload for those that the installation uses from now on.
    ///
    /// Blocks while it makes a connection. If that fails, the next connection that succeeds stores their proofs.
    package func replaceSecrets(_ secrets: SharedSecrets) throws(PostgreSQLOpeningError) {
        opener.secrets.replace(with: secrets)
        _ = try opener.open()
    }

    /// How the connections do.
    package var health: PostgreSQLHealth { connections.health }

    /// Sets who is told, once, that the database cannot serve, for a store that was opened while the server was away:
    /// the first connection has shown what would have stopped `open`. `body` is called on any thread.
    package func tellRefusal(to body: @escaping @Sendable (PostgreSQLOpeningError) -> Void) {
        connections.tellRefusal(to: body)
    }

    // MARK: Calls

    enum Route: Sendable {
        case read
        /// Calls of one number go to one connection, as long as that is up.
        case write(UInt64)
    }

    /// Runs a statement on a connection of its route.
    func run(
        _ statement: PreparedStatement, _ values: [PostgreSQLValue], _ route: Route, locks: [Int64]? = nil
    ) async throws(StoreError) -> PostgreSQLResult {
        do { return try await outcomes([(statement, values)], route, locks: locks)[0].get() } catch {
            throw error.storeError
        }
    }

    /// Runs a statement whose caller does not wait for it and does not need it to succeed.
    func post(_ statement: PreparedStatement, _ values: [PostgreSQLValue], _ route: Route, locks: [Int64]) {
        let deadline = SystemMonotonicClock().monotonicTime + limits.call
        let call = DatabaseCall(statement, values, deadline: deadline, locks: locks) { _ in }
        let connections = connections
        _ = loop.execute { connections.submit([call], route) }
    }

    /// Runs statements that do not depend on one another, in one round trip; the outcomes are in the statements' order.
    func outcomes(
        _ statements: [(PreparedStatement, [PostgreSQLValue])], _ route: Route, locks: [Int64]? = nil
    ) async -> [Result<PostgreSQLResult, PostgreSQLFailure>] {
        let deadline = SystemMonotonicClock().monotonicTime + limits.call
        return await withCheckedContinuation { continuation in
            let collected = CollectedOutcomes(count: statements.count) { continuation.resume(returning: $0) }
            let calls = statements.enumerated().map { index, statement in
                DatabaseCall(statement.0, statement.1, deadline: deadline, locks: locks) {
                    collected.set($0, at: index)
                }
            }
            let connections = connections
            let isAccepted = loop.execute { connections.submit(calls, route) }
            if !isAccepted { for call in calls { call.give(.failure(.connectionLost)) } }
        }
    }
}

/// How a store's connections do.
package struct PostgreSQLHealth: Equatable, Sendable {
    package var connected = 0
    package var expected = 0
    /// How often a first connection was made: at the start, and after each outage.
    package var arrivals = 0
    /// Why the last attempt to connect failed; nil once one has succeeded.
    package var lastError: PostgreSQLOpeningError?
    /// Whether the server takes connections and answers nothing.
    package var isSilent = false
    /// Why the database cannot serve, if the first connection showed it.
    package var refusal: PostgreSQLOpeningError?

    package init() {}

    /// Whether calls are answered.
    package var isReachable: Bool { connected > 0 && !isSilent }
}

/// What a database said when it was asked for its time.
package struct DatabaseTimeReading: Equatable, Sendable {
    /// Nanoseconds since 1970.
    package let time: Int64
    /// On the node's boot-time clock.
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
    /// Advances the database's settled time to `settled`, in seconds since 1970, but not beyond the database's clock,
    /// and reads that clock. Nil advances nothing.
    package func advanceSettledTime(to settled: Int64?) async throws(StoreError) -> DatabaseTimeReading {
        let asked = SystemBootClock().monotonicTime
        let result = try await run(.advanceSettled, [.integer(settled ?? 0)], .read)
        return DatabaseTimeReading(microseconds: try result.integer(0, 1), asked: asked)
    }
}

extension PostgreSQLStore {
    /// Deletes shared state that has ended by the database's settled time, at most `limit` rows of each kind, and gives
    /// the number of rows.
    ///
    /// Rows that have ended count nowhere, so this only keeps the tables small. Any number of nodes may do it at any
    /// time.
    package func forgetEnded(limit: Int = 10_000) async throws(StoreError) -> Int {
        var count = 0
        let statements: [PreparedStatement] = [
            .forgetReplays, .forgetRenewalSessions, .forgetTokenUses, .forgetDevices, .forgetSlots, .forgetChallenges,
            .forgetRevocations, .forgetSlotGroups, .forgetRentals,
        ]
        for statement in statements {
            count += Int(try await run(statement, [.integer(Int64(limit))], .read).integer(0, 0))
        }
        return count
    }
}
