package import ByteCoding

/// A row of a database whose columns, counted from 0, are read.
///
/// Reading a value that is NULL or of another type throws `recordMalformed`, because this program did not write the
/// row.
package protocol StoredRow: ~Copyable {
    func isNull(at column: Int) -> Bool
    func bytes(at column: Int) throws(StoreError) -> [UInt8]
    func text(at column: Int) throws(StoreError) -> String
    func integer(at column: Int) throws(StoreError) -> Int64
    func boolean(at column: Int) throws(StoreError) -> Bool
}

extension StoredRow where Self: ~Copyable {
    // Nil if the column is NULL.

    package func optionalText(at column: Int) throws(StoreError) -> String? {
        isNull(at: column) ? nil : try text(at: column)
    }

    package func optionalInteger(at column: Int) throws(StoreError) -> Int64? {
        isNull(at: column) ? nil : try integer(at: column)
    }

    package func keyID(at column: Int) throws(StoreError) -> KeyID {
        guard let keyID = KeyID(bytes: try bytes(at: column)) else { throw .recordMalformed }
        return keyID
    }

    package func contentID(at column: Int) throws(StoreError) -> ContentID {
        guard let contentID = try? ContentID(text(at: column)) else { throw .recordMalformed }
        return contentID
    }
}
