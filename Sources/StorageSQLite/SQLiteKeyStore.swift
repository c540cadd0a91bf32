package import ByteCoding
package import ContentKeys
import Synchronization

/// The content keys of one node in a SQLite file.
///
/// Reads take a few microseconds and never wait for a writer (WAL). A write is durable when its call returns
/// (`synchronous=FULL`) and blocks its thread until then. Several processes may use one file at a time.
package final class SQLiteKeyStore: ContentKeyStore {
    /// The most entries that one page of a list has.
    package static let pageSizeMaximum = 1000

    let ring: KeyRing
    let readers: ReaderPool
    private let writer: Mutex<KeyWriter>
    /// Nil if no file is configured.
    let generation: KeyLossWatch?
    let writingThread = BlockingThread(name: "key-writer")

    private init(
        ring: KeyRing, readers: ReaderPool, writer: consuming sending KeyWriter, _ generation: KeyLossWatch?
    ) {
        self.ring = ring
        self.generation = generation
        self.readers = readers
        self.writer = Mutex(writer)
    }

    /// Opens the file, or makes it with mode 0600, and brings its schema up to date.
    ///
    /// - Parameters:
    ///   - maximumReaders: How many threads can read at once without waiting for one another; at least 1.
    ///   - generationFile: The file outside the database that shows whether random keys were lost; nil for none. What
    ///     is wrong with it shows when such a key is to be made, and stops nothing else.
    ///   - busyTimeoutMilliseconds: How long a write waits for another process's write.
    package static func open(
        path: String, keyRing ring: KeyRing, maximumReaders: Int, generationFile: String? = nil,
        busyTimeoutMilliseconds: Int32 = 5000
    ) throws(StorageOpeningError) -> SQLiteKeyStore {
        try DatabaseFile.prepare(path)
        var connection = try wrap(
            StorageOpeningError.store,
            try SQLiteConnection.open(path: path, busyTimeoutMilliseconds: busyTimeoutMilliseconds))
        try connection.migrate(path: path)
        try connection.establishProof(of: ring)
        // SQLite gives the log and its index the mode of the file; what lay there before is looked at too.
        try DatabaseFile.checkPermissions(path)
        do throws(StoreError) {
            let readers = try ReaderPool(count: maximumReaders) { () throws(StoreError) in
                try KeyReader(SQLiteConnection.open(path: path, busyTimeoutMilliseconds: busyTimeoutMilliseconds))
            }
            var writer = try KeyWriter(connection)
            let generation = generationFile.map { KeyLossWatch(path: $0) }
            try generation?.open(on: &writer)
            return SQLiteKeyStore(ring: ring, readers: readers, writer: writer, generation)
        } catch {
            throw .store(error)
        }
    }

    package func record(for reference: AssetReference) async throws(StoreError) -> ContentKeyRecord? {
        // The seal is opened when the reader is free again.
        try stored(for: reference)?.open(with: ring)
    }

    /// The same before its seal is opened.
    package func stored(for reference: AssetReference) throws(StoreError) -> StoredContentKey? {
        try readers.withReader { reader throws(StoreError) in try reader.row(for: reference) }
    }

    /// What of the wished keys is there, without a lock, and how many random keys were made by then; 0 if no file is
    /// configured.
    func lookUp(
        _ wishes: [KeyWish]
    ) throws(KeyProvisionError) -> (provisioning: KeyProvisioning, number: Int64) {
        try readers.withReader { reader throws(KeyProvisionError) in
            let provisioning = try reader.provisioning(of: wishes, with: ring)
            // Read last, so that it counts every key that was found.
            guard generation != nil else { return (provisioning, 0) }
            return (provisioning, try wrap(KeyProvisionError.store, try reader.keyNumber()))
        }
    }

    func withWriter<Value: Sendable, Failure: Error>(
        _ body: (inout KeyWriter) throws(Failure) -> Value
    ) throws(Failure) -> Value {
        try writer.withLock { writer throws(Failure) in try body(&writer) }
    }

    /// Runs what waits for the disk where no caller waits with it.
    func onWritingThread<Value: Sendable>(
        _ body: @escaping @Sendable () throws(KeyProvisionError) -> Value
    ) async throws(KeyProvisionError) -> Value {
        let outcome: Result<Value, KeyProvisionError>
        do throws(StoreError) {
            outcome = try await writingThread.run { Result { () throws(KeyProvisionError) in try body() } }
        } catch {
            throw .store(error)
        }
        return try outcome.get()
    }

    package func insert(_ record: ContentKeyRecord) async throws(StoreError) -> StoreOutcome {
        let row = try ContentKeyRow(sealing: record, with: ring.current)
        let present = try writer.withLock { writer throws(StoreError) in try writer.insert(row) }
        guard let present else { return .stored }
        guard try present.open(with: ring).isSameKey(as: record) else { throw .keyIDTaken(record.keyID) }
        return .alreadyPresent
    }

    package func addAlias(_ alias: AssetID, to keyID: KeyID) async throws(StoreError) -> StoreOutcome {
        try writer.withLock { writer throws(StoreError) in try writer.addAlias(alias, to: keyID) }
    }

    /// At most `pageSizeMaximum` entries, even with a larger limit.
    package func list(
        of contentID: ContentID?, after last: ContentKeyAttributes?, limit: Int
    ) async throws(StoreError) -> [ContentKeyAttributes] {
        let limit = min(max(limit, 1), Self.pageSizeMaximum)
        return try readers.withReader { reader throws(StoreError) in
            try reader.list(of: contentID, after: last, limit: limit)
        }
    }
}
