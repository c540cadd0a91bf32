import ContentKeys
import Records

/// Applies actions to the cells of accounts, within the writer's transactions.
struct CellTable: ~Copyable {
    private var find, update, keep, delete: SQLiteStatement

    static func prepare(on connection: inout SQLiteConnection) throws(StoreError) -> CellTable {
        try CellTable(
            find: connection.prepare("SELECT value FROM cell WHERE kind = ?1 AND name = ?2"),
            // A cell that changes often keeps its owner, and its end within the hour. The indexes are then left alone:
            // a batch of such changes writes a fifth of the pages.
            update: connection.prepare(
                """
                UPDATE cell SET value = ?4 WHERE kind = ?1 AND name = ?2 AND owner IS ?3 AND ends_on = ?5 RETURNING 1
                """),
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
        var stored: [CellKey] = []
        for key in action.cells.lazy.map(\.key) where !cells.contains(key) {
            let bytes = try find.first(key.kind.rawValue, key.name) { row throws(StoreError) in try row.bytes(at: 0) }
            cells.add(key, bytes)
            if bytes != nil { stored.append(key) }
        }
        let answer = try AccountRules.apply(action, to: &cells, at: time)
        for change in cells.changes {
            let (kind, name) = (change.key.kind.rawValue, change.key.name)
            guard let value = change.value else {
                try delete.run(kind, name)
                continue
            }
            let hour = Int64(CellValue.hour(notBefore: value.end))
            if stored.contains(change.key), try update.run(kind, name, value.owner, value.bytes, hour) > 0 { continue }
            try keep.run(kind, name, value.owner, value.bytes, hour)
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
