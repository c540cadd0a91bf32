import ContentKeys
import Glibc
import Records
import TestSupport
import Testing

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
        let count = Int64(numbers.count)
        #expect(try connection.readInteger("SELECT count(*) FROM replay") == count, comment)
        #expect(try connection.readInteger("SELECT coalesce(sum(uses), 0) FROM token_use") == count, comment)
        #expect(try connection.requests() == Set(recorded.map { SampleDecisions.replay($0).request }), comment)
        let plays = try connection.firstPlays()
        #expect(plays == Set(recorded.compactMap { CrashLoad.firstPlay(of: $0).firstPlay }), comment)
        try checkSlots(numbers, &connection, comment)
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

    /// Checks that the last licenses of each group, in the ledger's order, hold the slots, and that all others were
    /// evicted.
    private func checkSlots(
        _ numbers: [UInt64], _ connection: inout SQLiteConnection, _ comment: Comment?
    ) throws {
        for group in 0..<CrashLoad.groupCount {
            let ofGroup = numbers.filter { $0 % CrashLoad.groupCount == group }
            let holders = ofGroup.suffix(Int(CrashLoad.slotLimit)).map { SampleDecisions.pseudonym(.device, $0) }
            let pseudonym = SampleDecisions.pseudonym(.group, group)
            #expect(try connection.slotHolders(of: pseudonym) == holders, comment)
            #expect(try connection.evictedCount(of: pseudonym) == ofGroup.count - holders.count, comment)
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

    fileprivate mutating func requests() throws(StoreError) -> Set<Pseudonym> {
        var statement = try prepare("SELECT request FROM replay")
        var requests: Set<Pseudonym> = []
        while try statement.step() {
            guard let request = Pseudonym(try statement.bytes(at: 0)) else { throw .recordMalformed }
            requests.insert(request)
        }
        return requests
    }

    /// Returns the first plays of all rentals.
    fileprivate mutating func firstPlays() throws(StoreError) -> Set<Int64> {
        var statement = try prepare("SELECT first_play FROM rental")
        var plays: Set<Int64> = []
        while try statement.step() { plays.insert(try statement.integer(at: 0)) }
        return plays
    }

    /// Returns the holders in the order of their slots' age.
    fileprivate mutating func slotHolders(of group: Pseudonym) throws(StoreError) -> [Pseudonym] {
        var statement = try prepare("SELECT device FROM slot WHERE playback_group = ?1 AND is_counted ORDER BY number")
        return try statement.rows(group) { row throws(StoreError) in try row.pseudonym(at: 0) }
    }

    fileprivate mutating func evictedCount(of group: Pseudonym) throws(StoreError) -> Int {
        var statement = try prepare("SELECT count(*) FROM evicted_slot WHERE playback_group = ?1")
        return Int(try statement.readInteger(group))
    }
}
