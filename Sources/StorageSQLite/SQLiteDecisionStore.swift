import ByteCoding
package import ContentKeys
package import EventLoops
package import Records
import Synchronization
import Telemetry

/// Stores license decisions, revocations, challenges and the ledger of one node in a SQLite file.
///
/// One thread writes for all loops. It takes the waiting requests, runs them in one transaction, and answers when the
/// transaction is durable (`synchronous=FULL`). A call suspends and never blocks its thread.
///
/// A call throws `unavailable(.busy)` if too many requests wait. It throws `unavailable` with the cause if the disk
/// fails, is full or hangs, or if the file was replaced. After such an error the caller must not answer its client,
/// although the decision may have been recorded.
///
/// Other processes may read and write the file too, but only one daemon at a time can hold its lock.
package final class SQLiteDecisionStore: DecisionStore, CellStore, AccountRecords, DecisionKeeping {
    package struct Options: Sendable {
        /// The largest number of requests that may wait.
        package var queueLengthMaximum = 8192
        /// The largest number of requests that become durable together.
        package var batchSizeMaximum = 1024
        /// How long a write waits for another process's write, in milliseconds.
        package var busyTimeoutMilliseconds: Int32 = 5000
        /// Whether this store is the node itself, of which there is one at a time. False for a tool that writes beside
        /// it.
        package var locksLedger = true
        /// How long a caller waits for the disk; nil if there is no limit.
        package var patience: Duration?
        /// Returns the time by which records have ended, and the time by which ended records may be deleted. The
        /// writer's thread calls it. With the default, the store deletes nothing.
        package var settledTime: @Sendable () -> SettledTime = { .undeleted }

        package init() {}
    }

    private let queue: WriteQueue
    private let loops: [LoopContext]
    private let thread: JoinableThread
    private let watch: WriterWatch
    private let watchThread: JoinableThread
    private let settledTime: @Sendable () -> SettledTime
    let readers: Mutex<Readers>

    /// The connections of this store that only read.
    struct Readers: ~Copyable {
        var revocations: RevocationReader
        var kept: KeptDecisionReader
        var clock: ClockReader
        var cells: CellReader

        static func open(path: String, busyTimeoutMilliseconds: Int32) throws(StoreError) -> Readers {
            func connect() throws(StoreError) -> SQLiteConnection {
                try .open(path: path, busyTimeoutMilliseconds: busyTimeoutMilliseconds)
            }
            return try Readers(
                revocations: .prepare(on: connect()), kept: .prepare(on: connect()), clock: .prepare(on: connect()),
                cells: .prepare(on: connect()))
        }
    }

    private init(
        _ queue: WriteQueue, _ file: OpenedFile, loops: [LoopContext], thread: JoinableThread,
        readers: consuming sending Readers, settledTime: @escaping @Sendable () -> SettledTime
    ) throws(EventLoopError) {
        self.queue = queue
        self.loops = loops
        self.thread = thread
        self.readers = Mutex(readers)
        self.settledTime = settledTime
        let watch = WriterWatch(queue, file, loops: loops)
        self.watch = watch
        watchThread = JoinableThread(
            try NativeThread(name: "sqlite-watch") { watch.run() })
    }

    deinit {
        // This does not wait for the thread, because it may run on a loop. The writer's thread owns all that it needs,
        // and ends by itself.
        queue.stop()
    }

    /// Opens the file, or creates it with mode 0600, migrates its schema, and starts the writer's thread.
    ///
    /// Moves a write-ahead log that an error or a power cut has left into the database. Verifies the last batch of the
    /// ledger; verifying the whole ledger is an offline task. Throws `ledgerDiffers` if `chain` has not sealed that
    /// batch, and `inUse` if another daemon uses the ledger.
    ///
    /// - Parameter loops: The loops on which callers wait, in the order of their indices.
    package static func open(
        path: String, chain: LedgerChain, loops: [LoopContext] = [], options: Options = Options()
    ) throws(StorageOpeningError) -> SQLiteDecisionStore {
        try DatabaseFile.prepare(path)
        let lock: NodeLock? = options.locksLedger ? try NodeLock(databasePath: path) : nil
        var connection = try wrap(
            StorageOpeningError.store,
            try SQLiteConnection.open(path: path, busyTimeoutMilliseconds: options.busyTimeoutMilliseconds))
        try connection.migrate(path: path)
        try DatabaseFile.checkPermissions(path)
        let file = OpenedFile(path: path)
        let writer = try verified(connection, path: path, chain, options)
        try lock?.mark()
        let readers = try wrap(
            StorageOpeningError.store,
            try Readers.open(path: path, busyTimeoutMilliseconds: options.busyTimeoutMilliseconds))
        let queue = WriteQueue(
            lengthMaximum: options.queueLengthMaximum, batchSizeMaximum: options.batchSizeMaximum,
            patience: options.patience)
        let belongings = WriterBelongings(lock, writer)
        let thread = try startThread(queue, file, belongings, loops: loops) { () throws(StoreError) in
            guard file.isInPlace else { throw .unavailable(.replaced) }
            let connection = try SQLiteConnection.open(
                path: path, busyTimeoutMilliseconds: options.busyTimeoutMilliseconds)
            return try BatchWriter.prepare(on: connection, chain, settledTime: options.settledTime)
        }
        do throws(EventLoopError) {
            return try SQLiteDecisionStore(
                queue, file, loops: loops, thread: thread, readers: readers, settledTime: options.settledTime)
        } catch {
            queue.stop()
            thread.join()
            throw .threadNotStarted
        }
    }

    private static func verified(
        _ connection: consuming SQLiteConnection, path: String, _ chain: LedgerChain, _ options: Options
    ) throws(StorageOpeningError) -> BatchWriter {
        do throws(StoreError) {
            var writer = try BatchWriter.prepare(on: connection, chain, settledTime: options.settledTime)
            if try writer.verify(known: .start, mustEmptyLog: false) { return writer }
        } catch {
            throw .store(error)
        }
        throw .ledgerDiffers(path: path)
    }

    private static func startThread(
        _ queue: WriteQueue, _ file: OpenedFile, _ belongings: WriterBelongings, loops: [LoopContext],
        open: @escaping @Sendable () throws(StoreError) -> BatchWriter
    ) throws(StorageOpeningError) -> JoinableThread {
        do throws(EventLoopError) {
            return JoinableThread(
                try NativeThread(name: "sqlite-writer") {
                    if let writer = belongings.takeWriter() {
                        let lock = belongings.takeLock()
                        WriterLoop(queue, loops: loops, file: file, lock: lock, writer: writer, open: open).run()
                    }
                    // This comes after the connection is closed, because closing may wait for the disk too.
                    queue.end()
                })
        } catch {
            throw .threadNotStarted
        }
    }

    /// Finishes the waiting requests, closes the database and waits until it is closed.
    ///
    /// Later calls are refused. A second `stop` returns immediately. Must not be called on a loop.
    package func stop() {
        queue.stop()
        thread.join()
        watchThread.join()
    }

    /// Stops within a time limit, because a disk that hangs may keep the writer's thread for much longer.
    ///
    /// If the limit passes, answers all waiting requests with an error, abandons the thread and returns false.
    package func stop(within limit: Duration) -> Bool {
        queue.stop()
        guard queue.waitForEnd(until: queue.now + limit) else {
            watch.giveUp()
            return false
        }
        stop()
        return true
    }

    /// Whether writes currently become durable.
    package var condition: WriterCondition { queue.condition }

    /// Sets how long callers wait for the disk from now on.
    package func setPatience(_ patience: Duration) { queue.setPatience(patience) }

    /// Lets the next `open` create a new database although the node's database of this name is missing. Does nothing if
    /// the database exists.
    package static func allowNew(path: String) throws(StorageOpeningError) { try DatabaseFile.allowNew(path) }

    package var statistics: WriterStatistics { queue.statistics }
    package var writerTimes: WriterTimes { queue.times }

    // MARK: The protocols

    package func commit(_ decision: LicenseDecision) async throws(StoreError) -> DecisionOutcome {
        try await write(Self.request(decision)).ofAccount.outcome
    }

    private static func request(_ decision: LicenseDecision) -> WriteRequest {
        .account(.settle(decision), entry: decision.entry.encoded(), now: decision.now)
    }

    /// Commits all decisions in one transaction, which costs one sync of the disk.
    package func commit(together decisions: [LicenseDecision]) async -> [Result<DecisionOutcome, StoreError>] {
        do throws(StoreError) {
            return try await writeSeveral(decisions.map(Self.request)).map { answer in
                do throws(StoreError) { return .success(try answer.ofAccount.outcome) } catch { return .failure(error) }
            }
        } catch {
            return decisions.map { _ in .failure(error) }
        }
    }

    /// Appends entries in one transaction.
    package func append(together entries: [LedgerEntry]) async throws(StoreError) {
        _ = try await writeSeveral(entries.map { .entry($0.encoded(), at: $0.at) })
    }

    private func writeSeveral(_ requests: [WriteRequest]) async throws(StoreError) -> [WriteAnswer] {
        guard case .several(let answers) = try await write(.several(requests)) else {
            preconditionFailure("several requests are answered together")
        }
        return answers
    }

    package func perform(_ action: AccountAction, now: Int64) async throws(StoreError) -> AccountAnswer {
        try await write(.account(action, entry: nil, now: now)).ofAccount
    }

    package func make(_ change: AccountChange, recording entry: LedgerEntry) async throws(StoreError) -> Bool {
        try await write(.account(.change(change), entry: entry.encoded(), now: entry.at)).ofAccount.hasChanged
    }

    /// A decision and its entry are written in one transaction, so nothing is left to note.
    package func noteRecorded(_ request: Pseudonym) {}

    package func append(_ entry: LedgerEntry) async throws(StoreError) {
        _ = try await write(.entry(entry.encoded(), at: entry.at))
    }

    package func append(
        _ entry: LedgerEntry, keeping decision: LicenseDecision, mark: Int64?
    ) async throws(StoreError) {
        _ = try await write(
            .keptEntry(
                entry.encoded(), at: entry.at, spending: decision.encodedSpending(), mark: mark))
    }

    package func noteSettled(_ numbers: [Int64], mark: Int64) async throws(StoreError) {
        _ = try await write(.noteSettled(numbers, mark: mark))
    }

    package func forgetKept(before mark: Int64) async throws(StoreError) {
        _ = try await write(.forgetKept(before: mark))
    }

    // The following methods read on the caller's thread, as `revocations` does.

    package func owedDecisions(limit: Int) async throws(StoreError) -> [KeptDecision] {
        try readers.withLock { readers throws(StoreError) in try readers.kept.owed(limit: limit) }
    }

    package func keptDecisions(
        from mark: Int64, behind number: Int64, limit: Int
    ) async throws(StoreError) -> [KeptDecision] {
        try readers.withLock { readers throws(StoreError) in
            try readers.kept.kept(from: mark, behind: number, limit: limit)
        }
    }

    package func latestMark() async throws(StoreError) -> Int64 {
        try readers.withLock { readers throws(StoreError) in try readers.kept.latestMark() }
    }

    package func cell(_ key: CellKey, now: Int64) async throws(StoreError) -> StoredCells {
        let cells = try readers.withLock { readers throws(StoreError) in try readers.cells.cell(key) }
        return StoredCells(cells, time: time(now))
    }

    package func cells(
        _ kind: CellKey.Kind, of owner: Pseudonym, from first: Pseudonym?, now: Int64, limit: Int
    ) async throws(StoreError) -> StoredCells {
        let cells = try readers.withLock { readers throws(StoreError) in
            try readers.cells.cells(kind, of: owner, from: first, limit: limit)
        }
        return StoredCells(cells, time: time(now))
    }

    private func time(_ now: Int64) -> AccountTime { AccountTime(now: now, settled: settledTime().end) }

    // MARK: The clock

    /// Returns the stored record of the node's clock; nil for a new store. Reads on the caller's thread.
    package func clockRecord() throws(StoreError) -> ClockRecord? {
        try readers.withLock { readers throws(StoreError) in try readers.clock.record() }
    }

    /// Stores the record of the node's clock. Changes nothing if an operator has accepted the clock since
    /// `record.acceptance`.
    package func keep(_ record: ClockRecord) async throws(StoreError) {
        _ = try await write(.keepClock(record))
    }

    /// Stores that an operator accepts the wall clock, together with its ledger entry. `offset` is the wall clock minus
    /// the boot-time clock, in nanoseconds.
    package func acceptClock(offset: Int64, _ entry: LedgerEntry) async throws(StoreError) {
        _ = try await write(.acceptClock(offset: offset, entry: entry.encoded(), at: entry.at))
    }

    func change(_ request: WriteRequest) async throws(StoreError) -> Bool {
        guard case .done(let hasChanged) = try await write(request) else {
            preconditionFailure("a change is answered with whether it was one")
        }
        return hasChanged
    }

    private func write(_ request: WriteRequest) async throws(StoreError) -> WriteAnswer {
        let result = await withCheckedContinuation { (caller: CheckedContinuation<WriteResult, Never>) in
            let loopIndex = loops.firstIndex(where: \.isCurrent)
            let refusal = queue.append(request, caller: caller, loopIndex: loopIndex)
            if let refusal { caller.resume(returning: .failure(refusal)) }
        }
        return try result.get()
    }
}

/// The values that the writer's thread takes over when it begins.
private final class WriterBelongings: Sendable {
    private let lock: Mutex<NodeLock?>
    private let writer: Mutex<BatchWriter?>

    init(_ lock: consuming NodeLock?, _ writer: consuming BatchWriter) {
        self.lock = Mutex(lock)
        self.writer = Mutex(writer)
    }

    func takeLock() -> NodeLock? { lock.withLock { $0.take() } }

    func takeWriter() -> BatchWriter? { writer.withLock { $0.take() } }
}
