import ByteCoding
import ContentKeys
import KeyCrypto
import Records
import TestSupport
import Testing

@testable import StorageSQLite

/// Tests of the identity of a file's ledger, and of the secrets that belong to it.
@Suite struct LedgerFileTests {
    let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    private static func key(_ byte: UInt8) throws -> HMACSHA256Key {
        try HMACSHA256Key(SecretBytes(copying: [UInt8](repeating: byte, count: 32)))
    }

    private static func secrets(_ byte: UInt8) throws -> SharedSecrets {
        var secrets = SharedSecrets()
        try secrets.add(.pseudonymKey, current: key(byte))
        return secrets
    }

    private func file(key: UInt8 = 1, version: UInt32 = 1, older: [UInt32: UInt8] = [:]) throws -> LedgerFile {
        let keys = try #require(
            LedgerKeys(
                current: .init(version: version, key: try Self.key(key)),
                older: try older.map { .init(version: $0.key, key: try Self.key($0.value)) }))
        return LedgerFile(path: folder.database, keys: keys)
    }

    private func append(_ chain: LedgerChain, _ number: Int64 = 1) throws {
        var appender = try LedgerAppender.open(path: folder.database, chain: chain)
        try appender.append([LedgerFixture.entry(number)], at: LedgerFixture.start)
    }

    @Test func aLedgerHasARandomIDFromItsBeginning() throws {
        #expect(try file().chain() == nil, "there is no file yet")
        try DatabaseFile.prepare(folder.database)
        #expect(try file().chain() == nil, "the file is empty")
        // What makes the file first need not open its ledger.
        var connection = try SQLiteConnection.open(path: folder.database, busyTimeoutMilliseconds: 5000)
        try connection.migrate(path: folder.database)
        let node = try file().chain()?.node
        #expect(node?.text.wholeMatch(of: /[0-9a-f]{32}/) != nil)
        try append(try file().prepare(.none))
        #expect(try file().prepare(.none).node == node)
        #expect(try file().chain()?.node == node)
        let other = try LedgerFileTests()
        #expect(try other.file().prepare(.none).node != node)
    }

    @Test func refusesAnotherSecretAndNamesIt() throws {
        _ = try file().prepare(Self.secrets(1))
        let refusal = StorageOpeningError.secretDiffers(.pseudonymKey)
        #expect(throws: refusal) { try file().prepare(Self.secrets(2)) }
        #expect(throws: refusal) { try file().check(Self.secrets(2), nil) }
        try file().check(Self.secrets(1), nil)
        _ = try file().prepare(Self.secrets(1))
    }

    @Test func namesAMasterSecretThatIsNotConfigured() throws {
        #expect(try file().unconfigured(.none) == nil, "there is no file yet")
        _ = try file().prepare(Self.secrets(1))
        #expect(try file().unconfigured(Self.secrets(1)) == nil)
        var deriving = try Self.secrets(1)
        try deriving.add(.masterSecret, current: Self.key(7), version: 1)
        _ = try file().prepare(deriving)
        #expect(try file().unconfigured(Self.secrets(1)) == .masterSecret)
        #expect(try file().unconfigured(deriving) == nil)
        var other = try Self.secrets(1)
        try other.add(.masterSecret, current: Self.key(8), version: 1)
        try SecretProofCheck.run(path: folder.database, secrets: deriving)
        #expect(throws: StorageOpeningError.secretDiffers(.masterSecret)) {
            try SecretProofCheck.run(path: folder.database, secrets: other)
        }
    }

    @Test func aCheckFindsAnotherKeyEncryptionKey() throws {
        _ = try SQLiteKeyStore.open(path: folder.database, keyRing: SampleKeys.keyRing(), maximumReaders: 1)
        try file().check(.none, SampleKeys.keyRing())
        #expect(throws: StorageOpeningError.keyEncryptionKeyDiffers) {
            try file().check(.none, SampleKeys.keyRing(0x43))
        }
    }

    @Test func aLedgerKeyIsReplacedByOneWithAHigherVersion() throws {
        try append(try file().prepare(.none))
        #expect(throws: StorageOpeningError.secretDiffers(.ledgerKey)) { try file(key: 2).prepare(.none) }
        #expect(throws: StorageOpeningError.ledgerDiffers(path: folder.database)) {
            try file(key: 2, version: 2).prepare(.none)
        }
        let chain = try file(key: 2, version: 2, older: [1: 1]).prepare(.none)
        try append(chain, 2)
        var reader = try LedgerReader.open(path: folder.database)
        var findings: [LedgerFinding] = []
        let verified = try reader.verify(chain, checkpoints: []) { findings.append($0) }
        #expect(findings == [] && verified.rowCount == 2)
        #expect(throws: StorageOpeningError.secretDiffers(.ledgerKey)) { try file().prepare(.none) }
        #expect(try file(key: 2, version: 2).missingKeyVersions() == [1])
        #expect(try file(key: 2, version: 2, older: [1: 1]).missingKeyVersions() == [])
    }

    // MARK: Purges

    private func batchesOfOneRow(_ count: Int64) throws -> LedgerFixture {
        let fixture = try LedgerFixture()
        try fixture.append(0..<count, batchSize: 1)
        return fixture
    }

    /// A license that waits for the purge waits for at most one slice.
    @Test func purgesInSlices() throws {
        let fixture = try batchesOfOneRow(1000)
        var maintenance = try LedgerMaintenance.open(path: fixture.path, chain: fixture.chain, retention: 10)
        var counts: [Int] = []
        var stated: [LedgerPurge] = []
        var isUnfinished = true
        while isUnfinished {
            let pass = try maintenance.pass(now: fixture.time(5000))
            counts.append(pass.purgedCount)
            if let purge = pass.stated { stated.append(purge) }
            isUnfinished = pass.isUnfinished
        }
        #expect(counts.reduce(0, +) == 999)
        #expect(counts.allSatisfy { $0 <= LedgerMaintenance.purgedAtOnce })
        #expect(counts.filter { $0 > 0 }.count == 5)
        // The ledger has one statement for all slices.
        #expect(stated.map(\.rowCount) == [999] && stated.map(\.through) == [999] && stated.map(\.retention) == [10])
        var reader = try LedgerReader.open(path: fixture.path)
        let verified = try reader.verify(fixture.chain, checkpoints: []) { Issue.record("\($0)") }
        #expect(verified.purges == stated && verified.purgedThrough == 999 && verified.rowCount == 2)
    }

    /// If a process is killed after a purge, the next process states its purged rows.
    @Test func statesWhatWasPurgedBeforeACrash() throws {
        let fixture = try batchesOfOneRow(10)
        var purger = try LedgerPurger.open(path: fixture.path, chain: fixture.chain)
        #expect(try purger.purge(before: .max, rowsMaximum: 4, now: fixture.time(100)).count == 4)
        var next = try LedgerPurger.open(path: fixture.path, chain: fixture.chain)
        #expect(try next.purge(before: .max, rowsMaximum: 3, now: fixture.time(100)).count == 3)
        let stated = try #require(try next.state(retention: 60, now: fixture.time(100)))
        #expect((stated.rowCount, stated.through) == (7, 7))
        #expect(try next.state(retention: 60, now: fixture.time(100)) == nil)
        #expect(try purger.state(retention: 60, now: fixture.time(100)) == nil)
        #expect(try fixture.findings() == [])
    }

    // MARK: Rejoining

    @Test func takesNoBatchThatIsNotTheNextOne() throws {
        let fixture = try batchesOfOneRow(3)
        var reader = try LedgerReader.open(path: fixture.path)
        let batches = try reader.batches(from: 1, limit: 3)
        let rows = try reader.rows(1...3, limit: 3)
        var rejoiner = try LedgerRejoiner.begin(path: fixture.path, chain: fixture.chain, fork: batches[0].link)
        #expect(throws: StoreError.recordMalformed) { try rejoiner.take(batches[2], [rows[2]]) }
        #expect(throws: StoreError.recordMalformed) { try rejoiner.take(batches[1], [rows[2]]) }
        try rejoiner.take(batches[1], [rows[1]])
        let count = try rejoiner.finish { count in
            LedgerEntry(
                kind: .ledgerRejoined, at: LedgerFixture.start, license: LedgerFixture.entry(9).license,
                detail: "\(count)")
        }
        #expect(count == 2)
        #expect(try fixture.findings() == [])
        #expect(try fixture.found(LedgerQuery(tokenID: "token-2")) == [4])
    }

    @Test func refusesToRejoinBesideADaemon() throws {
        let fixture = try batchesOfOneRow(3)
        let store = try SQLiteDecisionStore.open(path: fixture.path, chain: fixture.chain)
        defer { store.stop() }
        #expect(throws: StorageOpeningError.inUse(path: fixture.path)) {
            _ = try LedgerRejoiner.begin(path: fixture.path, chain: fixture.chain, fork: .start)
        }
    }
}
