import ByteCoding
import ContentKeys
import Records

/// The parameters of the statements that lock and read the cells of actions.
struct CellParameters {
    private let cells: [NamedCell]

    init(_ actions: [AccountAction]) {
        var cells: [CellKey: NamedCell] = [:]
        for action in actions {
            for cell in action.cells where cell.end >= cells[cell.key]?.end ?? .min { cells[cell.key] = cell }
        }
        self.cells = Array(cells.values)
    }

    /// The parameters of `lockCells`: kinds, keys, owners and ends.
    var forLocking: [PostgreSQLValue] {
        forReading + [
            .byteArrays(cells.map(\.owner?.bytes)), .integers(cells.map { Int64(CellValue.hour(notBefore: $0.end)) }),
        ]
    }

    /// The parameters of `readCells`: kinds and keys.
    var forReading: [PostgreSQLValue] { cells.map(\.key).values }
}

/// The cells that a transaction has locked.
struct LockedCells {
    private(set) var cells = AccountCells()
    /// The cells whose rows the transaction has made, because they were not stored.
    private(set) var madeRows: Set<CellKey> = []
    let time: AccountTime

    /// Reads kind, key, value, the database's clock and the settled time. There is at least one row.
    init(_ result: PostgreSQLResult) throws(StoreError) {
        time = AccountTime(now: try result[0].integer(at: 3), settled: try result[0].integer(at: 4))
        for row in 0..<result.rowCount {
            let row = result[row]
            guard let kind = CellKey.Kind(rawValue: try row.integer(at: 0)) else { throw .recordMalformed }
            let key = CellKey(kind, try row.pseudonym(at: 1))
            let isMade = row.isNull(at: 2)
            if isMade { madeRows.insert(key) }
            cells.add(key, isMade ? nil : try row.bytes(at: 2))
        }
    }
}

/// The parameters of the statements that store changes.
struct CellChanges {
    private var written: [(key: CellKey, value: CellValue)] = []
    private var deleted: Set<CellKey>

    /// Rows that the transaction has made and that got no value are deleted too.
    init(_ changes: [CellChange], madeRows: Set<CellKey>) {
        deleted = madeRows
        for change in changes {
            if let value = change.value {
                written.append((change.key, value))
                deleted.remove(change.key)
            } else {
                deleted.insert(change.key)
            }
        }
    }

    /// The parameters of `writeCells`: kinds, keys, owners, values and ends; nil if there is nothing to write.
    var forWriting: [PostgreSQLValue]? {
        if written.isEmpty { return nil }
        return written.map(\.key).values + [
            .byteArrays(written.map(\.value.owner?.bytes)), .byteArrays(written.map(\.value.bytes)),
            .integers(written.map { Int64(CellValue.hour(notBefore: $0.value.end)) }),
        ]
    }

    /// The parameters of `deleteCells`: kinds and keys; nil if there is nothing to delete.
    var forDeleting: [PostgreSQLValue]? { deleted.isEmpty ? nil : Array(deleted).values }
}

extension [CellKey] {
    /// Kinds and keys as two arrays.
    fileprivate var values: [PostgreSQLValue] {
        [.integers(map(\.kind.rawValue)), .byteArrays(map(\.name.bytes))]
    }
}

extension PostgreSQLRow {
    func pseudonym(at column: Int) throws(StoreError) -> Pseudonym {
        guard let pseudonym = Pseudonym(try bytes(at: column)) else { throw .recordMalformed }
        return pseudonym
    }
}

extension DatabaseCall {
    /// Applies the call's action. A cell without a meaning is the fault of this action alone.
    func answer(in cells: inout AccountCells, at time: AccountTime) -> Result<AccountAnswer, PostgreSQLFailure> {
        guard let action else { preconditionFailure("only actions share a transaction") }
        do throws(StoreError) {
            return .success(try AccountRules.apply(action, to: &cells, at: time))
        } catch {
            return .failure(.recordMalformed)
        }
    }
}
