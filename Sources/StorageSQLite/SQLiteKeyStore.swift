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

/// A fixed number of reading connections, each behind a lock of its own.
///
/// A read takes microseconds. With as many readers as threads that read, one of them is always free, and no thread
/// waits.
final class ReaderPool: Sendable {
    private let slots: [Slot]
    private let turn = Atomic<Int>(0)

    /// `count` is at least 1.
    init(count: Int, _ makeReader: () throws(StoreError) -> KeyReader) throws(StoreError) {
        precondition(count >= 1, "a pool has a reader")
        var slots: [Slot] = []
        for _ in 0..<count { slots.append(Slot(try makeReader())) }
        self.slots = slots
    }

    /// Lends a free reader; when none is free, waits for one.
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

    /// At most `pageSizeMaximum` contents, even with a larger limit.
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

    /// Makes durable what `body` does, if no caller waits for the disk.
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
    /// Keys that are all there cost no write. Otherwise everything happens in one immediate transaction, on a thread of
    /// its own.
    package func provide(_ wishes: [KeyWish]) async throws(KeyProvisionError) -> [ProvidedKey] {
        let (present, number) = try lookUp(wishes)
        let isNoted = generation?.isNoted(number) ?? true
        if present.missing.isEmpty, isNoted { return present.provided }
        return try await onWritingThread { () throws(KeyProvisionError) in
            try self.withWriter { writer throws(KeyProvisionError) in
                // The file says nothing of keys that can be made again.
                if let generation = self.generation, present.firstRandom != nil || !isNoted {
                    return try generation.store(wishes, on: &writer, with: self.ring)
                }
                return try writer.transaction(failure: KeyProvisionError.store) { writer throws(KeyProvisionError) in
                    let provisioning = try writer.provisioning(of: wishes, with: self.ring)
                    try writer.store(provisioning, with: self.ring)
                    return provisioning.provided
                }
            }
        }
    }

    package func find(_ wishes: [KeyWish]) async throws(KeyProvisionError) -> [ContentKeyRecord?] {
        try lookUp(wishes).provisioning.provided.map { $0.isNew ? nil : $0.record }
    }

    /// Whether random keys are lost, as far as the file of `keys.generationFile` says. Blocks.
    package func keyGenerationStanding() throws(StoreError) -> KeyGenerationStanding {
        guard let generation else { return .unwatched }
        return try withWriter { writer throws(StoreError) in generation.standing(of: try writer.keyCounter()) }
    }

    /// Takes the database for complete from now on, although keys are lost: contents without a key get new ones. Nil
    /// without a file. Blocks.
    package func acceptRestore() throws(KeyProvisionError) -> KeyRestoreConsent? {
        guard let generation else { return nil }
        return try withWriter { writer throws(KeyProvisionError) in try generation.acceptRestore(on: &writer) }
    }
}

extension KeyWriter {
    /// Stores what is missing, and counts the random keys among it. A part of a transaction.
    mutating func store(
        _ provisioning: KeyProvisioning, with ring: KeyRing
    ) throws(KeyProvisionError) {
        for wish in provisioning.missing {
            let row = try wrap(
                KeyProvisionError.store, try ContentKeyRow(sealing: wish.record, with: ring.current))
            let present = try wrap(KeyProvisionError.store, try insertWithinTransaction(row))
            // The transaction has looked for it, and no other connection writes meanwhile.
            guard present == nil else { throw .store(.recordMalformed) }
        }
        let count = provisioning.randomCount
        if count > 0 { try wrap(KeyProvisionError.store, try countRandomKeys(count)) }
    }
}
