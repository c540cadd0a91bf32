import ByteCoding
import KeyCrypto
import Records
import Testing

@testable import StorageSQLite

/// Old renewals leave the ledger, and the ledger still verifies.
@Suite struct LedgerRollerTests {
    private let fixture: LedgerFixture

    init() throws {
        fixture = try LedgerFixture()
    }

    private static func license(_ number: Int64) -> LicenseID { LedgerFixture.entry(number).license }

    /// Returns a license of device `device`, or a renewal of it if `previous` is given.
    private static func entry(_ number: Int64, device: UInt64, previous: Int64? = nil) -> LedgerEntry {
        var entry = LedgerFixture.entry(number)
        entry.device = Pseudonym(short: Bytes16(high: 9, low: device))
        entry.subject = LedgerFixture.subject(device)
        entry.until = entry.at + 300
        if let previous {
            entry.kind = .licenseRenewed
            entry.previous = license(previous)
            entry.lease = 300
        }
        return entry
    }

    /// Appends 90 rows in batches of three: a license for each of two devices, and alternating renewals, each of the
    /// previous one. Rows from 91 on are of other licenses.
    private func appendPlaybacks() throws {
        var appender = try LedgerAppender.open(path: fixture.path, chain: fixture.chain)
        for first in stride(from: Int64(1), to: 91, by: 3) {
            let entries = (first..<first + 3).map { number in
                Self.entry(number, device: UInt64(number % 2), previous: number > 2 ? number - 2 : nil)
            }
            try appender.append(entries, at: LedgerFixture.start + first)
        }
        try fixture.append(91..<100)
    }

    /// Rolls up rows from before this second, piece by piece. Returns the number of removed rows.
    private func rollUp(before offset: Int64, through: Int64 = .max, rowsMaximum: Int = 1000) throws -> Int {
        var roller = try LedgerRoller.open(path: fixture.path, chain: fixture.chain)
        var count = 0
        while true {
            let piece = try roller.rollUp(
                before: LedgerFixture.start + offset, through: through, rowsMaximum: rowsMaximum,
                now: fixture.time(5000))
            count += piece.removed.count
            if !piece.isUnfinished { return count }
        }
    }

    private func entries(_ query: LedgerQuery = LedgerQuery()) throws -> [LedgerEntry] {
        var reader = try LedgerReader.open(path: fixture.path)
        var found: [LedgerEntry] = []
        try reader.find(query, index: nil) {
            found.append($0.entry)
            return true
        }
        return found
    }

    /// Rows that stay: keys that a device may keep, renewals that have not ended, and renewals without a previous
    /// license in the ledger.
    @Test func whatIsNoRenewalThatIsOverStays() throws {
        var entries = (1...9).map { Self.entry($0, device: 1, previous: $0 > 1 ? $0 - 1 : nil) }
        entries[3].lease = nil
        entries[4].previous = nil
        entries[5].until = LedgerFixture.start + 5001
        entries[6].until = nil
        var appender = try LedgerAppender.open(path: fixture.path, chain: fixture.chain)
        try appender.append(entries, at: LedgerFixture.start + 9)
        try fixture.append(10..<12)
        #expect(try rollUp(before: 1000) == 4)
        #expect(try self.entries().count { $0.kind == .licenseRenewed } == 4)
        #expect(try fixture.findings() == [])
    }

    @Test func renewalsBecomeOneRowOfTheirPlayback() throws {
        try appendPlaybacks()
        #expect(try rollUp(before: 1000) == 88)
        #expect(try fixture.findings() == [])
        let left = try entries()
        #expect(left.count { $0.kind == .licenseIssued } == 11 && !left.contains { $0.kind == .licenseRenewed })
        let summaries = left.filter { $0.kind == .renewalsRolledUp }
        #expect(summaries.map(\.previous) == [Self.license(1), Self.license(2)])
        #expect(summaries.map(\.until) == [LedgerFixture.start + 389, LedgerFixture.start + 390])
        #expect(
            summaries.map(\.detail) == [
                "44 from 2023-11-14T22:13:23Z to 2023-11-14T22:14:49Z",
                "44 from 2023-11-14T22:13:24Z to 2023-11-14T22:14:50Z",
            ])
        // A query for the license finds the license and the summary.
        #expect(try entries(LedgerQuery(license: Self.license(1))).map(\.kind) == [.licenseIssued, .renewalsRolledUp])
    }

    @Test func nothingIsTakenTwiceNorTooEarly() throws {
        try appendPlaybacks()
        #expect(try rollUp(before: 1) == 0)
        // The batch of rows 28 to 30 was sealed at second 28, so it is not older.
        #expect(try rollUp(before: 28, rowsMaximum: 7) == 25)
        #expect(try rollUp(before: 28) == 0)
        #expect(try rollUp(before: 1000, through: 32) == 3)
        #expect(try fixture.findings() == [])
        #expect(try rollUp(before: 1000) == 60)
        #expect(try fixture.findings() == [])
    }

    @Test func checkpointsOfBeforeHoldOn() throws {
        try appendPlaybacks()
        var reader = try LedgerReader.open(path: fixture.path)
        let batch = try #require(try reader.batch(atOrBefore: 40))
        let checkpoints = try [batch.link, reader.link()].map {
            try fixture.chain.checkpoint($0, at: fixture.time(200))
        }
        #expect(try rollUp(before: 1000) == 88)
        #expect(try fixture.findings(checkpoints: checkpoints) == [])
        try fixture.execute("DELETE FROM ledger_entry WHERE sequence > 90")
        try fixture.execute("DELETE FROM ledger_batch WHERE first_sequence > 90")
        #expect(try fixture.findings(checkpoints: checkpoints) == [.tailMissing(91...99)])
    }

    @Test func whatIsRolledUpCanBePurged() throws {
        try appendPlaybacks()
        #expect(try rollUp(before: 1000) == 88)
        var purger = try LedgerPurger.open(path: fixture.path, chain: fixture.chain)
        _ = try purger.purge(before: LedgerFixture.start + 60, now: fixture.time(6000))
        #expect(try fixture.findings() == [])
        #expect(try entries().count { $0.kind == .licenseIssued } == 9)
    }

    @Test(
        arguments: [
            "DELETE FROM ledger_entry WHERE sequence = 1", "UPDATE ledger_entry SET body = x'00' WHERE sequence = 1",
            "INSERT INTO ledger_entry (sequence, body) SELECT 3, body FROM ledger_entry WHERE sequence = 1",
        ] as [StaticString])
    func whatIsDoneToARolledUpBatchShows(sql: StaticString) throws {
        try appendPlaybacks()
        #expect(try rollUp(before: 1000) == 88)
        try fixture.execute(sql)
        #expect(try fixture.findings() == [.batchAltered(1...3)])
    }

    @Test func aRolledUpBatchCannotBeReplacedByAnother() throws {
        try appendPlaybacks()
        #expect(try rollUp(before: 1000) == 88)
        try fixture.execute(
            "UPDATE ledger_batch SET mac = (SELECT mac FROM ledger_batch WHERE first_sequence = 7) WHERE first_sequence = 4"
        )
        #expect(try fixture.findings().contains(.batchAltered(4...6)))
    }

    /// A statement must not make rows valid that were altered before it.
    @Test func whatDoesNotVerifyIsLeftAsItIs() throws {
        try appendPlaybacks()
        try fixture.execute(
            "UPDATE ledger_entry SET body = (SELECT body FROM ledger_entry WHERE sequence = 9) WHERE sequence = 5")
        try fixture.execute("DELETE FROM ledger_entry WHERE sequence = 10")
        #expect(try rollUp(before: 1000) == 82)
        #expect(try fixture.findings() == [.rowAltered(5), .rowsMissing(10...10)])
    }

    @Test func maintenanceRollsUpAndForgetsThePostings() throws {
        try appendPlaybacks()
        var maintenance = try LedgerMaintenance.open(
            path: fixture.path, chain: fixture.chain, retention: 1 << 40, rollUpAfter: 1000)
        #expect(try maintenance.pass(now: fixture.time(300)).rolledUpCount == 0)
        var pass = try maintenance.pass(now: fixture.time(5000))
        #expect(pass.rolledUpCount == 88)
        while pass.isUnfinished { pass = try maintenance.pass(now: fixture.time(5000)) }
        let query = LedgerQuery(subject: LedgerFixture.subject(1), from: LedgerFixture.start)
        #expect(try fixture.found(query, isIndexed: true) == fixture.found(query))
        #expect(try fixture.findings() == [])
    }
}
