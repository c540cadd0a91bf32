import CPostgreSQL
import ContentKeys

/// Owns the rows of a statement's result, in binary format. Rows are counted from 0.
@safe
final class PostgreSQLResult: @unchecked Sendable {
    // Safe to send: libpq never changes a complete result, and reading it needs no lock.
    fileprivate let handle: OpaquePointer

    @unsafe
    init(owning handle: OpaquePointer) {
        unsafe self.handle = handle
    }

    deinit {
        unsafe PQclear(handle)
    }

    var rowCount: Int { unsafe Int(PQntuples(handle)) }

    subscript(row: Int) -> PostgreSQLRow { PostgreSQLRow(result: self, index: Int32(row)) }

    /// Returns the rows as `read` reads them.
    func rows<Row>(read: (PostgreSQLRow) throws(StoreError) -> Row) throws(StoreError) -> [Row] {
        var found: [Row] = []
        for row in 0..<rowCount { found.append(try read(self[row])) }
        return found
    }

    /// Returns the first row as `read` reads it; nil if there is none.
    func first<Row>(read: (PostgreSQLRow) throws(StoreError) -> Row) throws(StoreError) -> Row? {
        rowCount == 0 ? nil : try read(self[0])
    }
}

/// A row of a result. Each read copies from a buffer that is valid as long as the result.
struct PostgreSQLRow: StoredRow {
    fileprivate let result: PostgreSQLResult
    fileprivate let index: Int32

    func isNull(at column: Int) -> Bool {
        unsafe PQgetisnull(result.handle, index, Int32(column)) == 1
    }

    func bytes(at column: Int) throws(StoreError) -> [UInt8] {
        try unsafe value(at: column, as: .bytes) { unsafe [UInt8]($0) }
    }

    func text(at column: Int) throws(StoreError) -> String {
        // The server sends valid UTF-8, because the connection asks for that encoding.
        try unsafe value(at: column, as: .text) { unsafe String(decoding: $0, as: UTF8.self) }
    }

    func integer(at column: Int) throws(StoreError) -> Int64 {
        let bytes = try unsafe value(at: column, as: .integer) { unsafe [UInt8]($0) }
        guard bytes.count == 8 else { throw .recordMalformed }
        return Int64(bitPattern: bytes.reduce(0) { $0 << 8 | UInt64($1) })
    }

    func boolean(at column: Int) throws(StoreError) -> Bool {
        try unsafe value(at: column, as: .boolean) { unsafe $0.first == 1 }
    }

    private func value<Value>(
        at column: Int, as type: PostgreSQLType, _ read: (UnsafeRawBufferPointer) -> Value
    ) throws(StoreError) -> Value {
        let (handle, column) = unsafe (result.handle, Int32(column))
        // libpq checks the range: outside of it, it returns type 0 and NULL. The buffer is valid as long as the result.
        guard unsafe PQftype(handle, column) == type.rawValue, unsafe PQgetisnull(handle, index, column) == 0,
            let start = unsafe PQgetvalue(handle, index, column)
        else { throw .recordMalformed }
        return unsafe read(UnsafeRawBufferPointer(start: start, count: Int(PQgetlength(handle, index, column))))
    }
}
