import ByteCoding
import ContentKeys
import EventLoops
import KeyCrypto
import StoragePostgreSQL
import StorageSQLite
import TestSupport

/// Measures a store with many keys: the time of an import, the time to open the store again, and the cost of a look-up.
///
/// The reference for look-ups is the same statements on the same data by bare calls of `sqlite3` and libpq.
struct KeyBenchmark {
    private static let goal = 0.7
    private let plan: BenchmarkPlan
    private let keyCount: UInt64
    private let ring: KeyRing

    init(_ plan: BenchmarkPlan) throws {
        self.plan = plan
        keyCount = plan.isShort ? 50_000 : 1_000_000
        ring = KeyRing(KeySealing(keyEncryptionKey: try AES256GCMKey(SecretBytes.random(count: 32)), version: 1))
    }

    func run() async throws {
        try await measureSQLite()
        guard let database = BenchmarkDatabase.find(for: "keys", schema: "bench_keys") else { return }
        try await measurePostgreSQL(database)
    }

    // MARK: SQLite

    private func measureSQLite() async throws {
        let folder = try TemporaryDirectory()
        let path: String = folder.path("latchkey.db")
        let maintenance = try SQLiteKeyMaintenance.open(path: path, keyRing: ring)
        try await importKeys("SQLite", into: maintenance)

        let before = try ProcessMemory.residentBytes()
        let start = ContinuousClock.now
        let store = try SQLiteKeyStore.open(path: path, keyRing: ring, maximumReaders: 1)
        guard try await store.record(for: reference(0)) != nil else { throw BenchmarkError("a key is missing") }
        let ready = start.duration(to: .now)
        let bare = try BareSQLite(path: path)
        var rates: (sealed: [Double], opened: [Double], bare: [Double]) = ([], [], [])
        for _ in 0..<plan.rounds {
            let numbers = randomNumbers()
            let references = try numbers.map(reference)
            let keyIDs = numbers.map { Self.keyID($0).bytes }
            rates.bare.append(try rate { index in bare.lookUp(keyIDs[index % keyIDs.count]) > 100 })
            rates.sealed.append(
                try rate { index in try store.stored(for: references[index % references.count]) != nil })
            rates.opened.append(
                try await asyncRate { index in try await store.record(for: references[index % references.count]) != nil
                })
        }
        let growth = try ProcessMemory.residentBytes() - before
        report("SQLite", ready, growth, fileSize: try folder.size("latchkey.db"))
        report("SQLite, one caller", rates.sealed, rates.opened, against: rates.bare, "sqlite3")
    }

    // MARK: PostgreSQL

    private func measurePostgreSQL(_ database: BenchmarkDatabase) async throws {
        // Both sides use one connection.
        let settings = try database.settings { $0.readers = 1 }
        let importing = try PostgreSQLStore.open(settings, keyRing: ring)
        try await importKeys("PostgreSQL", into: importing)
        importing.close()

        let before = try ProcessMemory.residentBytes()
        let start = ContinuousClock.now
        let store = try PostgreSQLStore.open(settings, keyRing: ring)
        defer { store.close() }
        guard try await store.record(for: reference(0)) != nil else { throw BenchmarkError("a key is missing") }
        let ready = start.duration(to: .now)
        let columns = """
            kid, content_id, track_label, period_index, scheme, state, created_at, content_type, least_hdcp, \
            least_security_level, key_version, sealed
            """
        let bare = try database.bare(
            connections: 1,
            [
                """
                SELECT \(columns) FROM content_key
                WHERE kid = coalesce((SELECT kid FROM asset_alias WHERE alias = $1), $1)
                """
            ])
        let group = try EventLoopGroup(count: 1)
        defer { group.stop(within: .seconds(5)) }
        for inFlight in [1, 32] {
            let load = ConcurrentLoad(group.loops[0], inFlight: inFlight)
            var rates: (sealed: [Double], opened: [Double], bare: [Double]) = ([], [], [])
            for _ in 0..<plan.rounds {
                let numbers = randomNumbers()
                let references = try numbers.map(reference)
                let keyIDs = numbers.map { Self.keyID($0).bytes }
                var next = 0
                rates.bare.append(
                    try bare.rate(
                        for: .seconds(plan.secondsPerRound), inFlight: inFlight, statementCount: 1, rowsExpected: 1
                    ) {
                        next += 1
                        return keyIDs[next % keyIDs.count]
                    })
                rates.sealed.append(
                    load.rate(for: .seconds(plan.secondsPerRound)) { number in
                        let found = try await store.stored(for: references[Int(number) % references.count])
                        guard found != nil else { throw BenchmarkError("a key is missing") }
                    })
                rates.opened.append(
                    load.rate(for: .seconds(plan.secondsPerRound)) { number in
                        let found = try await store.record(for: references[Int(number) % references.count])
                        guard found != nil else { throw BenchmarkError("a key is missing") }
                    })
            }
            report("PostgreSQL, \(inFlight) at once", rates.sealed, rates.opened, against: rates.bare, "libpq")
        }
        report("PostgreSQL", ready, try ProcessMemory.residentBytes() - before, fileSize: nil)
    }

    // MARK: Parts

    private func importKeys(_ name: String, into maintenance: any KeyMaintenance) async throws {
        let start = ContinuousClock.now
        for first in stride(from: 0, to: keyCount, by: 1000) {
            let batch = try (first..<min(first + 1000, keyCount)).map { KeyImport(record: try Self.record($0)) }
            guard try await maintenance.store(batch) == batch.count else {
                throw BenchmarkError("a key existed already")
            }
        }
        let seconds = start.duration(to: .now) / .seconds(1)
        print(
            "keys, \(name): \(keyCount) imported in \(formatted(seconds, decimals: 1)) s, \(formatted(Double(keyCount) / seconds))/s"
        )
    }

    private func report(_ name: String, _ ready: Duration, _ growth: Int, fileSize: Int?) {
        let size = fileSize.map { ", \(Int($0 / 1_000_000)) MB of file" } ?? ""
        print(
            """
            keys, \(name): open to first look-up \(formatted(ready / .milliseconds(1), decimals: 1)) ms, \
            \(formatted(Double(growth) / 1_000_000, decimals: 1)) MB of memory for \(keyCount) keys\(size)
            """)
    }

    private func report(
        _ name: String, _ sealed: [Double], _ opened: [Double], against bare: [Double], _ library: String
    ) {
        func ratio(_ rates: [Double]) -> String { formatted(zip(rates, bare).map { $0 / $1 }.median, decimals: 2) }
        print(
            """
            keys, \(name): \(formatted(sealed.median)) look-ups/s, \(ratio(sealed)) of bare \(library) \
            (\(formatted(bare.median))/s; goal \(Self.goal)); with the seal opened \(formatted(opened.median))/s, \(ratio(opened))
            """)
    }

    /// The calls per second of one caller.
    private func asyncRate(_ body: (Int) async throws -> Bool) async throws -> Double {
        let start = ContinuousClock.now
        var count = 0
        while start.duration(to: .now) < .seconds(plan.secondsPerRound) {
            for _ in 0..<100 {
                guard try await body(count) else { throw BenchmarkError("a key is missing") }
                count += 1
            }
        }
        return Double(count) / (start.duration(to: .now) / .seconds(1))
    }

    private func rate(_ body: (Int) throws -> Bool) throws -> Double {
        let start = ContinuousClock.now
        var count = 0
        while start.duration(to: .now) < .seconds(plan.secondsPerRound) {
            for _ in 0..<100 {
                guard try body(count) else { throw BenchmarkError("a key is missing") }
                count += 1
            }
        }
        return Double(count) / (start.duration(to: .now) / .seconds(1))
    }

    private func randomNumbers() -> [UInt64] { (0..<100_000).map { _ in UInt64.random(in: 0..<keyCount) } }

    /// Key ids that are distributed like random ones.
    private static func keyID(_ number: UInt64) -> KeyID {
        let mixed = (number &+ 1) &* 0x9E37_79B9_7F4A_7C15
        return KeyID(words: Bytes16(high: mixed ^ mixed >> 29, low: number))
    }

    private func reference(_ number: UInt64) throws -> AssetReference {
        AssetReference(try AssetID(bytes: Self.keyID(number).bytes))
    }

    private static func record(_ number: UInt64) throws -> ContentKeyRecord {
        try ContentKeyRecord(
            attributes: ContentKeyAttributes(
                keyID: keyID(number), contentID: ContentID("content-\(number)"), createdAt: 1_800_000_000),
            key: ContentKey(SecretBytes(copying: Bytes16(high: 7, low: number).bytes)),
            iv: Bytes16(high: 9, low: number))
    }
}
