import ContentKeys
import StorageSQLite
import TestSupport
import Testing

/// Two processes use one file: the daemon serves while the command-line tool imports.
@Suite(.tags(.startsProcesses)) struct SeveralProcessesTests {
    @Test func showsWhatAnotherProcessStored() async throws {
        let folder = try TemporaryFolder()
        let path: String = folder.database
        let store = try SQLiteKeyStore.open(
            path: path, keyRing: SampleKeys.keyRing(), maximumReaders: 1)
        _ = try await store.insert(SampleKeys.record(1, content: "mine"))

        await #expect(processExitsWith: .success) { [path = path as String] in
            let theirs = try SQLiteKeyStore.open(
                path: path, keyRing: SampleKeys.keyRing(), maximumReaders: 1)
            guard try await theirs.record(for: SampleKeys.reference("mine")) != nil else { throw NotFound() }
            _ = try await theirs.insert(SampleKeys.record(2, content: "theirs"))
        }

        let found = try await store.record(for: SampleKeys.reference("theirs"))
        #expect(try found == SampleKeys.record(2, content: "theirs"))
        #expect(try await store.insert(SampleKeys.record(2, content: "theirs")) == .alreadyPresent)
    }

    private struct NotFound: Error {}
}
