import ByteCoding
import CSQLite
import ContentKeys
import Records

/// Owns a prepared statement.
///
/// A run binds the values, steps through the rows and ends with `reset`. After that, the statement can run again. Only
/// the thread that currently uses the connection may use its statements.
@safe
struct SQLiteStatement: ~Copyable, @unchecked Sendable {
    // Safe to send: only this value has the handle, and a connection is always sent together with its statements.
    private let handle: OpaquePointer

    @unsafe
    init(owning handle: OpaquePointer) {
        unsafe self.handle = handle
    }

    deinit {
        unsafe sqlite3_finalize(handle)
    }

    /// Sets all parameters in their order.
    mutating func bind<each Value: SQLiteValue>(_ values: repeat each Value) throws(StoreError) {
        var index: Int32 = 0
        for value in repeat each values {
            index += 1
            try check(unsafe value.bind(to: handle, at: index))
        }
    }

    /// Goes to the next row. Returns false if there are no more rows.
    mutating func step() throws(StoreError) -> Bool {
        let code = unsafe sqlite3_step(handle)
        guard code == SQLITE_ROW || code == SQLITE_DONE else {
            // SQLite keeps the connection until its statements are finalized.
            throw unsafe .unavailable(StoreOutage(code: code, of: sqlite3_db_handle(handle)))
        }
        return code == SQLITE_ROW
    }

    /// Ends a run. `step` has already thrown the run's error, if there was one.
    mutating func reset() {
        _ = unsafe sqlite3_reset(handle)
    }

    /// Runs a statement to its end. Returns how many rows it gave.
    @discardableResult
    mutating func run<each Value: SQLiteValue>(_ values: repeat each Value) throws(StoreError) -> Int {
        defer { reset() }
        try bind(repeat each values)
        var count = 0
        while try step() { count += 1 }
        return count
    }

    /// Runs a statement, and returns its first row as `read` reads it; nil if there is none.
    mutating func first<Row, each Value: SQLiteValue>(
        _ values: repeat each Value, read: (borrowing SQLiteStatement) throws(StoreError) -> Row
    ) throws(StoreError) -> Row? {
        defer { reset() }
        try bind(repeat each values)
        return try step() ? try read(self) : nil
    }

    /// Runs a statement, and returns its rows as `read` reads them.
    mutating func rows<Row, each Value: SQLiteValue>(
        _ values: repeat each Value, read: (borrowing SQLiteStatement) throws(StoreError) -> Row
    ) throws(StoreError) -> [Row] {
        defer { reset() }
        try bind(repeat each values)
        var found: [Row] = []
        while try step() { found.append(try read(self)) }
        return found
    }

    /// Runs a statement that always gives a row, and returns the integer in its first column.
    mutating func readInteger<each Value: SQLiteValue>(_ values: repeat each Value) throws(StoreError) -> Int64 {
        defer { reset() }
        try bind(repeat each values)
        guard try step() else { throw .recordMalformed }
        return try integer(at: 0)
    }
}

/// The current row.
extension SQLiteStatement: StoredRow {
    func isNull(at column: Int) -> Bool {
        unsafe sqlite3_column_type(handle, Int32(column)) == SQLITE_NULL
    }

    func bytes(at column: Int) throws(StoreError) -> [UInt8] {
        let column = try require(SQLITE_BLOB, at: column)
        // The buffer is valid until the next step, and is copied here. For an empty value SQLite returns no buffer.
        guard let start = unsafe sqlite3_column_blob(handle, column) else { return [] }
        return unsafe [UInt8](UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(handle, column))))
    }

    func text(at column: Int) throws(StoreError) -> String {
        let column = try require(SQLITE_TEXT, at: column)
        // The same holds as for bytes.
        guard let start = unsafe sqlite3_column_text(handle, column) else { return "" }
        let buffer = unsafe UnsafeBufferPointer(start: start, count: Int(sqlite3_column_bytes(handle, column)))
        return unsafe String(decoding: buffer, as: UTF8.self)
    }

    func integer(at column: Int) throws(StoreError) -> Int64 {
        unsafe sqlite3_column_int64(handle, try require(SQLITE_INTEGER, at: column))
    }

    func boolean(at column: Int) throws(StoreError) -> Bool { try integer(at: column) != 0 }

    /// Returns SQLite's number of a column that has a value of this type.
    private func require(_ type: Int32, at column: Int) throws(StoreError) -> Int32 {
        guard unsafe sqlite3_column_type(handle, Int32(column)) == type else { throw .recordMalformed }
        return Int32(column)
    }
}

/// A value that a parameter can be set to. SQLite makes its own copy of it.
protocol SQLiteValue {
    /// Sets parameter `index`, counted from 1, and returns SQLite's code. The statement is open.
    func bind(to statement: OpaquePointer, at index: Int32) -> Int32
}

extension Int64: SQLiteValue {
    func bind(to statement: OpaquePointer, at index: Int32) -> Int32 {
        unsafe sqlite3_bind_int64(statement, index, self)
    }
}

extension Int: SQLiteValue {
    func bind(to statement: OpaquePointer, at index: Int32) -> Int32 {
        unsafe Int64(self).bind(to: statement, at: index)
    }
}

extension UInt32: SQLiteValue {
    func bind(to statement: OpaquePointer, at index: Int32) -> Int32 {
        unsafe Int64(self).bind(to: statement, at: index)
    }
}

extension Bool: SQLiteValue {
    func bind(to statement: OpaquePointer, at index: Int32) -> Int32 {
        unsafe Int64(self ? 1 : 0).bind(to: statement, at: index)
    }
}

extension String: SQLiteValue {
    func bind(to statement: OpaquePointer, at index: Int32) -> Int32 {
        unsafe latchkey_sqlite3_bind_text_copy(statement, index, self, Int32(utf8.count))
    }
}

extension [UInt8]: SQLiteValue {
    func bind(to statement: OpaquePointer, at index: Int32) -> Int32 {
        unsafe latchkey_sqlite3_bind_blob_copy(statement, index, self, Int32(count))
    }
}

/// Nil becomes NULL.
extension Optional: SQLiteValue where Wrapped: SQLiteValue {
    func bind(to statement: OpaquePointer, at index: Int32) -> Int32 {
        if let self { unsafe self.bind(to: statement, at: index) } else { unsafe sqlite3_bind_null(statement, index) }
    }
}

extension Pseudonym: SQLiteValue {
    func bind(to statement: OpaquePointer, at index: Int32) -> Int32 {
        unsafe bytes.bind(to: statement, at: index)
    }
}

extension KeyID: SQLiteValue {
    func bind(to statement: OpaquePointer, at index: Int32) -> Int32 {
        unsafe bytes.bind(to: statement, at: index)
    }
}

extension ContentID: SQLiteValue {
    func bind(to statement: OpaquePointer, at index: Int32) -> Int32 {
        unsafe text.bind(to: statement, at: index)
    }
}
