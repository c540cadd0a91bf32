import CPostgreSQL
import ContentKeys

/// Owns the rows of a statement's result, in binary format.
///
/// Columns and rows are counted from 0. A value that is NULL or of an unexpected type shows that this program did not
/// write the row; reading it throws `recordMalformed`.
@safe
final class PostgreSQLResult: @unchecked Sendable {
    // Safe to send: libpq never changes a complete result, and reading it needs no lock.
    private let handle: OpaquePointer

    @unsafe
    init(owning handle: OpaquePointer) {
        unsafe self.handle = handle
    }

    deinit {
        unsafe PQclear(handle)
    }

    var rowCount: Int { unsafe Int(PQntuples(handle)) }

    func isNull(_ row: Int, _ column: Int) -> Bool {
        unsafe PQgetisnull(handle, Int32(row), Int32(column)) == 1
    }

    // Each read copies from a buffer that is valid as long as the result.

    func bytes(_ row: Int, _ column: Int) throws(StoreError) -> [UInt8] {
        try unsafe value(row, column, as: .bytes) { unsafe [UInt8]($0) }
    }

    func text(_ row: Int, _ column: Int) throws(StoreError) -> String {
        // The server sends valid UTF-8, because the connection asks for that encoding.
        try unsafe value(row, column, as: .text) { unsafe String(decoding: $0, as: UTF8.self) }
    }

    func integer(_ row: Int, _ column: Int) throws(StoreError) -> Int64 {
        let bytes = try unsafe value(row, column, as: .integer) { unsafe [UInt8]($0) }
        guard bytes.count == 8 else { throw .recordMalformed }
        return Int64(bitPattern: bytes.reduce(0) { $0 << 8 | UInt64($1) })
    }

    func boolean(_ row: Int, _ column: Int) throws(StoreError) -> Bool {
        try unsafe value(row, column, as: .boolean) { unsafe $0.first == 1 }
    }

    func optionalText(_ row: Int, _ column: Int) throws(StoreError) -> String? {
        isNull(row, column) ? nil : try text(row, column)
    }

    func optionalInteger(_ row: Int, _ column: Int) throws(StoreError) -> Int64? {
        isNull(row, column) ? nil : try integer(row, column)
    }

    private func value<Value>(
        _ row: Int, _ column: Int, as type: PostgreSQLType, _ read: (UnsafeRawBufferPointer) -> Value
    ) throws(StoreError) -> Value {
        let (row, column) = (Int32(row), Int32(column))
        // libpq checks the range: outside of it, it returns type 0 and NULL. The buffer is valid as long as the result.
        guard unsafe PQftype(handle, column) == type.rawValue, unsafe PQgetisnull(handle, row, column) == 0,
            let start = unsafe PQgetvalue(handle, row, column)
        else { throw .recordMalformed }
        return unsafe read(UnsafeRawBufferPointer(start: start, count: Int(PQgetlength(handle, row, column))))
    }
}
