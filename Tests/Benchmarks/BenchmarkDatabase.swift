import DatabaseSupport
import KeyCrypto
import StoragePostgreSQL

/// A new schema in the server that `Scripts/with-postgresql` has started. It is deleted with that server.
struct BenchmarkDatabase {
    let server: DatabaseServer
    let schema: String

    /// Makes the schema. If there is no server, prints that and returns nil.
    static func find(for name: String, schema: String) -> BenchmarkDatabase? {
        guard let server = DatabaseServer.current else {
            print("\(name), PostgreSQL: left out, no server; Scripts/with-postgresql Scripts/bench \(name) starts one")
            return nil
        }
        return BenchmarkDatabase(server: server, schema: schema)
    }

    func settings(_ change: (inout PostgreSQLLimits) -> Void) throws -> PostgreSQLSettings {
        var limits = PostgreSQLLimits()
        limits.call = .seconds(60)
        limits.statement = .seconds(50)
        limits.lock = .seconds(40)
        change(&limits)
        return PostgreSQLSettings(
            url: try PostgreSQLURL(parsing: "\(server.url)&schema=\(schema)"), password: try server.password(),
            limits: limits)
    }

    func bare(connections: Int, setUp: [String] = [], _ statements: [String]) throws -> BarePostgreSQL {
        try BarePostgreSQL(
            url: server.url, password: server.password().bytes.revealed(), schema: schema, connections: connections,
            setUp: setUp, statements: statements)
    }
}
