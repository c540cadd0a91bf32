import DatabaseSupport
import Foundation
import KeyCrypto
import StoreConformance
import Telemetry
import Testing

@testable import StoragePostgreSQL

/// An installation's place in the server's database, empty at first, which goes with this object.
final class TestDatabase: Sendable {
    let server: DatabaseServer
    let schema: String

    init(on server: DatabaseServer? = .current) throws {
        self.server = try #require(server)
        schema = "test_" + UUID().uuidString.lowercased().replacing("-", with: "_")
    }

    deinit {
        try? execute("DROP SCHEMA IF EXISTS \(schema) CASCADE")
    }

    func settings(_ change: (inout PostgreSQLLimits) -> Void = { _ in }) throws -> PostgreSQLSettings {
        // Tests run beside others that keep the machine busy: what is not about time waits long.
        var limits = PostgreSQLLimits()
        limits.connect = .seconds(60)
        limits.call = .seconds(60)
        limits.statement = .seconds(50)
        limits.lock = .seconds(40)
        limits.writers = 2
        change(&limits)
        return PostgreSQLSettings(
            url: try PostgreSQLURL(parsing: "\(server.url)&schema=\(schema)"), password: try server.password(),
            limits: limits)
    }

    func connect() throws -> PostgreSQLConnection {
        try PostgreSQLConnection.connect(settings())
    }

    /// Runs a script on a connection of its own.
    func execute(_ script: String) throws {
        try connect().execute(script, until: Self.deadline)
    }

    func integer(_ sql: String) throws -> Int64 {
        try connectionToLivingServer().query(sql, until: Self.deadline).integer(0, 0)
    }

    /// A server that was killed is on its way back, and may seem alive for a moment after its end.
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

    /// Lends a node's store, which is closed afterwards.
    func withStore<Result>(
        _ change: (inout PostgreSQLLimits) -> Void = { _ in }, _ body: (PostgreSQLStore) async throws -> Result
    ) async throws -> Result {
        let store = try open(change)
        defer { store.close() }
        return try await body(store)
    }

    func open(_ change: (inout PostgreSQLLimits) -> Void = { _ in }) throws -> PostgreSQLStore {
        try PostgreSQLStore.open(settings(change), keyRing: SampleKeys.keyRing())
    }
}
