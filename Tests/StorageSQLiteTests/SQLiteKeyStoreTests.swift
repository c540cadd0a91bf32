import ByteCoding
import ContentKeys
import KeyCrypto
import StoreConformance
import TestSupport
import Testing

@testable import StorageSQLite

@Suite struct SQLiteKeyStoreTests {
    let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    func open(keyEncryptionKey: UInt8 = 0x42, readers: Int = 2, busyTimeout: Int32 = 5000) throws -> SQLiteKeyStore {
        try SQLiteKeyStore.open(
            path: folder.database, keyRing: SampleKeys.keyRing(keyEncryptionKey),
            maximumReaders: readers, busyTimeoutMilliseconds: busyTimeout)
    }

    @Test(arguments: LivePeriodConformance.Case.allCases)
    func keepsLivePeriods(by rule: LivePeriodConformance.Case) async throws {
        try await LivePeriodConformance.run(rule) { try open() }
    }

    @Test(arguments: ContentKeyStoreConformance.Case.allCases)
    func conforms(to rule: ContentKeyStoreConformance.Case) async throws {
        try await ContentKeyStoreConformance.run(rule) { try open() }
    }

    @Test(arguments: KeyProviderConformance.Case.allCases)
    func provides(by rule: KeyProviderConformance.Case) async throws {
        try await KeyProviderConformance.run(
            rule,
            on: KeyProviderConformance.Database(
                open: { try open() },
                withdraw: { keyID in
                    let maintenance = try SQLiteKeyMaintenance.open(
                        path: folder.database, keyRing: SampleKeys.keyRing())
                    try maintenance.set(.withdrawn, of: keyID)
                },
                breakSeal: { keyID in
                    var connection = try SQLiteConnection.open(path: folder.database, busyTimeoutMilliseconds: 5000)
                    var statement = try connection.prepare(
                        "UPDATE content_key SET sealed = zeroblob(60) WHERE kid = ?1")
                    try statement.run(keyID)
                    #expect(connection.changedRowCount == 1)
                }))
    }

    @Test func keepsTheOrdersOfTwoPackagersApart() async throws {
        let maintenance = try SQLiteKeyMaintenance.open(path: folder.database, keyRing: SampleKeys.keyRing())
        try await PackagerOrders.run(
            count: TestLength.inputs(short: 200, long: 5_000), open: { try open() },
            set: { try maintenance.set($0, of: $1) })
    }

    @Test func keepsEverythingAcrossReopening() async throws {
        let record = try SampleKeys.record(
            1, track: Track(.hd), period: 4, leastHDCP: .type0, leastSecurityLevel: .baseline)
        let alias = try AssetID(bytes: [0, 1])
        for round in 0..<3 {
            let store = try open()
            #expect(try await store.insert(record) == (round == 0 ? .stored : .alreadyPresent))
            #expect(try await store.addAlias(alias, to: record.keyID) == (round == 0 ? .stored : .alreadyPresent))
            #expect(try await store.record(for: AssetReference(alias)) == record)
            #expect(try await store.list(of: nil, after: nil, limit: 9) == [record.attributes])
        }
    }

    @Test func refusesAnotherKeyEncryptionKey() async throws {
        _ = try open()
        #expect(throws: StorageOpeningError.keyEncryptionKeyDiffers) { try open(keyEncryptionKey: 0x43) }
        #expect(throws: Never.self) { try open() }
    }

    @Test func showsOneStoreWhatAnotherStored() async throws {
        let (first, second) = (try open(), try open())
        for number in 0..<20 as Range<UInt64> {
            let record = try SampleKeys.record(number, content: "c-\(number)")
            #expect(try await (number % 2 == 0 ? first : second).insert(record) == .stored)
            for store in [first, second] {
                #expect(try await store.record(for: SampleKeys.reference("c-\(number)")) == record)
                #expect(try await store.insert(record) == .alreadyPresent)
            }
        }
    }

    @Test func takesWritesAndReadsOfManyTasksAtOnce() async throws {
        let stores = [try open(readers: 1), try open(readers: 3)]
        try await withThrowingTaskGroup { group in
            for number in 0..<60 as Range<UInt64> {
                group.addTask {
                    let store = stores[Int(number % 2)]
                    // Two tasks insert each key: one stores it, and the other finds it.
                    let record = try SampleKeys.record(number / 2, content: "c-\(number / 2)")
                    _ = try await store.insert(record)
                    #expect(try await store.record(for: SampleKeys.reference("c-\(number / 2)")) == record)
                }
            }
            try await group.waitForAll()
        }
        #expect(try await stores[0].list(of: nil, after: nil, limit: 100).count == 30)
    }

    @Test func opensANewFileFromManyTasksAtOnce() async throws {
        try await withThrowingTaskGroup { group in
            for number in 0..<8 as Range<UInt64> {
                group.addTask { _ = try await open().insert(SampleKeys.record(number)) }
            }
            try await group.waitForAll()
        }
        #expect(try await open().list(of: nil, after: nil, limit: 100).count == 8)
    }

    @Test func readsWhileAnotherConnectionWrites() async throws {
        let store = try open(busyTimeout: 1)
        let record = try SampleKeys.record(1)
        _ = try await store.insert(record)
        var other = try SQLiteConnection.open(path: folder.database, busyTimeoutMilliseconds: 1)
        try other.beginImmediate()
        #expect(try await store.record(for: SampleKeys.reference("movie")) == record)
        await #expect(throws: StoreError.unavailable(.busy)) { try await store.insert(SampleKeys.record(2)) }
        other.rollBack()
        #expect(try await store.insert(SampleKeys.record(2)) == .stored)
    }

    @Test func boundsAPageWhateverTheLimit() async throws {
        let store = try open()
        _ = try await store.insert(SampleKeys.record(1))
        _ = try await store.insert(SampleKeys.record(2))
        for limit in [Int.min, -1, 0] { #expect(try await store.list(of: nil, after: nil, limit: limit).count == 1) }
        #expect(try await store.list(of: nil, after: nil, limit: .max).count == 2)
    }

    @Test func refusesAPathThatCannotBe() throws {
        #expect(throws: StorageOpeningError.self) {
            try SQLiteKeyStore.open(
                path: folder.path + "/missing/latchkey.db", keyRing: SampleKeys.keyRing(),
                maximumReaders: 1)
        }
        #expect(throws: StorageOpeningError.notAFile(path: folder.path)) {
            try SQLiteKeyStore.open(
                path: folder.path, keyRing: SampleKeys.keyRing(), maximumReaders: 1)
        }
    }
}
