import ByteCoding
import ContentKeys
import KeyCrypto
import StoreConformance
import TestSupport
import Testing

@testable import StorageSQLite

@Suite struct SQLiteKeyMaintenanceTests {
    let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    func store(_ ring: KeyRing) throws -> SQLiteKeyStore {
        try SQLiteKeyStore.open(path: folder.database, keyRing: ring, maximumReaders: 1)
    }

    func maintenance(_ ring: KeyRing) throws -> SQLiteKeyMaintenance {
        try SQLiteKeyMaintenance.open(path: folder.database, keyRing: ring)
    }

    private func execute(_ sql: StaticString) throws {
        var connection = try SQLiteConnection.open(path: folder.database, busyTimeoutMilliseconds: 5000)
        try connection.execute(sql)
    }

    private func alter(_ alteration: KeyMaintenanceConformance.Alteration, of keyID: [UInt8]) throws {
        var connection = try SQLiteConnection.open(path: folder.database, busyTimeoutMilliseconds: 5000)
        switch alteration {
        case .sealed(let bytes):
            var statement = try connection.prepare("UPDATE content_key SET sealed = ?2 WHERE kid = ?1")
            try statement.run(keyID, bytes)
        case .contentID(let text):
            var statement = try connection.prepare("UPDATE content_key SET content_id = ?2 WHERE kid = ?1")
            try statement.run(keyID, text)
        case .periodIndex(let index):
            var statement = try connection.prepare("UPDATE content_key SET period_index = ?2 WHERE kid = ?1")
            try statement.run(keyID, index)
        case .scheme(let text):
            var statement = try connection.prepare("UPDATE content_key SET scheme = ?2 WHERE kid = ?1")
            try statement.run(keyID, text)
        case .keyID(let bytes):
            var statement = try connection.prepare("UPDATE content_key SET kid = ?2 WHERE kid = ?1")
            try statement.run(keyID, bytes)
        }
        #expect(connection.changedRowCount == 1)
    }

    @Test(arguments: KeyMaintenanceConformance.Case.allCases)
    func maintains(by rule: KeyMaintenanceConformance.Case) async throws {
        let database = KeyMaintenanceConformance.Database(
            store: { try store($0) }, maintenance: { try maintenance($0) },
            alter: { try alter($0, of: $1) })
        try await KeyMaintenanceConformance.run(rule, on: database)
    }

    @Test func namesTheKeyEncryptionKeyThatIsMissing() async throws {
        let (old, new) = (
            try KeyMaintenanceConformance.sealing(0x11, version: 1),
            try KeyMaintenanceConformance.sealing(0x22, version: 2)
        )
        _ = try maintenance(KeyRing(old)).store([KeyImport(record: SampleKeys.record(1))])
        #expect(throws: StorageOpeningError.keyEncryptionKeyMissing(version: 1)) { _ = try store(KeyRing(new)) }
    }

    /// The file has an altered page, then a reference to a missing row, and finally is not a database.
    @Test func findsADamagedFile() async throws {
        let maintenance = try maintenance(KeyRing(KeyMaintenanceConformance.sealing(0x11, version: 1)))
        _ = try maintenance.store((1...400).map { KeyImport(record: try SampleKeys.record($0, content: "c-\($0)")) })
        #expect(try DatabaseIntegrity.findings(path: folder.database) == [])
        try execute(
            "PRAGMA foreign_keys = OFF; INSERT INTO asset_alias VALUES (x'0102', x'000102030405060708090a0b0c0d0e0f')")
        #expect(try DatabaseIntegrity.findings(path: folder.database).count == 1)
        try execute("DELETE FROM asset_alias; PRAGMA wal_checkpoint(TRUNCATE)")
        #expect(try DatabaseIntegrity.findings(path: folder.database) == [])

        let whole = try #require(Files.read(folder.database))
        var damagedCount = 0
        // The first bytes of each page, except the first page, give the page's format.
        for page in stride(from: 4096, to: whole.count, by: 4096) where whole[page] != 0 {
            var damaged = whole
            damaged[page] = 0
            let other = try TemporaryFolder()
            #expect(Files.write(damaged, to: other.database))
            if try !DatabaseIntegrity.findings(path: other.database).isEmpty { damagedCount += 1 }
        }
        let pages = stride(from: 4096, to: whole.count, by: 4096).count { whole[$0] != 0 }
        #expect(damagedCount == pages && pages > 10)
        let noDatabase = try TemporaryFolder()
        #expect(Files.write([UInt8](repeating: 0x20, count: 5000), to: noDatabase.database))
        #expect(try DatabaseIntegrity.findings(path: noDatabase.database).count == 1)
    }
}
