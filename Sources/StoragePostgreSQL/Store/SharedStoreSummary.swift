import ByteCoding
import ContentKeys
import Telemetry

/// What the database of all nodes says of itself, without a secret.
package struct SharedStoreSummary: Equatable, Sendable {
    /// A node that has a copy of its ledger here.
    package struct Node: Equatable, Sendable {
        package let node: String
        /// What its configuration called it last.
        package let label: String
        /// The last sequence of the copy.
        package let last: Int64
    }

    /// The server's version as PostgreSQL gives it, 150004 for 15.4.
    package let server: Int
    /// The number of the schema's last step, and the fewest steps that a program must know. Both 0 for a database
    /// without tables.
    package let schema: Int64
    package let oldestProgram: Int64
    /// The bytes of all tables and indexes of the schema.
    package let size: Int64
    /// How many content keys there are.
    package let keyCount: Int64
    /// The highest time that was trusted, in seconds since 1970; nil if none was kept.
    package let settled: Int64?
    /// In the order of their ids.
    package let nodes: [Node]

    /// How many steps this program knows.
    package static var knownSchema: Int64 { Int64(PostgreSQLSchema.migrations.count) }

    /// Connects, reads and changes nothing. Blocks.
    package static func read(_ settings: PostgreSQLSettings) throws(PostgreSQLOpeningError) -> SharedStoreSummary {
        let connection = try wrap(PostgreSQLOpeningError.failed, try PostgreSQLConnection.connect(settings))
        let version = connection.serverVersion
        guard version >= SessionOpener.oldestServer else { throw .serverTooOld(version) }
        let deadline = SystemMonotonicClock().monotonicTime + settings.limits.connect
        let database = PostgreSQLSchemaConnection(connection, schema: settings.url.schema, until: deadline)
        switch try database.schemaState() {
        case .foreign: throw .foreignSchema(settings.url.schema)
        case .retired: throw .retiredSchema(settings.url.schema)
        case .empty:
            return SharedStoreSummary(
                server: version, schema: 0, oldestProgram: 0, size: 0, keyCount: 0, settled: nil,
                nodes: [])
        case .migrated(let newest, let oldestProgram):
            return try SharedStoreSummary(
                database, settings.url.schema, server: version, schema: newest, oldestProgram: oldestProgram)
        }
    }

    private init(
        _ database: PostgreSQLSchemaConnection, _ name: String, server: Int, schema: Int64, oldestProgram: Int64
    ) throws(PostgreSQLOpeningError) {
        let size = try database.query(
            """
            SELECT coalesce(sum(pg_total_relation_size(pg_class.oid)), 0)::int8
            FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace WHERE nspname = $1 AND relkind = 'r'
            """, [.text(name)])
        let keys = try database.query("SELECT count(*) FROM content_key")
        let settled = try database.query("SELECT at FROM settled_time WHERE at > 0")
        let nodes = try database.query(
            """
            SELECT node, label, coalesce((SELECT last FROM ledger_batch
                WHERE ledger_batch.node = ledger_node.node ORDER BY first DESC LIMIT 1), 0)::int8
            FROM ledger_node ORDER BY node
            """)
        (self.server, self.schema, self.oldestProgram) = (server, schema, oldestProgram)
        (self.size, keyCount) = try database.read { () throws(StoreError) in
            (try size[0].integer(at: 0), try keys[0].integer(at: 0))
        }
        self.settled = try database.read { () throws(StoreError) in
            try settled.first { row throws(StoreError) in try row.integer(at: 0) }
        }
        self.nodes = try database.read { () throws(StoreError) in
            try nodes.rows { row throws(StoreError) in
                Node(node: try row.text(at: 0), label: try row.text(at: 1), last: try row.integer(at: 2))
            }
        }
    }

    private init(
        server: Int, schema: Int64, oldestProgram: Int64, size: Int64, keyCount: Int64,
        settled: Int64?, nodes: [Node]
    ) {
        self.server = server
        self.schema = schema
        self.oldestProgram = oldestProgram
        self.size = size
        self.keyCount = keyCount
        self.settled = settled
        self.nodes = nodes
    }
}
