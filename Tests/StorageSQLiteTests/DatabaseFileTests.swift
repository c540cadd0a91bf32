import Glibc
import TestSupport
import Testing

@testable import StorageSQLite

@Suite struct DatabaseFileTests {
    let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    func open() throws -> SQLiteKeyStore {
        try SQLiteKeyStore.open(
            path: folder.database, keyRing: SampleKeys.keyRing(), maximumReaders: 1)
    }

    @Test func isMadeForItsOwnerAlone() async throws {
        let store = try open()
        _ = try await store.insert(SampleKeys.record(1))
        for suffix in ["", "-wal", "-shm"] { #expect(Files.mode(folder.database + suffix) == 0o600) }
        withExtendedLifetime(store) {}
    }

    @Test(arguments: [0o600, 0o640, 0o400] as [UInt32])
    func isTakenWithNarrowPermissions(mode: UInt32) throws {
        _ = try open()
        try #require(Files.setMode(folder.database, mode))
        // Read-only is narrow enough here. SQLite itself refuses it later.
        #expect(throws: Never.self) { try DatabaseFile.prepare(folder.database) }
    }

    @Test(arguments: [0o644, 0o660, 0o604, 0o602, 0o601, 0o610, 0o700, 0o777, 0o4600, 0o2640] as [UInt32])
    func isRefusedWithWiderPermissions(mode: UInt32) throws {
        _ = try open()
        try #require(Files.setMode(folder.database, mode))
        #expect(throws: StorageOpeningError.permissionsTooWide(path: folder.database, mode: mode)) { try open() }
    }

    @Test(arguments: ["-wal", "-shm"])
    func isRefusedBesideAnOpenLog(suffix: String) throws {
        _ = try open()
        try #require(Files.write([], to: folder.database + suffix, mode: 0o600))
        try #require(Files.setMode(folder.database + suffix, 0o666))
        #expect(throws: StorageOpeningError.permissionsTooWide(path: folder.database + suffix, mode: 0o666)) {
            try open()
        }
    }
}
