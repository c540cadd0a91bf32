import ByteCoding
import ContentKeys
import DatabaseSupport
import KeyCrypto
import Records
import Synchronization
import TestSupport
import Testing

@testable import StoragePostgreSQL

@Suite(.needsPostgreSQL, .serialized) struct LedgerComparisonTests {
    let database: TestDatabase

    init() throws {
        database = try TestDatabase()
    }

    private func shipped(_ store: PostgreSQLStore, _ sizes: [Int]) async throws -> OutboxInMemory {
        let outbox = try OutboxInMemory(batchSizes: sizes)
        try await LedgerShipper(node: outbox.node, outbox: outbox, receiver: store).shipAll()
        return outbox
    }

    private func compare(_ outbox: OutboxInMemory, _ store: PostgreSQLStore, floor: Int64 = 0) async throws -> Int {
        var comparison = LedgerComparison(node: outbox.node, outbox: outbox, receiver: store, floor: floor)
        try await comparison.checkEnds()
        while try await comparison.step() {}
        #expect(comparison.position == outbox.batches.last?.last)
        return comparison.mendedCount
    }

    @Test(arguments: [
        ("DELETE FROM ledger_entry WHERE sequence = 4", 4), ("DELETE FROM ledger_batch WHERE first = 2", 4),
        ("DELETE FROM ledger_entry WHERE sequence BETWEEN 2 AND 9; DELETE FROM ledger_batch WHERE first IN (2, 6)", 8),
        ("DELETE FROM ledger_entry WHERE sequence = 1; DELETE FROM ledger_batch WHERE first = 1", 1),
        ("SELECT 1", 0),
    ])
    func sendsWhatTheCopyHasLost(script: String, rowCount: Int) async throws {
        try await database.withStore { store async throws in
            let outbox = try await shipped(store, [1, 4, 4, 2])
            try database.execute(script)
            #expect(try await compare(outbox, store) == rowCount)
            #expect(try database.integer("SELECT count(*) FROM ledger_entry") == 11)
            #expect(try database.integer("SELECT count(*) FROM ledger_batch") == 4)
            #expect(try await compare(outbox, store) == 0)
        }
    }

    @Test func comparesALedgerOfManyPages() async throws {
        try await database.withStore { store async throws in
            let outbox = try await shipped(store, [Int](repeating: 900, count: 8))
            try database.execute("DELETE FROM ledger_entry WHERE sequence IN (5, 3000, 7200)")
            #expect(try await compare(outbox, store) == 2700)
            #expect(try database.integer("SELECT count(*) FROM ledger_entry") == 7200)
        }
    }

    @Test func refusesACopyOfAnotherLedger() async throws {
        try await database.withStore { store async throws in
            _ = try await shipped(store, [3, 3])
            let other = try OutboxInMemory(batchSizes: [3, 3], firstNumber: 500)
            await #expect(throws: LedgerShippingError.sequenceTaken(other.node)) { try await compare(other, store) }
            let split = try OutboxInMemory(batchSizes: [6])
            await #expect(throws: LedgerShippingError.sequenceTaken(split.node)) { try await compare(split, store) }
        }
    }

    @Test func refusesALedgerThatEndsBeforeItsCopy() async throws {
        try await database.withStore { store async throws in
            _ = try await shipped(store, [3, 3])
            let older = try OutboxInMemory(batchSizes: [3])
            await #expect(throws: LedgerShippingError.copyIsAhead(older.node, end: 3)) {
                try await compare(older, store)
            }
        }
    }

    /// Rows that were purged from the copy are a floor, and are not sent again.
    @Test func sendsNothingThatWasPurged() async throws {
        try await database.withStore { store async throws in
            let outbox = try await shipped(store, [2, 2, 2])
            let batch = outbox.batches[1]
            let beginning = LedgerBatch(first: 0, last: batch.last, at: 1, seal: [UInt8](repeating: 7, count: 64))
            try await store.purgeLedger(of: outbox.node, to: beginning)
            #expect(try await store.ledgerBeginning(of: outbox.node) == beginning)
            #expect(try await compare(outbox, store, floor: 4) == 0)
            #expect(try database.integer("SELECT count(*) FROM ledger_entry") == 2)
            // An older call that arrives late changes nothing.
            try await store.purgeLedger(
                of: outbox.node, to: LedgerBatch(first: 0, last: 2, at: 1, seal: [UInt8](repeating: 8, count: 64)))
            #expect(try await store.ledgerBeginning(of: outbox.node) == beginning)
        }
    }

    @Test func namesNodesThatWereLost() async throws {
        try await database.withStore { store async throws in
            let (old, new) = (try NodeID("id-1"), try NodeID("id-2"))
            let label = "front-1"
            try await store.register(old, label: label, nil)
            try await store.register(new, label: label, nil)
            #expect(try await store.lostNodes(besides: new, label: label, silence: 60) == [])
            try database.execute("UPDATE ledger_node SET seen_at = 0 WHERE node = 'id-1'")
            #expect(try await store.lostNodes(besides: new, label: label, silence: 60) == [old])
            #expect(try await store.lostNodes(besides: new, label: "front-2", silence: 60) == [])
            try await store.succeed(old, by: new)
            #expect(try await store.lostNodes(besides: new, label: label, silence: 60) == [])
        }
    }

    /// A node that starts tells nothing, and does not take away what another one has told.
    @Test func keepsWhatNodesTell() async throws {
        try await database.withStore { store async throws in
            let (one, other) = (try NodeID("id-1"), try NodeID("id-2"))
            let report = NodeReport(version: "1.2.3", state: "degraded", licenses: 70_000)
            try await store.register(one, label: "front-1", nil)
            try await store.register(one, label: "front-1", report)
            try await store.register(other, label: "front-2", nil)
            for node in [one, other] {
                try database.execute(
                    """
                    INSERT INTO ledger_batch (node, first, last, at, seal)
                    VALUES ('\(node.text)', 1, 1, 1, decode(repeat('00', 64), 'hex'))
                    """)
            }
            try await store.register(NodeID("id-3"), label: "no-copy", report)
            let nodes = try await store.ledgerNodes()
            #expect(nodes.map(\.report) == [report, nil])
            #expect(nodes.map(\.label) == ["front-1", "front-2"])
        }
    }

    // MARK: Secrets

    private static func secrets(_ byte: UInt8) throws -> SharedSecrets {
        var secrets = SharedSecrets()
        let key = try HMACSHA256Key(SecretBytes(copying: [UInt8](repeating: byte, count: 32)))
        try secrets.add(.pseudonymKey, current: key)
        return secrets
    }

    private func open(_ byte: UInt8) throws -> PostgreSQLStore {
        try PostgreSQLStore.open(
            database.settings(), keyRing: SampleKeys.keyRing(), secrets: Self.secrets(byte))
    }

    @Test func refusesAnotherSecretAndNamesIt() throws {
        try open(1).close()
        let refusal = PostgreSQLOpeningError.secretDiffers(.pseudonymKey)
        #expect(throws: refusal) { try open(2).close() }
        #expect(throws: refusal) {
            try PostgreSQLStore.check(
                database.settings(), keyRing: SampleKeys.keyRing(), secrets: Self.secrets(2))
        }
        #expect(throws: PostgreSQLOpeningError.keyEncryptionKeyDiffers) {
            try PostgreSQLStore.check(
                database.settings(), keyRing: SampleKeys.keyRing(0x43), secrets: Self.secrets(1))
        }
        try PostgreSQLStore.check(database.settings(), keyRing: SampleKeys.keyRing(), secrets: Self.secrets(1))
        try open(1).close()
        #expect(try database.integer("SELECT count(*) FROM secret_proof") == 1)
    }

    /// A node without a master secret makes random keys beside the derived ones of other nodes.
    @Test func tellsOnceThatTheMasterSecretIsNotConfigured() throws {
        let told = Mutex(0)
        func open(_ secrets: SharedSecrets) throws {
            try PostgreSQLStore.open(
                database.settings(), keyRing: SampleKeys.keyRing(), secrets: secrets,
                noteUnconfigured: { _ in told.withLock { $0 += 1 } }
            ).close()
        }
        func check(_ secrets: SharedSecrets) throws -> SecretProof.Name? {
            try PostgreSQLStore.check(database.settings(), keyRing: SampleKeys.keyRing(), secrets: secrets)
        }
        let secrets = try Self.secrets(1)
        var deriving = secrets
        let key = try HMACSHA256Key(SecretBytes(copying: [UInt8](repeating: 7, count: 32)))
        try deriving.add(.masterSecret, current: key, version: 1)
        try open(secrets)
        try open(deriving.onlyCompared)
        #expect(try database.integer("SELECT count(*) FROM secret_proof") == 1)
        try open(deriving)
        #expect(try check(deriving) == nil && told.withLock { $0 } == 0)
        #expect(try check(secrets) == .masterSecret)
        try open(secrets)
        #expect(told.withLock { $0 } == 1)
    }

    @Test func aCheckMakesNoSchema() throws {
        try PostgreSQLStore.check(database.settings(), keyRing: SampleKeys.keyRing(), secrets: Self.secrets(1))
        #expect(try database.integer("SELECT count(*) FROM pg_namespace WHERE nspname = '\(database.schema)'") == 0)
    }

    // MARK: Keys

    @Test(arguments: [
        "UPDATE content_key SET track_label = 'AUDIO', content_type = 'audio'",
        "UPDATE content_key SET state = 'withdrawn'",
        "UPDATE content_key SET least_hdcp = 'none'", "UPDATE content_key SET scheme = 'sample-aes'",
    ])
    func aCheckFindsWhatWasAlteredBesideTheKey(script: String) async throws {
        try await database.withStore { store async throws in
            let record = try SampleKeys.record(1)
            #expect(try await store.insert(record) == .stored)
            #expect(try await store.check(after: nil, limit: 10).findings == [])
            try database.execute(script)
            #expect(try await store.check(after: nil, limit: 10).findings == [.sealBroken(keyID: record.keyID.bytes)])
        }
    }
}
