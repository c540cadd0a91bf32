import ByteCoding
import ContentKeys
import TestSupport
import Testing

@testable import StorageSQLite

/// Databases that an older version made and still uses.
@Suite struct SchemaUpgradeTests {
    private static let newest = Int64(SQLiteSchema.migrations.count)

    let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        try DatabaseFile.prepare(folder.database)
    }

    /// The statements of a program that knows only the first step.
    private enum FirstProgram {
        static let insert: SQL = """
            INSERT INTO content_key
                (kid, content_id, track_label, period_index, scheme, state, created_at, key_version, sealed)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9) ON CONFLICT (kid) DO NOTHING
            """
        static let select: SQL = """
            SELECT kid, content_id, track_label, period_index, scheme, state, created_at, key_version, sealed
            FROM content_key WHERE kid = ?1
            """
    }

    private func connect() throws -> SQLiteConnection {
        try SQLiteConnection.open(path: folder.database, busyTimeoutMilliseconds: 1000)
    }

    /// Opens the file in the same way as the first version.
    private func openAsFirstProgram() throws -> SQLiteConnection {
        var connection = try connect()
        try connection.migrate([SQLiteSchema.contentKeys], path: folder.database)
        try connection.establishProof(of: KeyRing(Self.sealing()))
        return connection
    }

    private func open() throws -> SQLiteKeyStore {
        try SQLiteKeyStore.open(
            path: folder.database, keyRing: SampleKeys.keyRing(), maximumReaders: 1)
    }

    private static func sealing() throws -> KeySealing {
        KeySealing(keyEncryptionKey: try SampleKeys.keyEncryptionKey(), version: 1)
    }

    /// Stores a record in the same way as the first version: with the label, and without a floor.
    private func insert(_ record: ContentKeyRecord, on connection: inout SQLiteConnection) throws {
        let sealed = try Self.sealing().seal(record)
        let attributes = record.attributes
        var statement = try connection.prepare(FirstProgram.insert)
        try statement.run(
            attributes.keyID, attributes.contentID, attributes.trackLabel?.text, attributes.periodIndex,
            attributes.scheme.rawValue, attributes.state.rawValue, attributes.createdAt, sealed.keyVersion,
            sealed.bytes)
        #expect(connection.changedRowCount == 1)
    }

    private static func oldRecords() throws -> [ContentKeyRecord] {
        [
            try SampleKeys.record(1, content: "a", period: 9),
            try SampleKeys.record(2, content: "b", track: Track(.hd)),
            try SampleKeys.record(3, content: "c", track: Track(.audio), state: .withdrawn),
            // The content type behind a packager's own label is not known, so the row is read with the strictest
            // policy.
            try SampleKeys.record(4, content: "d", track: Track(label: TrackLabel("hd"), contentType: .uhd)),
        ]
    }

    @Test func readsTheRowsOfTheVersionBefore() async throws {
        let records = try Self.oldRecords()
        var connection = try openAsFirstProgram()
        for record in records { try insert(record, on: &connection) }
        #expect(try connection.readInteger("SELECT max(number) FROM schema_migration") == 1)

        let store = try open()
        #expect(try connection.readInteger("SELECT max(number) FROM schema_migration") == Self.newest)
        #expect(try await store.list(of: nil, after: nil, limit: 10) == records.map(\.attributes))
        for record in records where record.attributes.state == .live {
            #expect(try await store.record(for: SampleKeys.reference(record.keyID.description)) == record)
        }
        for record in records { #expect(try await store.insert(record) == .alreadyPresent) }
        #expect(try await store.insert(SampleKeys.record(5, leastHDCP: .type1)) == .stored)
    }

    /// Ids that an older version has stored keep their meaning too.
    @Test func keepsTheMeaningsOfOlderIDsApart() async throws {
        let keyID = SampleKeys.keyID(7)
        let contentID = try ContentID(keyID.description.uppercased())
        var connection = try openAsFirstProgram()
        try insert(try SampleKeys.record(1, content: contentID.text), on: &connection)
        let store = try open()
        await #expect(throws: StoreError.keyIDSpellsContent(keyID, contentID)) {
            try await store.insert(SampleKeys.record(7, content: "other"))
        }
    }

    /// The number of random keys starts with the number of existing keys, so that an older copy has a smaller number.
    @Test func countsTheKeysOfTheVersionBefore() async throws {
        var connection = try openAsFirstProgram()
        for record in try Self.oldRecords() { try insert(record, on: &connection) }
        _ = try open()
        #expect(try connection.readInteger("SELECT number FROM key_generation") == 4)
        #expect(try connection.readInteger("SELECT count(*) FROM key_generation WHERE installation IS NULL") == 1)
    }

    /// The older version continues while this version has changed the schema, and also after this version has been
    /// removed again.
    @Test func theVersionBeforeWorksOnWithTheNewSchema() async throws {
        var connection = try openAsFirstProgram()
        let before = try SampleKeys.record(1, content: "a")
        let protected = try SampleKeys.record(
            2, content: "b", track: Track(.uhd), leastHDCP: .type1, leastSecurityLevel: .main)
        let after = try SampleKeys.record(3, content: "c", track: Track(.sd))
        try insert(before, on: &connection)
        // The statement is prepared before the schema changes, as in a running program.
        var running = try connection.prepare(FirstProgram.select)
        let store = try open()
        #expect(try await store.insert(protected) == .stored)
        try insert(after, on: &connection)

        for record in [before, protected, after] {
            try running.bind(record.keyID)
            #expect(try running.step())
            #expect(try running.text(at: 1) == record.contentID.text)
            let sealed = SealedContentKey(keyVersion: 1, bytes: try running.bytes(at: 8))
            #expect(try Self.sealing().open(sealed, attributes: record.attributes) == record)
            running.reset()
            #expect(try await store.record(for: SampleKeys.reference(record.keyID.description)) == record)
        }

        // After a downgrade, the older version opens the file again.
        var again = try connect()
        try again.migrate([SQLiteSchema.contentKeys], path: folder.database)
        #expect(try again.readInteger("SELECT max(number) FROM schema_migration") == Self.newest)
    }

    @Test func upgradesOnceFromManyTasksAtOnce() async throws {
        var connection = try openAsFirstProgram()
        try insert(try SampleKeys.record(1), on: &connection)
        try await withThrowingTaskGroup { group in
            for number in 2..<8 as Range<UInt64> {
                group.addTask { _ = try await open().insert(SampleKeys.record(number, leastHDCP: .type0)) }
            }
            try await group.waitForAll()
        }
        #expect(try await open().list(of: nil, after: nil, limit: 100).count == 7)
        #expect(try connection.readInteger("SELECT count(*) FROM schema_migration") == Self.newest)
    }
}
