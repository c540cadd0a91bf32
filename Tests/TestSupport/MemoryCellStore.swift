package import ContentKeys
package import Records
import Synchronization

/// A store of cells in memory, without nodes and without a disk.
package final class MemoryCellStore: CellStore {
    private let cells = Mutex<[CellKey: CellValue]>([:])
    private let deletesEnded: Bool

    /// A store may delete a cell as soon as it has ended, or never. By default this one deletes it immediately.
    package init(deletesEnded: Bool = true) {
        self.deletesEnded = deletesEnded
    }

    package func perform(_ action: AccountAction, now: Int64) async throws(StoreError) -> AccountAnswer {
        try perform(action, at: AccountTime(now: now, settled: now))
    }

    /// Applies an action at a time whose settled time may be earlier than the clock.
    package func perform(_ action: AccountAction, at time: AccountTime) throws(StoreError) -> AccountAnswer {
        let result = cells.withLock { stored in
            Result { () throws(StoreError) in
                if deletesEnded { stored = stored.filter { $0.value.end > time.settled } }
                var cells = AccountCells()
                for cell in action.cells { cells.add(cell.key, stored[cell.key]?.bytes) }
                let answer = try AccountRules.apply(action, to: &cells, at: time)
                for change in cells.changes { stored[change.key] = change.value }
                return answer
            }
        }
        return try result.get()
    }

    package func noteRecorded(_ request: Pseudonym) {
        _ = try? perform(.noteRecorded(request), at: AccountTime(now: .min, settled: .min))
    }

    package func cell(_ key: CellKey, now: Int64) async throws(StoreError) -> StoredCells {
        let bytes = cells.withLock { $0[key]?.bytes }
        return StoredCells(bytes.map { [(key.name, $0)] } ?? [], time: AccountTime(now: now, settled: now))
    }

    package func cells(
        _ kind: CellKey.Kind, of owner: Pseudonym, from first: Pseudonym?, now: Int64, limit: Int
    ) async throws(StoreError) -> StoredCells {
        let listed = cells.withLock { stored in
            stored.filter { $0.key.kind == kind && $0.value.owner == owner }.map { ($0.key.name, $0.value.bytes) }
        }
        let ordered = listed.sorted { $0.0.bytes.lexicographicallyPrecedes($1.0.bytes) }
        let asked = ordered.drop { one in first.map { one.0.bytes.lexicographicallyPrecedes($0.bytes) } ?? false }
        return StoredCells(Array(asked.prefix(limit)), time: AccountTime(now: now, settled: now))
    }
}
