import ContentKeys
import Glibc
import TestSupport
import Testing

@testable import Records
@testable import StorageSQLite

/// A database whose process was killed, and the conditions that it must meet.
struct CrashedDatabase {
    let path: String

    /// Checks that no acknowledged license is lost, and that each license was recorded completely or not at all.
    func check(acknowledged: Set<UInt64>, _ comment: Comment? = nil) throws {
        // Opening it works as after a normal end, and verifies the ledger's end.
        try CrashLoad.open(path).stop()
        let entries = try SampleLedger.verify(path)
        let numbers = entries.map { CrashLoad.number(of: $0.license) }
        let recorded = Set(numbers)
        #expect(recorded.count == numbers.count, comment)
        #expect(acknowledged.subtracting(recorded) == [], comment)

        var connection = try SQLiteConnection.open(path: path, busyTimeoutMilliseconds: 1000)
        #expect(try connection.readText("PRAGMA integrity_check") == "ok", comment)
        let requests = try connection.cells(KnownRequest.self)
        #expect(Set(requests.keys) == Set(recorded.map { SampleDecisions.replay($0).request }), comment)
        let uses = try connection.cells(UseCount.self).values.reduce(0) { $0 + Int($1.uses) }
        #expect(uses == numbers.count, comment)
        let plays = try connection.cells(StoredRental.self).values.map(\.record.firstPlay)
        #expect(Set(plays) == Set(recorded.map { CrashLoad.firstPlay(of: $0).firstPlay }), comment)
        checkSlots(numbers, try connection.cells(PlaybackList.self), comment)
    }

    /// Checks that delivered keys are stored, that each call has stored both keys or none, and that another process can
    /// continue.
    func checkKeys(acknowledged: Set<UInt64>, _ comment: Comment? = nil) async throws {
        let store = try SQLiteKeyStore.open(path: path, keyRing: SampleKeys.keyRing(), maximumReaders: 1)
        for number in acknowledged {
            #expect(try await store.find(CrashLoad.wishes(number)).count { $0 != nil } == 2, comment)
        }
        var counts: [ContentID: Int] = [:]
        var last: ContentKeyAttributes?
        repeat {
            let page = try await store.list(of: nil, after: last, limit: 1000)
            for key in page { counts[key.contentID, default: 0] += 1 }
            last = page.count == 1000 ? page.last : nil
        } while last != nil
        #expect(counts.values.allSatisfy { $0 == 2 }, comment)
    }

    /// Checks that the last licenses of each group, in the ledger's order, hold the slots, and that the others were
    /// evicted.
    private func checkSlots(_ numbers: [UInt64], _ lists: [Pseudonym: PlaybackList], _ comment: Comment?) {
        for group in 0..<CrashLoad.groupCount {
            let ofGroup = numbers.filter { $0 % CrashLoad.groupCount == group }
            let holders = ofGroup.suffix(Int(CrashLoad.slotLimit)).map { SampleDecisions.pseudonym(.device, $0) }
            let list = lists[SampleDecisions.pseudonym(.group, group)] ?? PlaybackList()
            #expect(list.slots.filter(\.isCounted).map(\.device) == holders, comment)
            let evicted = min(ofGroup.count - holders.count, AccountRules.evictedMaximum)
            #expect(list.evicted.count == evicted, comment)
        }
    }

    /// Deletes the index in shared memory, because it does not survive a power cut.
    func forgetSharedMemory() {
        // The path is valid until the call returns.
        _ = unsafe unlink(path + "-shm")
    }
}

extension SQLiteConnection {
    mutating func readText(_ sql: SQL) throws(StoreError) -> String {
        var statement = try prepare(sql)
        guard try statement.step() else { throw .recordMalformed }
        return try statement.text(at: 0)
    }

    /// Returns what the cells of a kind hold.
    fileprivate mutating func cells<Contents: CellContents>(
        _ type: Contents.Type
    ) throws(StoreError) -> [Pseudonym: Contents] {
        var statement = try prepare("SELECT name, value FROM cell WHERE kind = ?1")
        let cells = try statement.rows(Contents.kind.rawValue) { row throws(StoreError) in
            guard let name = Pseudonym(try row.bytes(at: 0)) else { throw .recordMalformed }
            return (name, try Contents(parsing: row.bytes(at: 1)))
        }
        return Dictionary(uniqueKeysWithValues: cells)
    }
}
