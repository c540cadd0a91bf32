import ByteCoding
import ContentKeys
import KeyCrypto
import Testing

@testable import StorageSQLite

@Suite struct SQLiteKeyMaintenanceTests {
    let folder: TemporaryFolder
    let old: KeySealing
    let new: KeySealing

    init() throws {
        folder = try TemporaryFolder()
        old = try Self.sealing(0x11, version: 1)
        new = try Self.sealing(0x22, version: 2)
    }

    static func sealing(_ byte: UInt8, version: UInt32) throws -> KeySealing {
        let secret = SecretBytes(copying: [UInt8](repeating: byte, count: 32))
        return KeySealing(keyEncryptionKey: try AES256GCMKey(secret), version: version)
    }

    func store(_ ring: KeyRing) throws -> SQLiteKeyStore {
        try SQLiteKeyStore.open(path: folder.database, keyRing: ring, maximumReaders: 1)
    }

    func maintenance(_ ring: KeyRing) throws -> SQLiteKeyMaintenance {
        try SQLiteKeyMaintenance.open(path: folder.database, keyRing: ring)
    }

    static func record(_ number: UInt64) throws -> ContentKeyRecord {
        try ContentKeyRecord(
            attributes: ContentKeyAttributes(
                keyID: KeyID(words: Bytes16(high: 1, low: number)), contentID: ContentID("c-\(number)"), createdAt: 1),
            key: ContentKey(SecretBytes(copying: Bytes16(high: 7, low: number).bytes)),
            iv: Bytes16(high: 9, low: number))
    }

    static func reference(_ record: ContentKeyRecord) throws -> AssetReference {
        AssetReference(try AssetID(bytes: record.keyID.bytes))
    }

    @Test func sealsAnewWhileAnotherNodeReads() async throws {
        let records = try (1...25).map { try Self.record($0) }
        let first = try maintenance(KeyRing(old))
        _ = try first.store(records.map { KeyImport(record: $0) })

        let ring = try #require(KeyRing(current: new, older: [old]))
        let reader = try store(ring)
        let rewrap = try maintenance(ring)
        var last: KeyID?
        var changed = 0
        repeat {
            let step = try rewrap.rewrap(after: last, limit: 10)
            (last, changed) = (step.last, changed + step.changed)
            for record in records { #expect(try await reader.record(for: Self.reference(record)) == record) }
        } while last != nil
        #expect(changed == 25)
        #expect(throws: StorageOpeningError.keyEncryptionKeyMissing(version: 1)) { _ = try store(KeyRing(new)) }
        let forgotten = try rewrap.forgetUnusedKeys()
        #expect(forgotten == 1)
        let alone = try store(KeyRing(new))
        for record in records { #expect(try await alone.record(for: Self.reference(record)) == record) }
        #expect(throws: StorageOpeningError.keyEncryptionKeyMissing(version: 2)) { _ = try store(KeyRing(old)) }
    }

    @Test func keepsAnOldKeyThatIsStillNeeded() throws {
        let first = try maintenance(KeyRing(old))
        _ = try first.store([KeyImport(record: Self.record(1))])
        let second = try maintenance(try #require(KeyRing(current: new, older: [old])))
        let forgotten = try second.forgetUnusedKeys()
        #expect(forgotten == 0)
        let third = try maintenance(try #require(KeyRing(current: new, older: [old])))
        let again = try third.key(Self.record(1).keyID)
        #expect(again?.record == (try Self.record(1)))
    }

    @Test func storesABatchWholeOrNotAtAll() throws {
        let maintenance = try maintenance(KeyRing(old))
        let alias = try AssetID(bytes: Array("shared".utf8))
        let imports = try (1...3).map { KeyImport(record: try Self.record($0), aliases: [alias]) }
        let taken = try Self.record(1).keyID
        do throws(StoreError) {
            _ = try maintenance.store(imports)
            Issue.record("an alias names two keys")
        } catch {
            #expect(error == .aliasTaken(by: taken))
        }
        let count = try maintenance.count()
        #expect(count == 0)
        let stored = try maintenance.store([imports[0]])
        let again = try maintenance.store([imports[0]])
        #expect([stored, again] == [1, 0])
    }

    @Test func withdrawsAndDeletes() async throws {
        let record = try Self.record(1)
        let alias = try AssetID(bytes: Array("movie-hd".utf8))
        let maintenance = try maintenance(KeyRing(old))
        _ = try maintenance.store([KeyImport(record: record, aliases: [alias])])
        let store = try store(KeyRing(old))
        try maintenance.set(.withdrawn, of: record.keyID)
        #expect(try await store.record(for: AssetReference(alias)) == nil)
        try maintenance.set(.live, of: record.keyID)
        #expect(try await store.record(for: AssetReference(alias)) == record)
        try maintenance.delete(record.keyID)
        #expect(try await store.record(for: AssetReference(alias)) == nil)
        let gone = try maintenance.key(record.keyID)
        #expect(gone == nil)
        do throws(StoreError) {
            try maintenance.delete(record.keyID)
            Issue.record("a key was deleted twice")
        } catch {
            #expect(error == .keyUnknown(record.keyID))
        }
    }
}
