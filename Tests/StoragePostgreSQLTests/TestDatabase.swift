import DatabaseSupport
import Foundation
import KeyCrypto
import Synchronization
import Telemetry
import TestSupport
import Testing

@testable import StoragePostgreSQL

/// An installation's schema in the server's database. It is empty at first, and is deleted with this object.
final class TestDatabase: Sendable {
    let server: DatabaseServer
    let schema: String
    private let clock = Mutex<DrivenClock?>(nil)

    /// The connection that sets the database's clock, and the current values.
    private struct DrivenClock {
        let connection: PostgreSQLConnection
        var time: Int64 = 0
        var settled = Int64.max
    }

    init(on server: DatabaseServer? = .current) throws {
        self.server = try #require(server)
        schema = "test_" + UUID().uuidString.lowercased().replacing("-", with: "_")
    }

    deinit {
        try? execute("DROP SCHEMA IF EXISTS \(schema) CASCADE")
    }

    func settings(_ change: (inout PostgreSQLLimits) -> Void = { _ in }) throws -> PostgreSQLSettings {
        // Other tests may keep the machine busy, so tests that are not about time have long limits.
        var limits = PostgreSQLLimits()
        limits.connect = .seconds(60)
        limits.call = .seconds(60)
        limits.statement = .seconds(50)
        limits.lock = .seconds(40)
        limits.idle = .seconds(60)
        limits.writers = 2
        change(&limits)
        return PostgreSQLSettings(
            url: try PostgreSQLURL(parsing: "\(server.url)&schema=\(schema)"), password: try server.password(),
            limits: limits)
    }

    func connect() throws -> PostgreSQLConnection {
        try PostgreSQLConnection.connect(settings())
    }

    /// Runs a script on its own connection.
    func execute(_ script: String) throws {
        try connect().execute(script, until: Self.deadline)
    }

    func integer(_ sql: String) throws -> Int64 {
        try connectionToLivingServer().query(sql, until: Self.deadline)[0].integer(at: 0)
    }

    /// Connects to a server that may be restarting after it was killed. It may seem alive for a moment after its end.
    private func connectionToLivingServer() throws -> PostgreSQLConnection {
        let deadline = Self.deadline
        while true {
            do {
                return try connect()
            } catch PostgreSQLFailure.notConnected where SystemMonotonicClock().monotonicTime < deadline {
                usleep(50_000)
            }
        }
    }

    static var deadline: MonotonicTime { SystemMonotonicClock().monotonicTime + .seconds(60) }

    /// Calls `body` with a node's store, and closes the store afterwards.
    func withStore<Result>(
        _ change: (inout PostgreSQLLimits) -> Void = { _ in }, _ body: (PostgreSQLStore) async throws -> Result
    ) async throws -> Result {
        let store = try open(change)
        defer { store.close() }
        return try await body(store)
    }

    /// Opens a store. The database's clock is 0 until a test sets it, because most test decisions are made at 0.
    func open(_ change: (inout PostgreSQLLimits) -> Void = { _ in }) throws -> PostgreSQLStore {
        let store = try PostgreSQLStore.open(settings(change), keyRing: SampleKeys.keyRing())
        try driveClock()
        return store
    }

    /// Sets the database's clock, by which the database ends all records.
    func setTime(_ time: Int64) throws {
        try setClock(time, settled: .max)
    }

    func setClock(_ time: Int64, settled: Int64) throws {
        try clock.withLock { clock in
            guard var driven = clock, (driven.time, driven.settled) != (time, settled) else { return }
            try driven.connection.execute(
                "UPDATE test_time SET at = \(time); UPDATE settled_time SET at = \(settled)", until: Self.deadline)
            (driven.time, driven.settled) = (time, settled)
            clock = driven
        }
    }

    /// Replaces the database's clock by a row of a table.
    private func driveClock() throws {
        try clock.withLock { clock in
            guard clock == nil else { return }
            let driven = DrivenClock(connection: try connect())
            try driven.connection.execute(
                """
                CREATE TABLE test_time (at int8 NOT NULL);
                INSERT INTO test_time VALUES (0);
                UPDATE settled_time SET at = \(Int64.max);
                CREATE OR REPLACE FUNCTION clock_1() RETURNS int8 LANGUAGE sql VOLATILE AS 'SELECT at FROM test_time';
                """, until: Self.deadline)
            clock = driven
        }
    }
}
