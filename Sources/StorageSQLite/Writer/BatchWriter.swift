import ContentKeys
import Records

/// Writes decisions and the ledger on one connection. Each batch of requests is one transaction.
struct BatchWriter: ~Copyable {
    /// The number of written pages after which the log is moved into the database.
    static let checkpointPages = 1000
    /// The size of the log, in pages, from which a checkpoint waits for readers and restarts the log.
    static let logPagesMaximum = 16_384
    /// How long such a checkpoint waits. Requests read for microseconds. A backup may read for minutes, and licenses
    /// must not wait for it: the log grows until it is done.
    private static let readerPatienceMilliseconds: Int32 = 20

    private var tables: DecisionTables
    private var ledger: LedgerWriter
    private var expired: ExpiredRows
    private var dataVersion: SQLiteStatement
    private var knownDataVersion: Int64 = 0
    private var pagesWritten = 0
    private var latestTime = Int64.min
    private(set) var connection: SQLiteConnection
    private let settledTime: @Sendable () -> SettledTime

    /// Uses a connection to a file whose schema is up to date.
    static func prepare(
        on connection: consuming SQLiteConnection, _ chain: LedgerChain,
        settledTime: @escaping @Sendable () -> SettledTime
    ) throws(StoreError) -> BatchWriter {
        try connection.configureWriter()
        return try BatchWriter(
            tables: .prepare(on: &connection), ledger: .prepare(chain, on: &connection),
            expired: .prepare(on: &connection), dataVersion: connection.prepare("PRAGMA data_version"),
            connection: connection, settledTime: settledTime)
    }

    /// The end of the durable part of the ledger.
    var link: LedgerLink { ledger.link }

    /// Ensures that everything that can be read is durable. Returns whether the ledger continues from `known`.
    ///
    /// After a failed sync, SQLite may still read pages that never reached the disk, and later syncs do not report
    /// them. The content of the log is therefore written once more, into the database file.
    mutating func verify(known: LedgerLink, mustEmptyLog: Bool) throws(StoreError) -> Bool {
        do throws(StoreError) {
            _ = try connection.checkpoint(.truncate)
        } catch {
            // At opening, another process may be using the file. This is accepted, because no sync has failed before.
            guard error == .unavailable(.busy), !mustEmptyLog else { throw error }
        }
        return try ledger.verifyEnd(known: known)
    }

    // MARK: Batches

    /// Runs requests and commits. Returns the answers in the order of the requests, and the number of new ledger rows.
    ///
    /// If this throws, the batch may or may not be durable. The next batch then needs `verify`, unless the error was
    /// `busy` or `diskFull`.
    mutating func run(_ requests: [WriteRequest]) throws(StoreError) -> (answers: [WriteAnswer], rowCount: Int) {
        try connection.beginImmediate()
        do throws(StoreError) {
            try noticeOthers()
            var answers: [WriteAnswer] = []
            answers.reserveCapacity(requests.count)
            var time = Int64.min
            let endTime = settledTime().end
            for request in requests {
                answers.append(try tables.run(request, endTime: endTime, &ledger))
                time = max(time, request.time ?? .min)
            }
            try ledger.seal(at: time)
            try connection.commit()
            latestTime = max(latestTime, time)
            return (answers, ledger.committed())
        } catch {
            connection.rollBack()
            ledger.rolledBack()
            throw error
        }
    }

    /// Reads the ledger's end again if another connection has written to the file.
    private mutating func noticeOthers() throws(StoreError) {
        let version = try dataVersion.readInteger()
        guard version != knownDataVersion else { return }
        try ledger.readLink()
        knownDataVersion = version
    }

    // MARK: Between batches

    /// Moves the log into the database if the log is long.
    mutating func checkpointIfDue() throws(StoreError) {
        try checkpointIfDue(after: Self.checkpointPages, logPagesMaximum: Self.logPagesMaximum)
    }

    mutating func checkpointIfDue(after pages: Int, logPagesMaximum: Int) throws(StoreError) {
        let written = connection.takeWrittenPageCount()
        pagesWritten = written == .max ? pages : pagesWritten + written
        guard pagesWritten >= pages else { return }
        pagesWritten = 0
        do throws(StoreError) {
            guard try connection.checkpoint(.passive) > logPagesMaximum else { return }
            _ = try connection.checkpoint(.restart, patienceMilliseconds: Self.readerPatienceMilliseconds)
        } catch .unavailable(.busy) {
            // A reader is active, or another process runs a checkpoint. The next call tries again.
        }
    }

    /// Whether `forgetPiece` may have rows to delete.
    var hasExpiredRows: Bool { deletionTime.map { expired.isDue(at: $0) } ?? false }

    /// The time up to which ended rows may be deleted; nil if none may be. It is never later than the settled time,
    /// because the clock behind a request's time may have been set wrongly.
    private var deletionTime: Int64? { settledTime().deletion.map { min($0, latestTime) } }

    /// Deletes one piece of the rows that have ended by `deletionTime`. Returns the number of deleted rows.
    mutating func forgetPiece() throws(StoreError) -> Int {
        guard let deletionTime else { return 0 }
        try connection.beginImmediate()
        do throws(StoreError) {
            let count = try expired.deletePiece(at: deletionTime)
            try connection.commit()
            return count
        } catch {
            connection.rollBack()
            throw error
        }
    }
}
