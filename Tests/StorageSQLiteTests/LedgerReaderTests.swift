import ByteCoding
import Records
import Testing

@testable import StorageSQLite

@Suite struct LedgerReaderTests {
    @Test func refusesAFileWithoutALedger() throws {
        let folder = try TemporaryFolder()
        let path = folder.database
        try DatabaseFile.prepare(path)
        #expect(throws: StorageOpeningError.ledgerMissing(path: path)) { _ = try LedgerReader.open(path: path) }
    }

    @Test func verifiesWhatWasAppended() throws {
        let fixture = try LedgerFixture()
        #expect(try fixture.findings() == [])
        try fixture.append(1..<301)
        #expect(try fixture.findings() == [])
    }

    @Test func namesWhatWasDoneToTheFile() throws {
        let fixture = try LedgerFixture()
        try fixture.append(1..<31)
        try fixture.execute("UPDATE ledger_entry SET body = x'00' WHERE sequence = 5")
        try fixture.execute("DELETE FROM ledger_entry WHERE sequence = 11")
        try fixture.execute(
            """
            CREATE TEMP TABLE swap AS SELECT sequence, body FROM ledger_entry WHERE sequence IN (20, 21);
            UPDATE ledger_entry SET body = (SELECT body FROM swap WHERE swap.sequence = 41 - ledger_entry.sequence)
                WHERE sequence IN (20, 21);
            """)
        try fixture.execute("DELETE FROM ledger_batch WHERE first_sequence = 25")
        #expect(
            try fixture.findings() == [
                .rowAltered(5), .rowsMissing(11...11), .rowMoved(from: 21, to: 20), .rowMoved(from: 20, to: 21),
                .rowsUnsealed(25...27), .batchUnproven(28...30),
            ])
    }

    @Test func findsACutTailByACheckpoint() throws {
        let fixture = try LedgerFixture()
        try fixture.append(1..<31)
        var reader = try LedgerReader.open(path: fixture.path)
        let checkpoint = try fixture.chain.checkpoint(reader.link(), at: fixture.time(40))
        try fixture.execute("DELETE FROM ledger_entry WHERE sequence > 21")
        try fixture.execute("DELETE FROM ledger_batch WHERE first_sequence > 21")
        #expect(try fixture.findings() == [])
        #expect(try fixture.findings(checkpoints: [checkpoint]) == [.tailMissing(22...30)])
    }

    @Test(arguments: [false, true])
    func findsByEachField(isIndexed: Bool) throws {
        let fixture = try LedgerFixture()
        try fixture.append(1..<201)
        if isIndexed {
            var maintenance = try LedgerMaintenance.open(path: fixture.path, chain: fixture.chain, retention: 1 << 40)
            let pass = try maintenance.pass(now: fixture.time(300))
            #expect(pass.indexedCount == 200)
        }
        // Rows that are not indexed yet are found too.
        try fixture.append(201..<231)
        let license = LedgerFixture.entry(77).license
        #expect(try fixture.found(LedgerQuery(license: license), isIndexed: isIndexed) == [77])
        #expect(try fixture.found(LedgerQuery(tokenID: "token-222"), isIndexed: isIndexed) == [222])
        #expect(try fixture.found(LedgerQuery(cookie: "cookie"), isIndexed: isIndexed) == [50, 100, 150, 200])
        let content = (1...23).map { Int64($0 * 10) }
        #expect(try fixture.found(LedgerQuery(content: "movie-0"), isIndexed: isIndexed) == content)
        let both = LedgerQuery(content: "movie-1", subject: LedgerFixture.subject(2))
        #expect(try fixture.found(both, isIndexed: isIndexed) == stride(from: 11, to: 231, by: 30).map { $0 })
        let start = LedgerFixture.start
        #expect(try fixture.found(LedgerQuery(from: start + 20, to: start + 23), isIndexed: isIndexed) == [20, 21, 22])
        #expect(try fixture.found(LedgerQuery(content: "movie-10"), isIndexed: isIndexed) == [])
    }

    /// Pages have the same entries as a search of the whole ledger, the newest first.
    @Test(arguments: [(false, 7), (true, 7), (false, 40), (true, 40), (true, 10_000)])
    func pagesHaveEveryMatchOnce(isIndexed: Bool, rowsMaximum: Int) throws {
        let fixture = try LedgerFixture()
        try fixture.append(1..<201)
        if isIndexed {
            var maintenance = try LedgerMaintenance.open(path: fixture.path, chain: fixture.chain, retention: 1 << 40)
            _ = try maintenance.pass(now: fixture.time(300))
        }
        // Rows that are not indexed yet, and a gap as purged and rolled up rows leave it.
        try fixture.append(201..<231)
        try fixture.execute("DELETE FROM ledger_entry WHERE sequence < 4 OR sequence BETWEEN 60 AND 80")
        var other = LedgerQuery()
        other.device = LedgerFixture.subject(1)
        for query in [
            LedgerQuery(), LedgerQuery(content: "movie-3"), LedgerQuery(subject: LedgerFixture.subject(1)),
            LedgerQuery(content: "movie-1", subject: LedgerFixture.subject(2)), LedgerQuery(tokenID: "token-9"),
            LedgerQuery(content: "movie-10"), other,
        ] {
            var found: [Int64] = []
            var next: Int64?
            var pageCount = 0
            repeat {
                var reader = try LedgerReader.open(path: fixture.path)
                let index: LedgerIndex? = isIndexed ? try LedgerIndex.open(for: fixture.path) : nil
                let page = try reader.page(
                    of: query, index: index, before: next, limit: 5, rowsMaximum: rowsMaximum)
                #expect(page.finds.count <= 5)
                if let next, let end = page.next { #expect(end < next) }
                found += page.finds.map(\.sequence)
                next = page.next
                pageCount += 1
            } while next != nil && pageCount < 300
            #expect(next == nil)
            #expect(found == (try fixture.found(query)).reversed())
        }
    }

    @Test func aPageOfAnEmptyLedgerIsEmpty() throws {
        let fixture = try LedgerFixture()
        var reader = try LedgerReader.open(path: fixture.path)
        let page = try reader.page(of: LedgerQuery(), index: nil, before: .max, limit: 5, rowsMaximum: 5)
        #expect(page == LedgerFindPage())
    }

    /// Positions that no page has given are harmless.
    @Test(arguments: [.min, -1, 0, 1, 2, 31, .max] as [Int64])
    func aPageBeginsAnywhere(before: Int64) throws {
        let fixture = try LedgerFixture()
        try fixture.append(1..<31)
        var reader = try LedgerReader.open(path: fixture.path)
        let page = try reader.page(of: LedgerQuery(), index: nil, before: before, limit: 100, rowsMaximum: 1000)
        #expect(page.finds.map(\.sequence) == (1..<31).reversed().filter { $0 < before })
        #expect(page.next == nil)
    }

    /// The range of times is much larger than the clock slack.
    @Test func findsTimesByHalving() throws {
        let fixture = try LedgerFixture()
        var appender = try LedgerAppender.open(path: fixture.path, chain: fixture.chain)
        for day in 0..<100 as Range<Int64> {
            let at = LedgerFixture.start + day * 86_400
            for number in 0..<(day % 4 + 1) {
                let id = LicenseID(milliseconds: UInt64(at) * 1000, random: Bytes16(high: 0, low: UInt64(number)))
                try appender.append([LedgerEntry(kind: .licenseIssued, at: at, license: id)], at: at)
            }
        }
        var reader = try LedgerReader.open(path: fixture.path)
        for day in 0..<100 as Range<Int64> {
            let at = LedgerFixture.start + day * 86_400
            let found = try reader.sequences(from: at, to: at + 1)
            let range = try #require(found)
            #expect(range.count <= Int(day % 4) + 2, "day \(day): \(range)")
            #expect(try fixture.found(LedgerQuery(from: at, to: at + 1)).count == Int(day % 4) + 1)
        }
    }

    @Test func indexOfAnotherLedgerIsMadeAnew() throws {
        let fixture = try LedgerFixture()
        try fixture.append(1..<31)
        var maintenance = try LedgerMaintenance.open(path: fixture.path, chain: fixture.chain, retention: 1 << 40)
        _ = try maintenance.pass(now: fixture.time(300))
        try fixture.execute("DELETE FROM ledger_entry; DELETE FROM ledger_batch")
        try fixture.append(101..<151)
        #expect(try fixture.found(LedgerQuery(content: "movie-1"), isIndexed: true) == [1, 11, 21, 31, 41])
        let pass = try maintenance.pass(now: fixture.time(300))
        #expect(pass.indexedCount == 50)
        #expect(try fixture.found(LedgerQuery(content: "movie-1"), isIndexed: true) == [1, 11, 21, 31, 41])
    }

    /// Fault: a clock that was 500 days ahead for a few seconds caused almost all rows to be purged.
    @Test func purgesNothingByAClockThatIsNotTrusted() throws {
        let fixture = try LedgerFixture()
        try fixture.append(1..<31)
        var maintenance = try LedgerMaintenance.open(
            path: fixture.path, chain: fixture.chain, retention: 1000, rollUpAfter: 10)
        let ahead = try fixture.time(500 * 86_400)
        let untrusted = try maintenance.pass(now: ahead, deletionTime: nil)
        #expect(untrusted.purgedCount == 0 && untrusted.rolledUpCount == 0 && !untrusted.isUnfinished)
        #expect(try maintenance.pass(now: ahead, deletionTime: LedgerFixture.start + 40).purgedCount == 0)
        #expect(try fixture.findings() == [])
        #expect(try maintenance.pass(now: ahead, deletionTime: LedgerFixture.start + 500 * 86_400).purgedCount > 0)
    }

    @Test func purgesInPiecesAndStillVerifies() throws {
        let fixture = try LedgerFixture()
        try fixture.append(1..<3001)
        var maintenance = try LedgerMaintenance.open(path: fixture.path, chain: fixture.chain, retention: 1000)
        let now = try fixture.time(3500)
        var pass = try maintenance.pass(now: now)
        #expect(pass.purgedCount == 198)
        #expect(try fixture.findings() == [])
        var pieces = 1
        while pass.isUnfinished {
            pass = try maintenance.pass(now: now)
            pieces += 1
            #expect(try fixture.findings() == [])
        }
        // The batches have three rows each. Purged are the batches that are older than second 2500, up to the one of
        // 2497 to 2499.
        #expect(pieces == 14)
        var reader = try LedgerReader.open(path: fixture.path)
        let kept = try reader.sequences()
        #expect(kept == 2500...3001)
        #expect(try fixture.found(LedgerQuery(content: "movie-1"), isIndexed: true).first == 2501)
        let checkpoint = try maintenance.checkpoint(now: now)
        #expect(try fixture.findings(checkpoints: [checkpoint]) == [])
        // A moved beginning is detected.
        try fixture.execute("UPDATE ledger_batch SET last_sequence = last_sequence + 3 WHERE first_sequence = 0")
        #expect(try fixture.findings().first == .beginningForged)
    }

    /// Two purgers at the same time, which should not happen, purge each row once.
    @Test func takesEachRowOnceWhoeverPurges() async throws {
        let fixture = try LedgerFixture()
        try fixture.append(0..<600)
        let (path, chain, now) = (fixture.path, fixture.chain, try fixture.time(1000))
        let taken = try await withThrowingTaskGroup(of: [Int64].self) { group in
            for _ in 0..<2 {
                group.addTask {
                    var purger = try LedgerPurger.open(path: path, chain: chain)
                    var taken: [Int64] = []
                    for _ in 0..<100 {
                        taken += try purger.purge(before: .max, rowsMaximum: 20, now: now).map(\.sequence)
                    }
                    return taken
                }
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }
        // The last batch of the ledger stays.
        #expect(taken.sorted() == Array(1...597))
        #expect(try fixture.findings() == [])
    }

    @Test func purgesNothingThatIsStillNeeded() throws {
        let fixture = try LedgerFixture()
        try fixture.append(1..<31)
        var purger = try LedgerPurger.open(path: fixture.path, chain: fixture.chain)
        let first = try purger.purge(before: .max, through: 8, now: fixture.time(0))
        #expect(first.map(\.sequence) == [1, 2, 3, 4, 5, 6])
        let second = try purger.purge(before: .max, now: fixture.time(0))
        #expect(second.map(\.sequence) == Array(7...27))
        #expect(try fixture.findings() == [])
        // The next batch is tied to a purged one.
        try fixture.append(31..<34)
        #expect(try fixture.findings() == [])
        var reader = try LedgerReader.open(path: fixture.path)
        let kept = try reader.sequences()
        #expect(kept == 28...33)
    }
}
