import ContentKeys
import Records

/// Applies actions to the cells of accounts, within the writer's transactions.
struct CellTable: ~Copyable {
    private var find, keep, delete: SQLiteStatement

    static func prepare(on connection: inout SQLiteConnection) throws(StoreError) -> CellTable {
        try CellTable(
            find: connection.prepare("SELECT value FROM cell WHERE kind = ?1 AND name = ?2"),
            keep: connection.prepare(
                """
                INSERT INTO cell (kind, name, owner, value, ends_on) VALUES (?1, ?2, ?3, ?4, ?5)
                ON CONFLICT (kind, name) DO UPDATE SET owner = ?3, value = ?4, ends_on = ?5
                """),
            delete: connection.prepare("DELETE FROM cell WHERE kind = ?1 AND name = ?2"))
    }

    /// Throws `recordMalformed`, with nothing changed, if a cell of the action has no meaning.
    mutating func apply(_ action: AccountAction, at time: AccountTime) throws(StoreError) -> AccountAnswer {
        var cells = AccountCells()
        for key in action.cells.lazy.map(\.key) where !cells.contains(key) {
            let bytes = try find.first(key.kind.rawValue, key.name) { row throws(StoreError) in try row.bytes(at: 0) }
            cells.add(key, bytes)
        }
        let answer = try AccountRules.apply(action, to: &cells, at: time)
        for change in cells.changes {
            let key = change.key
            if let value = change.value {
                try keep.run(
                    key.kind.rawValue, key.name, value.owner, value.bytes, Int64(CellValue.hour(notBefore: value.end)))
            } else {
                try delete.run(key.kind.rawValue, key.name)
            }
        }
        return answer
    }
}

/// A connection that reads cells.
struct CellReader: ~Copyable {
    private var one, ofOwner: SQLiteStatement
    let connection: SQLiteConnection

    static func prepare(on connection: consuming SQLiteConnection) throws(StoreError) -> CellReader {
        try connection.execute("PRAGMA query_only = ON")
        return try CellReader(
            one: connection.prepare("SELECT name, value FROM cell WHERE kind = ?1 AND name = ?2"),
            // SQLite would take the primary key, and read the cells of all owners.
            ofOwner: connection.prepare(
                """
                SELECT name, value FROM cell INDEXED BY cell_by_owner
                WHERE owner = ?1 AND kind = ?2 AND name >= ?3 ORDER BY name LIMIT ?4
                """),
            connection: connection)
    }

    typealias Cell = (name: Pseudonym, bytes: [UInt8])

    mutating func cell(_ key: CellKey) throws(StoreError) -> [Cell] {
        try one.rows(key.kind.rawValue, key.name, read: Self.read)
    }

    mutating func cells(
        _ kind: CellKey.Kind, of owner: Pseudonym, from first: Pseudonym?, limit: Int
    ) throws(StoreError) -> [Cell] {
        try ofOwner.rows(owner, kind.rawValue, first?.bytes ?? [], limit, read: Self.read)
    }

    private static func read(_ row: borrowing SQLiteStatement) throws(StoreError) -> Cell {
        guard let name = Pseudonym(try row.bytes(at: 0)) else { throw .recordMalformed }
        return (name, try row.bytes(at: 1))
    }
}
