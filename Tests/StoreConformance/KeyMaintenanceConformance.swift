import ByteCoding
package import ContentKeys
import KeyCrypto
import TestSupport
import Testing

/// The rules of every `KeyMaintenance`, with any database.
package enum KeyMaintenanceConformance {
    package enum Case: String, CaseIterable, Sendable {
        case sealsAnewWhileAnotherNodeReads
        case keepsAnOldKeyThatIsStillNeeded
        case leavesNoTraceOfAKeyThatDoesNotBelong
        case storesABatchWholeOrNotAtAll
        case refusesAnotherKeyInABatch
        case importsOneMeaningOfAnID
        case withdrawsAndDeletes
        case withdrawsAKeyWhoseSealIsBroken
        case findsEveryAlteredByteOfASeal
        case findsExchangedAndAlteredRecords
    }

    /// One database, which a rule can open several times.
    package struct Database {
        let store: (KeyRing) throws -> any ContentKeyStore
        let maintenance: (KeyRing) throws -> any KeyMaintenance
        /// Changes a column in the row of a key id, without any of the checks that keep a store consistent.
        let alter: (Alteration, [UInt8]) throws -> Void

        package init(
            store: @escaping (KeyRing) throws -> any ContentKeyStore,
            maintenance: @escaping (KeyRing) throws -> any KeyMaintenance,
            alter: @escaping (Alteration, [UInt8]) throws -> Void
        ) {
            self.store = store
            self.maintenance = maintenance
            self.alter = alter
        }
    }

    /// A column of `content_key` and its new value.
    package enum Alteration {
        case sealed([UInt8])
        case contentID(String)
        case periodIndex(Int64)
        case scheme(String)
        case keyID([UInt8])
    }

    package static func run(_ rule: Case, on database: Database) async throws {
        switch rule {
        case .sealsAnewWhileAnotherNodeReads: try await sealsAnewWhileAnotherNodeReads(database)
        case .keepsAnOldKeyThatIsStillNeeded: try await keepsAnOldKeyThatIsStillNeeded(database)
        case .leavesNoTraceOfAKeyThatDoesNotBelong: try await leavesNoTraceOfAKeyThatDoesNotBelong(database)
        case .storesABatchWholeOrNotAtAll: try await storesABatchWholeOrNotAtAll(database)
        case .refusesAnotherKeyInABatch: try await refusesAnotherKeyInABatch(database)
        case .importsOneMeaningOfAnID: try await importsOneMeaningOfAnID(database)
        case .withdrawsAndDeletes: try await withdrawsAndDeletes(database)
        case .withdrawsAKeyWhoseSealIsBroken: try await withdrawsAKeyWhoseSealIsBroken(database)
        case .findsEveryAlteredByteOfASeal: try await findsEveryAlteredByteOfASeal(database)
        case .findsExchangedAndAlteredRecords: try await findsExchangedAndAlteredRecords(database)
        }
    }

    package static func sealing(_ byte: UInt8, version: UInt32) throws -> KeySealing {
        KeySealing(keyEncryptionKey: try SampleKeys.keyEncryptionKey(byte), version: version)
    }

    private static func old() throws -> KeySealing { try sealing(0x11, version: 1) }
    private static func new() throws -> KeySealing { try sealing(0x22, version: 2) }

    private static func records(_ numbers: ClosedRange<UInt64>) throws -> [ContentKeyRecord] {
        try numbers.map { try SampleKeys.record($0, content: "c-\($0)", period: UInt32($0), leastHDCP: .type0) }
    }

    private static func reference(_ record: ContentKeyRecord) throws -> AssetReference {
        AssetReference(try AssetID(bytes: record.keyID.bytes))
    }

    // MARK: The rules

    /// A batch is not stored if an id in it has two meanings: within the batch, or together with what is stored.
    private static func importsOneMeaningOfAnID(_ database: Database) async throws {
        let ring = try KeyRing(old())
        let maintenance = try database.maintenance(ring)
        let key = try SampleKeys.record(1, content: "content-a")
        let spelled = try SampleKeys.record(2, content: key.keyID.description)
        let error = StoreError.keyIDSpellsContent(key.keyID, spelled.contentID)
        let other = KeyImport(record: try SampleKeys.record(3, content: "c"))
        for (first, second) in [(key, spelled), (spelled, key)] {
            let batch = [KeyImport(record: first), other, KeyImport(record: second)]
            await #expect(throws: error) { try await maintenance.store(batch) }
            #expect(try await maintenance.count() == 0)
            #expect(try await maintenance.store([KeyImport(record: first)]) == 1)
            // A withdrawn key could be live again, so its id is still taken.
            try await maintenance.set(.withdrawn, of: first.keyID)
            await #expect(throws: error) { try await maintenance.store([other, KeyImport(record: second)]) }
            try await maintenance.set(.live, of: first.keyID)
            #expect(try await maintenance.count() == 1)
            let alias = try AssetID(bytes: Array(first.contentID.text.utf8))
            await #expect(throws: StoreError.aliasNamesContent(first.contentID)) {
                try await maintenance.store([KeyImport(record: other.record, aliases: [alias])])
            }
            try await maintenance.delete(first.keyID)
        }
        let live = try #require(try database.store(ring) as? any LivePeriodStore)
        let contentID = try ContentID("live")
        #expect(try await live.set(LiveContent(contentID, window: 3)))
        let periods = try [1, 300, 600].map { (period: UInt32) in
            KeyImport(record: try SampleKeys.record(UInt64(period), content: "live", period: period))
        }
        await #expect(throws: StoreError.periodTooFar(contentID, period: 300, newest: 1)) {
            try await maintenance.store(periods.reversed())
        }
        #expect(try await maintenance.count() == 0)
    }

    private static func sealsAnewWhileAnotherNodeReads(_ database: Database) async throws {
        let records = try records(1...25)
        _ = try await database.maintenance(KeyRing(old())).store(records.map { KeyImport(record: $0) })

        let ring = try #require(KeyRing(current: new(), older: [old()]))
        let reader = try database.store(ring)
        let rewrap = try database.maintenance(ring)
        var last: KeyID?
        var changed = 0
        repeat {
            let step = try await rewrap.rewrap(after: last, limit: 10)
            (last, changed) = (step.last, changed + step.changed)
            for record in records { #expect(try await reader.record(for: reference(record)) == record) }
        } while last != nil
        #expect(changed == 25)
        #expect(throws: (any Error).self) { _ = try database.store(KeyRing(new())) }
        #expect(try await rewrap.forgetUnusedKeys() == 1)
        let alone = try database.store(KeyRing(new()))
        for record in records { #expect(try await alone.record(for: reference(record)) == record) }
        #expect(throws: (any Error).self) { _ = try database.store(KeyRing(old())) }
    }

    private static func keepsAnOldKeyThatIsStillNeeded(_ database: Database) async throws {
        let record = try SampleKeys.record(1)
        _ = try await database.maintenance(KeyRing(old())).store([KeyImport(record: record)])
        let ring = try #require(KeyRing(current: new(), older: [old()]))
        #expect(try await database.maintenance(ring).forgetUnusedKeys() == 0)
        #expect(try await database.maintenance(ring).key(record.keyID)?.record == record)
    }

    /// A process that opens the database with a wrong key is refused. This does not make the database refuse other
    /// processes.
    private static func leavesNoTraceOfAKeyThatDoesNotBelong(_ database: Database) async throws {
        let record = try SampleKeys.record(1)
        _ = try await database.maintenance(KeyRing(old())).store([KeyImport(record: record)])
        for stranger in [try new(), try sealing(0x22, version: 1)] {
            #expect(throws: (any Error).self) { _ = try database.store(KeyRing(stranger)) }
        }
        #expect(try await database.maintenance(KeyRing(old())).key(record.keyID)?.record == record)
    }

    private static func storesABatchWholeOrNotAtAll(_ database: Database) async throws {
        let maintenance = try database.maintenance(KeyRing(old()))
        let (shared, own) = (try AssetID(bytes: Array("shared".utf8)), try AssetID(bytes: Array("own".utf8)))
        let records = try records(1...3)
        let imports = records.map { KeyImport(record: $0, aliases: [shared]) }
        await #expect(throws: StoreError.aliasTaken(by: records[0].keyID)) { try await maintenance.store(imports) }
        #expect(try await maintenance.count() == 0)
        #expect(try await maintenance.store([imports[0]]) == 1)
        #expect(try await maintenance.store([imports[0]]) == 0)
        // An existing key gets a further alias, and a key that is repeated in the batch is stored once.
        let more =
            [KeyImport(record: records[0], aliases: [shared, own])] + records[1...].map { KeyImport(record: $0) }
        #expect(try await maintenance.store(more + [more[2]]) == 2)
        #expect(try await maintenance.count() == 3)
        #expect(try await maintenance.key(records[0].keyID)?.aliases == [own, shared])
    }

    private static func refusesAnotherKeyInABatch(_ database: Database) async throws {
        let maintenance = try database.maintenance(KeyRing(old()))
        let record = try SampleKeys.record(1)
        #expect(try await maintenance.store([KeyImport(record: record)]) == 1)
        let imports = [
            KeyImport(record: try SampleKeys.record(2)), KeyImport(record: try SampleKeys.record(1, key: 77)),
        ]
        await #expect(throws: StoreError.keyIDTaken(record.keyID)) { try await maintenance.store(imports) }
        #expect(try await maintenance.count() == 1)
    }

    private static func withdrawsAndDeletes(_ database: Database) async throws {
        let record = try SampleKeys.record(1)
        let alias = try AssetID(bytes: Array("movie-hd".utf8))
        let maintenance = try database.maintenance(KeyRing(old()))
        _ = try await maintenance.store([KeyImport(record: record, aliases: [alias])])
        let store = try database.store(KeyRing(old()))
        try await maintenance.set(.withdrawn, of: record.keyID)
        #expect(try await store.record(for: AssetReference(alias)) == nil)
        try await maintenance.set(.live, of: record.keyID)
        #expect(try await store.record(for: AssetReference(alias)) == record)
        let other = try SampleKeys.record(2).keyID
        #expect(try await !maintenance.remove(alias: alias, of: other))
        #expect(try await store.record(for: AssetReference(alias)) == record)
        #expect(try await maintenance.remove(alias: alias, of: record.keyID))
        #expect(try await maintenance.key(record.keyID)?.aliases.isEmpty == true)
        #expect(try await !maintenance.remove(alias: alias, of: record.keyID))
        _ = try await store.addAlias(alias, to: record.keyID)
        try await maintenance.delete(record.keyID)
        #expect(try await store.record(for: AssetReference(alias)) == nil)
        #expect(try await maintenance.key(record.keyID) == nil)
        await #expect(throws: StoreError.keyUnknown(record.keyID)) { try await maintenance.delete(record.keyID) }
        await #expect(throws: StoreError.keyUnknown(record.keyID)) {
            try await maintenance.set(.live, of: record.keyID)
        }
    }

    private static func withdrawsAKeyWhoseSealIsBroken(_ database: Database) async throws {
        let record = try SampleKeys.record(1)
        let maintenance = try database.maintenance(KeyRing(old()))
        _ = try await maintenance.store([KeyImport(record: record)])
        let (store, reference) = (try database.store(KeyRing(old())), try reference(record))
        let broken = StoreError.sealBroken(record.keyID)
        try database.alter(.sealed([UInt8](repeating: 0, count: 60)), record.keyID.bytes)
        await #expect(throws: broken) { try await store.record(for: reference) }
        try await maintenance.set(.withdrawn, of: record.keyID)
        #expect(try await store.record(for: reference) == nil)
        await #expect(throws: broken) { try await maintenance.set(.live, of: record.keyID) }
        // The state is sealed too, so the seal of the live key does not open for the withdrawn one.
        try database.alter(.sealed(old().seal(record).bytes), record.keyID.bytes)
        await #expect(throws: broken) { try await maintenance.set(.live, of: record.keyID) }
    }

    // MARK: Checking

    private static func findings(_ maintenance: any KeyMaintenance, limit: Int) async throws -> [KeyFinding] {
        var (position, findings) = ([UInt8]?.none, [KeyFinding]())
        repeat {
            let step = try await maintenance.check(after: position, limit: limit)
            (position, findings) = (step.last, findings + step.findings)
        } while position != nil
        return findings
    }

    private static func findsEveryAlteredByteOfASeal(_ database: Database) async throws {
        let sealing = try old()
        let records = try records(1...3)
        let maintenance = try database.maintenance(KeyRing(sealing))
        _ = try await maintenance.store(records.map { KeyImport(record: $0) })
        #expect(try await findings(maintenance, limit: 2) == [])
        let (sealed, kid) = (try sealing.seal(records[1]).bytes, records[1].keyID.bytes)
        for place in sealed.indices {
            var altered = sealed
            altered[place] ^= 0x40
            try database.alter(.sealed(altered), kid)
            #expect(try await findings(maintenance, limit: 2) == [.sealBroken(keyID: kid)], "byte \(place)")
        }
        try database.alter(.sealed(sealed), kid)
        #expect(try await findings(maintenance, limit: 2) == [])
    }

    private static func findsExchangedAndAlteredRecords(_ database: Database) async throws {
        let sealing = try old()
        let records = try records(1...6)
        let maintenance = try database.maintenance(KeyRing(sealing))
        _ = try await maintenance.store(records.map { KeyImport(record: $0) })
        let kids = records.map(\.keyID.bytes)
        // Two valid seals are exchanged.
        try database.alter(.sealed(sealing.seal(records[1]).bytes), kids[0])
        try database.alter(.sealed(sealing.seal(records[0]).bytes), kids[1])
        try database.alter(.contentID("another"), kids[2])
        try database.alter(.periodIndex(77), kids[3])
        try database.alter(.scheme("none"), kids[4])
        // The key gets another key id, which is not in the store.
        var other = kids[5]
        other[0] = 0xFF
        try database.alter(.keyID(other), kids[5])
        let expected: [KeyFinding] =
            kids[0...3].map { .sealBroken(keyID: $0) } + [.malformed(keyID: kids[4]), .sealBroken(keyID: other)]
        #expect(try await findings(maintenance, limit: 4) == expected)
    }
}
