import ByteCoding
import ContentKeys
import Foundation
import Glibc
import StoreConformance
import TestSupport
import Testing

@testable import StorageSQLite

/// Tests of the file outside the database, which shows whether the database is older than the last random key.
@Suite struct KeyGenerationTests {
    private let folder: TemporaryFolder
    /// The folder of the file. A restored copy of the database's folder does not include it.
    private let outside: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        outside = try TemporaryFolder()
    }

    private var file: String { outside.database }

    private func open(_ file: String?, busyTimeout: Int32 = 5000) throws -> SQLiteKeyStore {
        try SQLiteKeyStore.open(
            path: folder.database, keyRing: SampleKeys.keyRing(), maximumReaders: 1, generationFile: file,
            busyTimeoutMilliseconds: busyTimeout)
    }

    private func open() throws -> SQLiteKeyStore { try open(file) }

    private func wish(
        _ number: UInt64, _ material: KeyWish.Material = .random, by identity: KeyWish.Identity = .keyID
    ) throws -> KeyWish {
        KeyProviderConformance.wish(try SampleKeys.record(number, content: "c-\(number)"), by: identity, material)
    }

    private func content() throws -> KeyGenerationFile.Content? { try KeyGenerationFile(path: file).read() }

    private func number() throws -> Int64 {
        var connection = try SQLiteConnection.open(path: folder.database, busyTimeoutMilliseconds: 5000)
        return try connection.readInteger("SELECT number FROM key_generation")
    }

    /// Waits until the store that the test has let go is closed. The thread that gave its last answer may have it for a
    /// moment longer, and then writes to the database as it closes it.
    private func awaitClosedStore() async throws {
        let path = folder.database
        let deadline = ContinuousClock.now + .seconds(60)
        while try Self.openFiles().contains(where: { $0.hasPrefix(path) }) {
            try #require(ContinuousClock.now < deadline, "the store stays open")
            await Task.yield()
        }
    }

    /// The targets of this process's descriptors.
    private static func openFiles() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").compactMap { number in
            try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(number)")
        }
    }

    /// Returns a copy of the database while no connection is open.
    private func copyDatabase() async throws -> [UInt8] {
        try await awaitClosedStore()
        var connection = try SQLiteConnection.open(path: folder.database, busyTimeoutMilliseconds: 5000)
        #expect(try connection.checkpoint(.truncate) == 0)
        return try #require(Files.read(folder.database))
    }

    /// Replaces the database by a copy, as an operator does while the daemon is stopped.
    private func restore(_ copy: [UInt8]) async throws {
        try await awaitClosedStore()
        for suffix in ["-wal", "-shm"] { _ = Files.remove(folder.database + suffix) }
        #expect(Files.write(copy, to: folder.database))
    }

    private func error(_ store: SQLiteKeyStore, _ wishes: [KeyWish]) async -> KeyProvisionError? {
        await #expect(throws: KeyProvisionError.self) { _ = try await store.provide(wishes) }
    }

    // MARK: Counting

    @Test func notesEveryRandomKeyBeforeItIsGivenOut() async throws {
        let store = try open()
        #expect(try content()?.number == 0)
        let installation = try #require(try content()).installation
        for number in 1...3 as ClosedRange<UInt64> {
            _ = try await store.provide([wish(number)])
            #expect(try content() == KeyGenerationFile.Content(installation: installation, number: Int64(number)))
        }
        // One call raises the file's number once. Keys that exist already are not counted.
        _ = try await store.provide([wish(1), wish(4), wish(5)])
        let after = try #require(try content()?.number)
        #expect(try after == number() && after >= 5)
        _ = try await store.provide([wish(1), wish(4), wish(5)])
        #expect(try content()?.number == after)
        #expect(try store.keyGenerationStanding() == .complete)
        #expect(Files.mode(file) == 0o600)
    }

    @Test func countsNoKeysThatCanBeMadeAgain() async throws {
        let store = try open()
        _ = try await store.provide([wish(1, .derived), wish(2, .imported)])
        _ = try await store.insert(SampleKeys.record(3))
        #expect(try content()?.number == 0)
        #expect(try number() == 0)
    }

    @Test func leavesNothingOfACallThatFails() async throws {
        let store = try open()
        _ = try await store.provide([wish(1)])
        let bad = KeyProviderConformance.wish(try SampleKeys.record(1, content: "other"))
        #expect(try await error(store, [wish(2), bad]) == .conflict(SampleKeys.keyID(1), .otherContent))
        #expect(try content()?.number == 1)
        #expect(try number() == 1)
        #expect(Files.read(file + ".new") == nil)
    }

    /// The daemon and a command have a store each. Every key is counted.
    @Test func isKeptUpBySeveralStores() async throws {
        let stores = [try open(), try open()]
        try await withThrowingTaskGroup { group in
            for number in 1...40 as ClosedRange<UInt64> {
                group.addTask { _ = try await stores[Int(number % 2)].provide([wish(number)]) }
            }
            try await group.waitForAll()
        }
        #expect(try content()?.number == 40)
        #expect(try number() == 40)
        for store in stores { #expect(try store.keyGenerationStanding() == .complete) }
        // Both stores want the same keys at the same time. Each key is counted once, although both stores have reserved
        // a number for it.
        try await withThrowingTaskGroup { group in
            for number in 0..<20 as Range<UInt64> {
                group.addTask { _ = try await stores[Int(number % 2)].provide([wish(100 + number / 2)]) }
            }
            try await group.waitForAll()
        }
        #expect(try content()?.number == number())
    }

    // MARK: Restored databases

    @Test func makesNoKeyThatMayBeLost() async throws {
        var store: SQLiteKeyStore? = try open()
        _ = try await store?.provide([wish(1)])
        store = nil
        let copy = try await copyDatabase()
        store = try open()
        _ = try await store?.provide([wish(2), wish(3)])
        store = nil
        try await restore(copy)

        let restored = try open()
        #expect(try restored.keyGenerationStanding() == .restored(missing: 2))
        for number in [2, 9] as [UInt64] {
            let wishes = try [wish(number), wish(1)]
            #expect(await error(restored, wishes) == .keyLost(wishes[0].record.contentID))
            #expect(try await restored.find(wishes).map { $0?.keyID } == [nil, SampleKeys.keyID(1)])
        }
        #expect(try await error(restored, [wish(4, by: .track)]) == .keyLost(ContentID("c-4")))
        // A conflict is more specific than the loss, so it is reported.
        let bad = KeyProviderConformance.wish(try SampleKeys.record(1, content: "other"))
        #expect(try await error(restored, [wish(4), bad]) == .conflict(SampleKeys.keyID(1), .otherContent))
        // Existing keys are still delivered, and keys that can be derived or imported are still stored.
        #expect(try await restored.provide([wish(1)]).map(\.isNew) == [false])
        #expect(try await restored.provide([wish(5, .derived), wish(6, .imported)]).map(\.isNew) == [true, true])
        #expect(try await restored.record(for: SampleKeys.reference("c-1")) != nil)
        // Opening the database again does not change this.
        #expect(try await error(open(), [wish(2)]) == .keyLost(ContentID("c-2")))
        #expect(try content()?.number == 3)

        #expect(try restored.acceptRestore() == .accepted(missing: 2))
        #expect(try restored.acceptRestore() == .notNeeded)
        #expect(try restored.keyGenerationStanding() == .complete)
        #expect(try await restored.provide([wish(2)]).map(\.isNew) == [true])
        #expect(try content()?.number == 4)
        // Another store, which had opened the file before, continues too.
        #expect(try await open().provide([wish(3)]).map(\.isNew) == [true])
    }

    /// A copy from before the use of the file, or of an older version, is recognised as older too.
    @Test func knowsACopyOfBeforeTheFile() async throws {
        var store: SQLiteKeyStore? = try open(nil)
        _ = try await store?.provide([wish(1)])
        store = nil
        let copy = try await copyDatabase()
        store = try open()
        #expect(try content()?.number == 1)
        _ = try await store?.provide([wish(2)])
        store = nil
        try await restore(copy)
        #expect(try await error(open(), [wish(3)]) == .keyLost(ContentID("c-3")))
        #expect(try open().acceptRestore() == .accepted(missing: 1))
        #expect(try await open().provide([wish(3)]).map(\.isNew) == [true])
    }

    /// A new database is used with the file of a lost one.
    @Test func knowsAnEmptyDatabaseInThePlaceOfALostOne() async throws {
        _ = try await open().provide([wish(1)])
        for suffix in ["", "-wal", "-shm"] { _ = Files.remove(folder.database + suffix) }
        #expect(try await error(open(), [wish(1)]) == .keyLost(ContentID("c-1")))
    }

    // MARK: Programs that do not count

    /// A program of the previous version, or one without the file, stores keys in the same database. No key is lost,
    /// and none is regarded as lost.
    @Test func goesOnBesideProgramsThatDoNotCount() async throws {
        let store = try open()
        _ = try await store.provide([wish(1)])
        let row = try StoredContentKey(
            sealing: SampleKeys.record(50, content: "c-50"), with: SampleKeys.keyRing().current)
        var old = try KeyWriter(SQLiteConnection.open(path: folder.database, busyTimeoutMilliseconds: 5000))
        #expect(try old.insert(row) == nil)
        #expect(try store.keyGenerationStanding() == .complete)
        #expect(try await store.provide([wish(50)]).map(\.isNew) == [false])
        #expect(try await store.provide([wish(2)]).map(\.isNew) == [true])
        // A program without the file counts its keys only in the database. They are delivered after the file has their
        // numbers.
        let unwatched = try open(nil)
        _ = try await unwatched.provide([wish(3), wish(4)])
        #expect(try content()?.number == 2)
        #expect(try store.keyGenerationStanding() == .complete)
        #expect(try await store.provide([wish(3)]).map(\.isNew) == [false])
        #expect(try content()?.number == 4)
    }

    // MARK: Files that cannot be used

    private static let strangeContents = [
        "", "{}", "12", "{\"installation\":\"00\",\"lastKey\":1}\n",
        "{\"installation\":\"00112233445566778899aabbccddeeff\",\"lastKey\":-1}\n",
        "{\"installation\":\"00112233445566778899aabbccddeeff\",\"lastKey\":\"1\"}\n",
        "{\"installation\":\"00112233445566778899aabbccddeeff\",\"lastKey\":1,\"more\":1}\n",
        String(repeating: " ", count: 2000),
    ]

    @Test(arguments: strangeContents) func makesNoKeyWithADamagedFile(text: String) async throws {
        let store = try open()
        _ = try await store.provide([wish(1)])
        #expect(Files.write(Array(text.utf8), to: file))
        for store in [store, try open()] {
            #expect(try await error(store, [wish(2)]) == KeyProvisionError(.malformed))
            #expect(try await store.provide([wish(1)]).map(\.isNew) == [false])
            #expect(try await store.provide([wish(1), wish(7, .derived)]).map(\.record.keyID).count == 2)
            #expect(try store.keyGenerationStanding() == .unknown(.malformed))
            #expect(throws: KeyProvisionError(.malformed)) { _ = try store.acceptRestore() }
        }
    }

    @Test func makesNoKeyWithoutItsFile() async throws {
        let store = try open()
        _ = try await store.provide([wish(1)])
        #expect(Files.remove(file))
        for store in [store, try open()] {
            #expect(try await error(store, [wish(2)]) == KeyProvisionError(.missing))
            #expect(try await store.provide([wish(1)]).map(\.isNew) == [false])
        }
        #expect(try store.acceptRestore() == .fileMade)
        #expect(try content()?.number == 1)
        #expect(try await store.provide([wish(2)]).map(\.isNew) == [true])
    }

    @Test func makesNoKeyWithTheFileOfAnotherInstallation() async throws {
        let store = try open()
        _ = try await store.provide([wish(1)])
        let other = KeyGenerationFile.Content(installation: Bytes16(high: 1, low: 2), number: 0)
        try KeyGenerationFile(path: file).write(other)
        for store in [store, try open()] {
            #expect(try await error(store, [wish(2)]) == KeyProvisionError(.otherInstallation))
            #expect(throws: KeyProvisionError(.otherInstallation)) { _ = try store.acceptRestore() }
        }
        #expect(try content() == other)
    }

    /// The fault is detected before a key is stored.
    @Test func makesNoKeyIfTheFileCannotBeReplaced() async throws {
        let path = "/dev/full/last-key"
        let store = try open(path)
        guard case .store(.unavailable(.keyGeneration(.notWritable))) = await error(store, [try wish(1)]) else {
            Issue.record("a key was made")
            return
        }
        #expect(try number() == 0)
        #expect(try await store.provide([wish(2, .derived)]).map(\.isNew) == [true])
        #expect(try await store.provide([wish(2, .derived)]).map(\.isNew) == [false])
    }

    /// No key is stored, and the next attempt succeeds.
    @Test func makesNoKeyIfNothingCanBeWrittenBesideTheFile() async throws {
        let store = try open()
        _ = try await store.provide([wish(1)])
        #expect(unsafe symlink("/dev/null", file + ".new") == 0)
        #expect(try await error(store, [wish(2)]) == KeyProvisionError(.notWritable(errno: ELOOP)))
        _ = Files.remove(file + ".new")
        #expect(try number() == 1)
        #expect(try await store.provide([wish(1)]).map(\.isNew) == [false])
        #expect(try await store.provide([wish(2)]).map(\.isNew) == [true])
        #expect(try content()?.number == 2)
    }

    /// The last step fails after the commit. The key is then stored, but not delivered until the file has its number.
    @Test func givesOutNoKeyWhoseNumberTheFileLacks() async throws {
        let store = try open()
        _ = try await store.provide([wish(1)])
        // A folder in the place of the file cannot be replaced by a file.
        let kept = try #require(try content())
        let generation = KeyGenerationFile(path: file)
        var writer = try KeyWriter(SQLiteConnection.open(path: folder.database, busyTimeoutMilliseconds: 5000))
        let row = try StoredContentKey(
            sealing: SampleKeys.record(2, content: "c-2"), with: SampleKeys.keyRing().current)
        _ = try writer.insert(row)
        #expect(try writer.raiseKeyCounter(to: 2) == 2)
        #expect(Files.remove(file))
        #expect(unsafe mkdir(file, 0o700) == 0)
        guard case .store(.unavailable(.keyGeneration(.notReadable))) = await error(store, [try wish(2)]) else {
            Issue.record("the key was given out")
            return
        }
        #expect(unsafe rmdir(file) == 0)
        try generation.write(kept)
        #expect(try await store.provide([wish(2)]).map(\.isNew) == [false])
        #expect(try content()?.number == 2)
    }

    /// A process is killed between the commit and the replacement of the file. The next start updates the file, and
    /// regards no key as lost.
    @Test func catchesUpAfterAProcessThatDied() async throws {
        _ = try await open().provide([wish(1)])
        var writer = try KeyWriter(SQLiteConnection.open(path: folder.database, busyTimeoutMilliseconds: 5000))
        #expect(try writer.raiseKeyCounter(to: 7) == 7)
        let store = try open()
        #expect(try content()?.number == 7)
        #expect(try await store.provide([wish(2)]).map(\.isNew) == [true])
        // A process is killed during the first use: the file exists, but the database is not linked to it.
        var connection = try SQLiteConnection.open(path: folder.database, busyTimeoutMilliseconds: 5000)
        try connection.execute("UPDATE key_generation SET installation = NULL")
        let again = try open()
        #expect(try again.keyGenerationStanding() == .complete)
        #expect(try await again.provide([wish(3)]).map(\.isNew) == [true])
    }

    /// While the file's disk hangs or its lock is held, the ledger of licences can still write to the database.
    @Test func holdsNoLockOfTheDatabaseWhileItWaitsForTheFile() async throws {
        let store = try open()
        let provided = try KeyGenerationFile(path: file).withLock {
            () throws(KeyProvisionError) -> Task<[ProvidedKey], any Error> in
            let task = Task { try await store.provide([wish(1)]) }
            do throws(StoreError) {
                var other = try SQLiteConnection.open(path: folder.database, busyTimeoutMilliseconds: 5000)
                for _ in 0..<20 {
                    try other.beginImmediate()
                    try other.commit()
                }
            } catch {
                throw .store(error)
            }
            return task
        }
        #expect(try await provided.value.map(\.isNew) == [true])
    }
}
