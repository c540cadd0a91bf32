import CSQLite

/// SQLite's own calls on a database of content keys, without any code of the server: the minimum cost of a look-up.
///
/// It runs the statement of a look-up by key id, which may be an alias, and reads every column.
@safe
final class BareSQLite {
    private static let columns = """
        kid, content_id, track_label, period_index, scheme, state, created_at, content_type, least_hdcp, \
        least_security_level, key_version, sealed
        """

    private let connection: OpaquePointer
    private let byAliasOrKeyID: OpaquePointer

    init(path: String) throws {
        var opened: OpaquePointer?
        let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_PRIVATECACHE
        // Safe: this object owns all handles, and releases them.
        guard unsafe sqlite3_open_v2(path, &opened, flags, nil) == SQLITE_OK, let opened = unsafe opened else {
            throw BenchmarkError("sqlite3_open_v2 failed")
        }
        unsafe connection = opened
        unsafe byAliasOrKeyID = try unsafe Self.prepare(
            """
            SELECT \(Self.columns) FROM content_key
            WHERE kid = coalesce((SELECT kid FROM asset_alias WHERE alias = ?1), ?2)
            """, opened)
    }

    deinit {
        unsafe sqlite3_finalize(byAliasOrKeyID)
        unsafe sqlite3_close_v2(connection)
    }

    @unsafe
    private static func prepare(_ sql: String, _ connection: OpaquePointer) throws -> OpaquePointer {
        var statement: OpaquePointer?
        let code = unsafe sqlite3_prepare_v3(
            connection, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &statement, nil)
        guard code == SQLITE_OK, let statement = unsafe statement else {
            throw BenchmarkError("sqlite3_prepare_v3: \(code)")
        }
        return unsafe statement
    }

    /// The number of bytes in the row's columns, or 0 if there is no row.
    func lookUp(_ keyID: [UInt8]) -> Int {
        unsafe run(byAliasOrKeyID, keyID)
    }

    @unsafe
    private func run(_ statement: OpaquePointer, _ keyID: [UInt8]) -> Int {
        // SQLite reads the bytes in place, until the statement is reset.
        unsafe keyID.withUnsafeBytes { bytes in
            _ = unsafe sqlite3_bind_blob(statement, 1, bytes.baseAddress, Int32(bytes.count), nil)
            _ = unsafe sqlite3_bind_blob(statement, 2, bytes.baseAddress, Int32(bytes.count), nil)
            defer { _ = unsafe sqlite3_reset(statement) }
            guard unsafe sqlite3_step(statement) == SQLITE_ROW else { return 0 }
            var size = 0
            let columnCount = unsafe sqlite3_column_count(statement)
            for column in 0..<columnCount {
                switch unsafe sqlite3_column_type(statement, column) {
                case SQLITE_INTEGER: size += unsafe sqlite3_column_int64(statement, column) == 0 ? 0 : 8
                case SQLITE_NULL: break
                default:
                    guard unsafe sqlite3_column_blob(statement, column) != nil else { continue }
                    size += Int(unsafe sqlite3_column_bytes(statement, column))
                }
            }
            return size
        }
    }
}
