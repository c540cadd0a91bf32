import ContentKeys
import Glibc
import Records
import TestSupport
import Testing

@testable import StorageSQLite

@Suite struct DatabaseCopyTests {
    let fixture: LedgerFixture
    let copyFolder: TemporaryFolder
    private var copy: String { copyFolder.database }

    init() throws {
        fixture = try LedgerFixture()
        copyFolder = try TemporaryFolder()
    }

    private func sequences(of path: String) throws -> ClosedRange<Int64>? {
        var reader = try LedgerReader.open(path: path)
        return try reader.sequences()
    }

    @Test func hasWhatWasCommittedBeforeAndNothingThatCameDuringIt() throws {
        try fixture.append(1..<400)
        // Keeps the log from being moved into the file.
        var reader = try LedgerReader.open(path: fixture.path)
        try reader.beginSnapshot()
        _ = try reader.sequences()
        try fixture.append(400..<501)
        var (next, calls) = (Int64(501), 0)
        var failure: (any Error)?
        try DatabaseCopy.make(of: fixture.path, at: copy, pagesPerStep: 2) { done, total in
            calls += 1
            #expect(done <= total)
            do { try fixture.append(next..<next + 3) } catch { failure = error }
            next += 3
        }
        #expect(failure == nil)
        try #require(calls > 10, "the copy was made in many steps")
        reader.endSnapshot()
        #expect(try sequences(of: copy) == 1...500)
        #expect(try sequences(of: fixture.path) == 1...next - 1)
        var copied = try LedgerReader.open(path: copy)
        var findings: [LedgerFinding] = []
        _ = try copied.verify(fixture.chain, checkpoints: []) { findings.append($0) }
        #expect(findings.isEmpty)
    }

    @Test func isOneFileForItsOwnerAlone() throws {
        try fixture.append(1..<10)
        try DatabaseCopy.make(of: fixture.path, at: copy)
        #expect(Files.mode(copy) == 0o600)
        for suffix in ["-wal", "-shm", "-journal"] { #expect(Files.mode(copy + suffix) == nil) }
        // The daemon takes it as it is, and turns its log on.
        try DatabaseFile.prepare(copy)
        #expect(try DatabaseIntegrity.findings(path: copy).isEmpty)
        var connection = try SQLiteConnection.open(path: copy, busyTimeoutMilliseconds: 5000)
        try connection.migrate(path: copy)
        #expect(try StoreSummary.read(path: copy).link.sequence == 9)
    }

    @Test func neverTakesTheNameOfAnotherFile() throws {
        try fixture.append(1..<10)
        try #require(Files.write([1, 2, 3], to: copy))
        #expect(throws: StorageOpeningError.fileNotUsable(path: copy, errno: EEXIST)) {
            try DatabaseCopy.make(of: fixture.path, at: copy)
        }
        #expect(Files.read(copy) == [1, 2, 3])
    }

    @Test func refusesWhatIsNoDatabaseOfThisProgramAndLeavesNothing() throws {
        #expect(throws: StorageOpeningError.fileNotUsable(path: fixture.path + "x", errno: ENOENT)) {
            try DatabaseCopy.make(of: fixture.path + "x", at: copy)
        }
        try fixture.execute("PRAGMA application_id = 7")
        #expect(throws: StorageOpeningError.foreignDatabase(path: fixture.path)) {
            try DatabaseCopy.make(of: fixture.path, at: copy)
        }
        #expect(Files.mode(copy) == nil)
    }

    @Test func refusesASchemaThatIsTooNew() throws {
        try fixture.execute("INSERT INTO schema_version (number, oldest_program) VALUES (99, 99)")
        #expect(throws: StorageOpeningError.schemaTooNew(found: 99, supported: StoreSummary.knownSchema)) {
            try DatabaseCopy.make(of: fixture.path, at: copy)
        }
        #expect(Files.mode(copy) == nil)
    }
}

/// A backup reads for as long as its copy takes, and the writer of licenses goes on meanwhile.
@Suite(.timeLimit(.minutes(1))) struct LongReaderTests {
    @Test func isNotWaitedForByTheWriter() throws {
        let fixture = try LedgerFixture()
        try fixture.append(1..<10)
        var reader = try LedgerReader.open(path: fixture.path)
        try reader.beginSnapshot()
        #expect(try reader.sequences() == 1...9)
        // The writer would wait for locks for ten minutes.
        var writer = try BatchWriter.prepare(
            on: .open(path: fixture.path, busyTimeoutMilliseconds: 600_000), fixture.chain,
            settledTime: { .undeleted })
        for number in 10..<60 as Range<Int64> {
            _ = try writer.run([.entry(LedgerFixture.entry(number).encoded(), at: LedgerFixture.start + number)])
            try writer.checkpointIfDue(after: 1, logPagesMaximum: 1)
        }
        reader.endSnapshot()
        #expect(try reader.sequences() == 1...59)
    }

    @Test func leavesTheTimeOutOfTheConnectionAsItWas() throws {
        let fixture = try LedgerFixture()
        try fixture.append(1..<10)
        var reader = try LedgerReader.open(path: fixture.path)
        try reader.beginSnapshot()
        _ = try reader.sequences()
        try fixture.append(10..<20)
        var connection = try SQLiteConnection.open(path: fixture.path, busyTimeoutMilliseconds: 600_000)
        _ = try connection.readInteger("SELECT count(*) FROM ledger_entry")
        var isBusy = false
        do throws(StoreError) {
            _ = try connection.checkpoint(.restart, patienceMilliseconds: 1)
        } catch .unavailable(.busy) {
            isBusy = true
        }
        #expect(isBusy)
        #expect(try connection.readInteger("PRAGMA busy_timeout") == 600_000)
        reader.endSnapshot()
        #expect(try connection.checkpoint(.restart, patienceMilliseconds: 1) >= 0)
    }
}

@Suite struct DatabaseReplacementTests {
    let fixture: LedgerFixture
    let folder: TemporaryFolder

    init() throws {
        fixture = try LedgerFixture()
        try fixture.append(1..<10)
        folder = try TemporaryFolder()
    }

    private func open() throws {
        _ = try SQLiteKeyStore.open(path: folder.database, keyRing: SampleKeys.keyRing(), maximumReaders: 1)
    }

    @Test func isThereAsAWholeOrNotAtAll() throws {
        let replacement = try DatabaseReplacement(path: folder.database)
        try DatabaseCopy.make(of: fixture.path, at: replacement.partPath)
        // A daemon that is started now makes no empty database.
        #expect(throws: StorageOpeningError.databaseMissing(path: folder.database)) { try open() }
        try replacement.putInPlace()
        #expect(try StoreSummary.read(path: folder.database).link.sequence == 9)
        #expect(Files.mode(folder.database) == 0o600)
        try open()
    }

    @Test func leavesAMarkIfItIsGivenUp() throws {
        let replacement = try DatabaseReplacement(path: folder.database)
        let part = replacement.partPath
        try DatabaseCopy.make(of: fixture.path, at: part)
        replacement.abandon()
        #expect(Files.mode(part) == nil)
        #expect(throws: StorageOpeningError.databaseMissing(path: folder.database)) { try open() }
    }

    @Test func goesOnAfterAnInterruptedAttempt() throws {
        try #require(Files.write([1, 2, 3], to: folder.database + ".restoring"))
        let replacement = try DatabaseReplacement(path: folder.database)
        try DatabaseCopy.make(of: fixture.path, at: replacement.partPath)
        try replacement.putInPlace()
        #expect(try StoreSummary.read(path: folder.database).link.sequence == 9)
    }

    @Test(arguments: ["", "-wal"])
    func neverOverwrites(suffix: String) throws {
        try #require(Files.write([1, 2, 3], to: folder.database + suffix))
        #expect(throws: StorageOpeningError.fileNotUsable(path: folder.database + suffix, errno: EEXIST)) {
            try DatabaseReplacement(path: folder.database).abandon()
        }
        #expect(Files.read(folder.database + suffix) == [1, 2, 3])
    }

    @Test func isRefusedWhileADaemonHasThePlace() throws {
        let lock = try NodeLock(databasePath: folder.database)
        #expect(throws: StorageOpeningError.inUse(path: folder.database)) {
            try DatabaseReplacement(path: folder.database).abandon()
        }
        withExtendedLifetime(lock) {}
    }
}

@Suite struct StoreSummaryTests {
    @Test func tellsWhatIsStored() async throws {
        let fixture = try LedgerFixture()
        let store = try SQLiteKeyStore.open(path: fixture.path, keyRing: SampleKeys.keyRing(), maximumReaders: 1)
        _ = try await store.insert(SampleKeys.record(1))
        _ = try await store.insert(SampleKeys.record(2))
        try fixture.append(1..<8)
        try fixture.execute(
            """
            INSERT INTO clock (id, settled, reference, standing, acceptance, accepted_offset)
                VALUES (1, 1700000123, 0, '', 0, 0);
            UPDATE ledger_node SET node = 'node-1'
            """)
        let summary = try StoreSummary.read(path: fixture.path)
        #expect(summary.schema == StoreSummary.knownSchema)
        #expect(summary.oldestProgram == 1)
        #expect(summary.node.text == "node-1")
        #expect((summary.keyCount, summary.entryCount) == (2, 7))
        #expect((summary.firstSequence, summary.link.sequence) == (1, 7))
        #expect(summary.sealedAt == LedgerFixture.start + 7)
        #expect(summary.settled == 1_700_000_123)
    }

    @Test func tellsOfAnEmptyStoreAndRefusesAnotherPrograms() throws {
        let fixture = try LedgerFixture()
        let summary = try StoreSummary.read(path: fixture.path)
        #expect((summary.keyCount, summary.entryCount) == (0, 0))
        #expect(summary.firstSequence == nil && summary.sealedAt == nil && summary.settled == nil)
        #expect(summary.link == .start)
        try fixture.execute("PRAGMA application_id = 7")
        #expect(throws: StorageOpeningError.foreignDatabase(path: fixture.path)) {
            try StoreSummary.read(path: fixture.path)
        }
    }
}
