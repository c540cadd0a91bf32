import ByteCoding
import ContentKeys
import KeyCrypto
import TestSupport
import Testing

@testable import StorageSQLite

@Suite struct SealedAtRestTests {
    let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    func open() throws -> SQLiteKeyStore {
        try SQLiteKeyStore.open(
            path: folder.database, keyRing: SampleKeys.keyRing(), maximumReaders: 1)
    }

    func connect() throws -> SQLiteConnection {
        try SQLiteConnection.open(path: folder.database, busyTimeoutMilliseconds: 1000)
    }

    /// Searches the database, log and shared index for key and vector: as bytes, in hexadecimal digits of both cases,
    /// and in Base64.
    @Test func leavesNothingInClearInAnyFile() async throws {
        let store = try open()
        let records = try (1...50).map { try SampleKeys.record(UInt64($0) << 40 | 0x55, content: "c-\($0)") }
        for record in records { _ = try await store.insert(record) }
        // The open files are read last, because closing their descriptors drops the locks.
        let files = ["", "-wal", "-shm"].compactMap { Files.read(folder.database + $0) }
        try #require(files.count == 3)
        #expect(files[1].count > 100_000)
        let everything = files.flatMap { $0 }
        #expect(everything.contains(sequence: Array("c-50".utf8)))
        #expect(everything.contains(sequence: records[49].keyID.bytes))
        for record in [records[0], records[24], records[49]] {
            for secret in [record.key.bytes.revealed(), record.iv.bytes] {
                let hexadecimal = Hexadecimal.encode(secret)
                let forms = [
                    secret, Array(secret.prefix(8)), Array(hexadecimal.utf8), Array(hexadecimal.uppercased().utf8),
                    Array(Base64.encode(secret).utf8),
                ]
                for form in forms { #expect(!everything.contains(sequence: form)) }
            }
        }
        withExtendedLifetime(store) {}
    }

    @Test func refusesTwoRecordsWhoseSealsWereSwapped() async throws {
        let records = [try SampleKeys.record(1, content: "c-1"), try SampleKeys.record(2, content: "c-2")]
        let store = try open()
        for record in records { _ = try await store.insert(record) }
        var connection = try connect()
        try connection.execute(
            """
            CREATE TEMP TABLE swap AS SELECT kid, sealed FROM content_key;
            UPDATE content_key SET sealed = (SELECT sealed FROM swap WHERE swap.kid <> content_key.kid);
            """)
        for record in records {
            await #expect(throws: StoreError.sealBroken(record.keyID)) {
                try await store.record(for: SampleKeys.reference(record.contentID.text))
            }
            await #expect(throws: StoreError.sealBroken(record.keyID)) { try await store.insert(record) }
        }
    }

    /// Alters the seal and each of the columns to which it is bound, except the state: a withdrawn key is not opened.
    @Test(
        arguments: [
            "UPDATE content_key SET content_id = 'other'", "UPDATE content_key SET period_index = 1",
            "UPDATE content_key SET kid = x'000000000000000000000000000000ff'",
            "UPDATE content_key SET track_label = 'HD', content_type = 'hd'",
            "UPDATE content_key SET content_type = 'uhd'", "UPDATE content_key SET scheme = 'sample-aes'",
            "UPDATE content_key SET created_at = created_at + 1", "UPDATE content_key SET least_hdcp = 'none'",
            "UPDATE content_key SET least_security_level = 'audio'",
            "UPDATE content_key SET sealed = zeroblob(60)", "UPDATE content_key SET sealed = x''",
            "UPDATE content_key SET sealed = substr(sealed, 1, 59)",
        ] as [LiteralSQL])
    func refusesARowThatWasAltered(change: LiteralSQL) async throws {
        let store = try open()
        _ = try await store.insert(SampleKeys.record(1))
        var connection = try connect()
        try connection.execute(change.text)
        let entry = try #require(try await store.list(of: nil, after: nil, limit: 1).first)
        await #expect(throws: StoreError.sealBroken(entry.keyID)) {
            try await store.record(for: AssetReference(AssetID(bytes: entry.keyID.bytes)))
        }
    }

    @Test(
        arguments: [
            "UPDATE content_key SET scheme = 'none'", "UPDATE content_key SET state = ''",
            "UPDATE content_key SET content_id = 'a b'", "UPDATE content_key SET content_id = ''",
            "UPDATE content_key SET track_label = ''", "UPDATE content_key SET period_index = -1",
            "UPDATE content_key SET period_index = 4294967296",
            "UPDATE content_key SET content_type = 'SD'", "UPDATE content_key SET content_type = ''",
            "UPDATE content_key SET track_label = 'HD', content_type = 'sd'",
            "UPDATE content_key SET least_hdcp = 'type2'", "UPDATE content_key SET least_hdcp = ''",
            "UPDATE content_key SET least_security_level = 'Main'",
        ] as [LiteralSQL])
    func refusesARowThatItNeverWrites(change: LiteralSQL) async throws {
        let store = try open()
        _ = try await store.insert(SampleKeys.record(1))
        var connection = try connect()
        try connection.execute(change.text)
        await #expect(throws: StoreError.recordMalformed) {
            try await store.record(for: SampleKeys.reference(SampleKeys.keyID(1).description))
        }
        await #expect(throws: StoreError.recordMalformed) { try await store.list(of: nil, after: nil, limit: 1) }
    }

    @Test func refusesToStoreUnderAnUnknownKeyVersion() async throws {
        let store = try open()
        _ = try await store.insert(SampleKeys.record(1))
        var connection = try connect()
        #expect(throws: StoreError.self) { try connection.execute("UPDATE content_key SET key_version = 2") }
    }
}

/// A literal that can be a test argument.
struct LiteralSQL: ExpressibleByStringLiteral, Sendable, CustomTestStringConvertible {
    let text: StaticString

    init(stringLiteral text: StaticString) {
        self.text = text
    }

    var testDescription: String { text.description }
}
