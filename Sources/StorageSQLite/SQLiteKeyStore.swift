package import ByteCoding
package import ContentKeys
package import Records
import Synchronization

/// Stores the content keys of one node in a SQLite file.
///
/// Reads take a few microseconds and never wait for a writer (WAL). A write blocks its thread, and is durable when its
/// call returns (`synchronous=FULL`). Several processes may use one file at the same time.
package final class SQLiteKeyStore: ContentKeyStore {
    /// The largest number of entries in one page of a list.
    package static let pageSizeMaximum = 1000

    let ring: KeyRing
    let readers: ReaderPool
    private let writer: Mutex<KeyWriter>
    let writingThread = BlockingThread(name: "key-writer")

    private init(ring: KeyRing, readers: ReaderPool, writer: consuming sending KeyWriter) {
        self.ring = ring
        self.readers = readers
        self.writer = Mutex(writer)
    }

    /// Opens the file, or creates it with mode 0600, and migrates its schema.
    ///
    /// - Parameters:
    ///   - maximumReaders: The number of threads that can read at the same time without waiting for one another; at
    ///     least 1.
    ///   - busyTimeoutMilliseconds: How long a write waits for another process's write.
    package static func open(
        path: String, keyRing ring: KeyRing, secrets: SharedSecrets = .none, maximumReaders: Int,
        busyTimeoutMilliseconds: Int32 = 5000
    ) throws(StorageOpeningError) -> SQLiteKeyStore {
        try DatabaseFile.prepare(path)
        var connection = try wrap(
            StorageOpeningError.store,
            try SQLiteConnection.open(path: path, busyTimeoutMilliseconds: busyTimeoutMilliseconds))
        try connection.migrate(path: path)
        try connection.establishProof(of: ring)
        do throws(SecretProofError<StoreError>) {
            try secrets.establish(in: &connection)
        } catch {
            throw StorageOpeningError(error)
        }
        // SQLite gives the log and its index the mode of the database file. This also checks a log and an index that
        // existed before.
        try DatabaseFile.checkPermissions(path)
        do throws(StoreError) {
            let readers = try ReaderPool(count: maximumReaders) { () throws(StoreError) in
                try .prepare(on: .open(path: path, busyTimeoutMilliseconds: busyTimeoutMilliseconds))
            }
            return SQLiteKeyStore(ring: ring, readers: readers, writer: try .prepare(on: connection))
        } catch {
            throw .store(error)
        }
    }

    package func record(for reference: AssetReference) async throws(StoreError) -> ContentKeyRecord? {
        // The reader is released before the seal is opened.
        try stored(for: reference)?.open(with: ring)
    }

    /// Returns the stored key of a reference before its seal is opened.
    package func stored(for reference: AssetReference) throws(StoreError) -> StoredContentKey? {
        try readers.withReader { reader throws(StoreError) in try reader.row(for: reference) }
    }

    /// Returns which of the wished keys exist. Takes no lock.
    func lookUp(_ wishes: [KeyWish]) throws(KeyProvisionError) -> KeyProvisioning {
        try readers.withReader { reader throws(KeyProvisionError) in
            try reader.provisioning(of: wishes, with: ring)
        }
    }

    func withWriter<Value: Sendable, Failure: Error>(
        _ body: (inout KeyWriter) throws(Failure) -> Value
    ) throws(Failure) -> Value {
        try writer.withLock { writer throws(Failure) in try body(&writer) }
    }

    /// Runs a call that waits for the disk on the writing thread, so that no caller's thread waits.
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
        return try outcome(of: record, present)
    }

    package func insertOnly(_ record: ContentKeyRecord) async throws(StoreError) -> StoreOutcome? {
        let row = try ContentKeyRow(sealing: record, with: ring.current)
        switch try writer.withLock({ writer throws(StoreError) in try writer.insertOnly(row) }) {
        case .stored: return .stored
        case .present(let present): return try outcome(of: record, present)
        case .notOnly: return nil
        }
    }

    /// Compares the stored key that has the id of a record with the record. Nil stands for no such key.
    private func outcome(
        of record: ContentKeyRecord, _ present: ContentKeyRow?
    ) throws(StoreError) -> StoreOutcome {
        guard let present else { return .stored }
        guard try present.open(with: ring).isSameKey(as: record) else { throw .keyIDTaken(record.keyID) }
        return .alreadyPresent
    }

    package func addAlias(_ alias: AssetID, to keyID: KeyID) async throws(StoreError) -> StoreOutcome {
        try writer.withLock { writer throws(StoreError) in try writer.addAlias(alias, to: keyID) }
    }

    /// Returns at most `pageSizeMaximum` entries, even if `limit` is larger.
    package func list(
        of contentID: ContentID?, after last: ContentKeyAttributes?, limit: Int
    ) async throws(StoreError) -> [ContentKeyAttributes] {
        let limit = min(max(limit, 1), Self.pageSizeMaximum)
        return try readers.withReader { reader throws(StoreError) in
            try reader.list(of: contentID, after: last, limit: limit)
        }
    }

    /// Returns at most `pageSizeMaximum` ids, even if `limit` is larger.
    package func contentIDs(in range: ContentIDRange, limit: Int) async throws(StoreError) -> [ContentID] {
        let limit = min(max(limit, 1), Self.pageSizeMaximum)
        return try readers.withReader { reader throws(StoreError) in try reader.contentIDs(in: range, limit: limit) }
    }
}

/// A fixed number of reading connections, each with its own lock.
///
/// A read takes microseconds. If there are as many readers as reading threads, one reader is always free and no thread
/// waits.
final class ReaderPool: Sendable {
    private let slots: [Slot]
    private let turn = Atomic<Int>(0)

    /// Makes `count` readers; at least 1.
    init(count: Int, _ makeReader: () throws(StoreError) -> KeyReader) throws(StoreError) {
        precondition(count >= 1, "a pool has a reader")
        var slots: [Slot] = []
        for _ in 0..<count { slots.append(Slot(try makeReader())) }
        self.slots = slots
    }

    /// Runs `body` with a free reader. Waits if no reader is free.
    func withReader<Result: Sendable, Failure: Error>(
        _ body: (inout KeyReader) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        // Starting at a different slot each time keeps the threads apart.
        let first = turn.wrappingAdd(1, ordering: .relaxed).oldValue & Int.max
        for offset in 0..<slots.count {
            let slot = slots[(first % slots.count + offset) % slots.count]
            let result = try slot.reader.withLockIfAvailable { reader throws(Failure) in try body(&reader) }
            if let result { return result }
        }
        return try slots[first % slots.count].reader.withLock { reader throws(Failure) in try body(&reader) }
    }

    private final class Slot: Sendable {
        let reader: Mutex<KeyReader>

        init(_ reader: consuming sending KeyReader) {
            self.reader = Mutex(reader)
        }
    }
}

extension SQLiteKeyStore: LivePeriodStore {
    package func livePeriods(of contentID: ContentID) async throws(StoreError) -> LivePeriods? {
        try readers.withReader { reader throws(StoreError) in try reader.periods.livePeriods(of: contentID) }
    }

    /// Returns at most `pageSizeMaximum` contents, even if `limit` is larger.
    package func liveContents(after last: ContentID?, limit: Int) async throws(StoreError) -> [LiveContent] {
        let limit = min(max(limit, 1), Self.pageSizeMaximum)
        return try readers.withReader { reader throws(StoreError) in
            try reader.periods.liveContents(after: last, limit: limit)
        }
    }

    package func set(_ content: LiveContent) async throws(StoreError) -> Bool {
        try await write { writer throws(StoreError) in try writer.periods.set(content) }
    }

    package func note(_ periods: [KnownPeriod], of contentID: ContentID) async throws(StoreError) {
        guard !periods.isEmpty else { return }
        try await write { writer throws(StoreError) in
            for period in periods { try writer.periods.note(period, of: contentID) }
        }
    }

    /// Runs `body` in a durable transaction on the writing thread, so that no caller's thread waits for the disk.
    private func write<Value: Sendable>(
        _ body: @escaping @Sendable (inout KeyWriter) throws(StoreError) -> Value
    ) async throws(StoreError) -> Value {
        let outcome = try await writingThread.run {
            Result { () throws(StoreError) in
                try self.withWriter { writer throws(StoreError) in
                    try writer.transaction { writer throws(StoreError) in try body(&writer) }
                }
            }
        }
        return try outcome.get()
    }

    package func knownPeriods(of contentID: ContentID) async throws(StoreError) -> [KnownPeriod] {
        try readers.withReader { reader throws(StoreError) in try reader.periods.periods(of: contentID) }
    }

    package func periodKeys(
        of contentID: ContentID, in periods: ClosedRange<UInt32>
    ) async throws(StoreError) -> [ContentKeyAttributes] {
        try readers.withReader { reader throws(StoreError) in
            try reader.periods.keys(of: contentID, in: periods, limit: Self.periodKeysMaximum)
        }
    }

    package func toldEnds(after time: Int64) async throws(StoreError) -> [ContentID: Int64] {
        try readers.withReader { reader throws(StoreError) in
            try reader.periods.ends(after: time, limit: Self.toldPeriodsMaximum)
        }
    }
}

extension SQLiteKeyStore: KeyProvider {
    /// Returns the wished keys, and makes the missing ones.
    ///
    /// If all keys exist, nothing is written. Otherwise everything happens in one immediate transaction on a thread of
    /// its own.
    package func provide(_ wishes: [KeyWish]) async throws(KeyProvisionError) -> [ProvidedKey] {
        let present = try lookUp(wishes)
        if present.missing.isEmpty { return present.provided }
        return try await onWritingThread { () throws(KeyProvisionError) in
            try self.withWriter { writer throws(KeyProvisionError) in
                try writer.transaction(failure: KeyProvisionError.store) { writer throws(KeyProvisionError) in
                    let provisioning = try writer.provisioning(of: wishes, with: self.ring)
                    try writer.store(provisioning, with: self.ring)
                    return provisioning.provided
                }
            }
        }
    }

    package func find(_ wishes: [KeyWish]) async throws(KeyProvisionError) -> [ContentKeyRecord?] {
        try lookUp(wishes).provided.map { $0.isNew ? nil : $0.record }
    }
}

extension KeyWriter {
    /// Stores the missing keys. Runs within a transaction.
    mutating func store(_ provisioning: KeyProvisioning, with ring: KeyRing) throws(KeyProvisionError) {
        try wrap(
            KeyProvisionError.store, try checkPeriods(of: provisioning.missing.map(\.record.attributes)))
        for wish in provisioning.missing {
            let row = try wrap(
                KeyProvisionError.store, try ContentKeyRow(sealing: wish.record, with: ring.current))
            let present = try wrap(KeyProvisionError.store, try insertWithinTransaction(row))
            // The same transaction has found no such key, and no other connection writes during it.
            guard present == nil else { throw .store(.recordMalformed) }
        }
    }
}
