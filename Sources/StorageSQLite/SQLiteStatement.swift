import CSQLite
import ContentKeys
import Records

/// Owns a prepared statement. It runs only while its connection exists.
///
/// A run binds the values, steps through the rows and ends with `reset`. After that, the statement can run again. Only
/// the thread that currently uses the connection may use its statements.
@safe
struct SQLiteStatement: ~Copyable, @unchecked Sendable {
    // Safe to send: only this value has the handle, and a connection is always sent together with its statements.
    private let connection: OpaquePointer
    private let sql: SQL
    /// Nil if the statement could not be prepared yet.
    private var handle: OpaquePointer?

    @unsafe
    init(_ sql: SQL, on connection: OpaquePointer) {
        self.sql = sql
        unsafe self.connection = connection
        // An error is thrown by the first run, unless the statement can be prepared then.
        try? prepare()
    }

    /// Prepares the statement, if it is not prepared yet.
    mutating func prepare() throws(StoreError) {
        if unsafe handle != nil { return }
        let code = unsafe sqlite3_prepare_v3(
            connection, sql.text, Int32(sql.text.utf8.count), UInt32(SQLITE_PREPARE_PERSISTENT), &handle, nil)
        guard code == SQLITE_OK else { throw unsafe .unavailable(StoreOutage(code: code, of: connection)) }
    }

    deinit {
        unsafe sqlite3_finalize(handle)
    }

    /// Sets parameter `index`, counted from 1. SQLite makes its own copy of the bytes.
    mutating func bind(_ bytes: [UInt8], at index: Int32) throws(StoreError) {
        try prepare()
        try check(unsafe latchkey_sqlite3_bind_blob_copy(handle, index, bytes, Int32(bytes.count)))
    }

    /// Sets parameter `index` to the pseudonym's 32 bytes.
    mutating func bind(_ pseudonym: Pseudonym, at index: Int32) throws(StoreError) {
        try bind(pseudonym.bytes, at: index)
    }

    /// Sets parameter `index`; nil becomes NULL. The methods below treat nil in the same way.
    mutating func bind(optional bytes: [UInt8]?, at index: Int32) throws(StoreError) {
        if let bytes { try bind(bytes, at: index) } else { try bind(nil as Int64?, at: index) }
    }

    mutating func bind(_ text: String?, at index: Int32) throws(StoreError) {
        guard let text else { return try bindNull(at: index) }
        try prepare()
        try check(unsafe latchkey_sqlite3_bind_text_copy(handle, index, text, Int32(text.utf8.count)))
    }

    mutating func bind(_ integer: Int64?, at index: Int32) throws(StoreError) {
        guard let integer else { return try bindNull(at: index) }
        try prepare()
        try check(unsafe sqlite3_bind_int64(handle, index, integer))
    }

    private mutating func bindNull(at index: Int32) throws(StoreError) {
        try prepare()
        try check(unsafe sqlite3_bind_null(handle, index))
    }

    /// Goes to the next row. Returns false if there are no more rows.
    mutating func step() throws(StoreError) -> Bool {
        try prepare()
        let code = unsafe sqlite3_step(handle)
        guard code == SQLITE_ROW || code == SQLITE_DONE else {
            throw unsafe .unavailable(StoreOutage(code: code, of: connection))
        }
        return code == SQLITE_ROW
    }

    /// Ends a run. `step` has already thrown the run's error, if there was one.
    mutating func reset() {
        _ = unsafe sqlite3_reset(handle)
    }

    /// Runs a statement that gives no rows. Its parameters are the integers, followed by the bytes.
    mutating func run(_ integers: [Int64], _ bytes: [UInt8]? = nil) throws(StoreError) {
        defer { reset() }
        for (index, integer) in integers.enumerated() { try bind(integer, at: Int32(index + 1)) }
        if let bytes { try bind(bytes, at: Int32(integers.count + 1)) }
        _ = try step()
    }

    // Columns of the current row, counted from 0. A value of another type shows that this program did not write the
    // row.

    func bytes(at column: Int32) throws(StoreError) -> [UInt8] {
        try requireType(SQLITE_BLOB, at: column)
        // The buffer is valid until the next step, and is copied here. For an empty value SQLite returns no buffer.
        guard let start = unsafe sqlite3_column_blob(handle, column) else { return [] }
        return unsafe [UInt8](UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(handle, column))))
    }

    func text(at column: Int32) throws(StoreError) -> String {
        try requireType(SQLITE_TEXT, at: column)
        // The same holds as for bytes.
        guard let start = unsafe sqlite3_column_text(handle, column) else { return "" }
        let buffer = unsafe UnsafeBufferPointer(start: start, count: Int(sqlite3_column_bytes(handle, column)))
        return unsafe String(decoding: buffer, as: UTF8.self)
    }

    func integer(at column: Int32) throws(StoreError) -> Int64 {
        try requireType(SQLITE_INTEGER, at: column)
        return unsafe sqlite3_column_int64(handle, column)
    }

    func isNull(at column: Int32) -> Bool {
        unsafe sqlite3_column_type(handle, column) == SQLITE_NULL
    }

    private func requireType(_ type: Int32, at column: Int32) throws(StoreError) {
        guard unsafe sqlite3_column_type(handle, column) == type else { throw .recordMalformed }
    }
}
