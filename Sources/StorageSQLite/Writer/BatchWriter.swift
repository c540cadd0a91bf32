import ContentKeys
import Records

/// The connection that writes decisions and the ledger. Each batch of requests is one transaction.
struct BatchWriter: ~Copyable {
    /// After so many pages the log is moved into the database.
    static let checkpointPages = 1000
    /// A log of so many pages is begun again even if readers must be waited for.
    static let logPagesMaximum = 16_384

    private var tables: DecisionTables
    private var ledger: LedgerWriter
    private var expired: ExpiredRows
    private var dataVersion: SQLiteStatement
    private var knownDataVersion: Int64 = 0
    private var pagesWritten = 0
    private var latestTime = Int64.min
    private(set) var connection: SQLiteConnection
    private let settledTime: @Sendable () -> SettledTime

    /// Takes a connection to a file whose schema is up to date.
    init(
        _ connection: consuming SQLiteConnection, _ chain: LedgerChain,
        settledTime: @escaping @Sendable () -> SettledTime
    ) throws(StoreError) {
        // Whole values first and fields after: a value that is not copyable cannot be abandoned half made.
        try connection.configureWriter()
        let tables = try DecisionTables(&connection)
        let ledger = try LedgerWriter(chain, &connection)
        let expired = try ExpiredRows(&connection)
        let dataVersion = try connection.prepare("PRAGMA data_version")
        self.tables = tables
        self.ledger = ledger
        self.expired = expired
        self.dataVersion = dataVersion
        self.settledTime = settledTime
        self.connection = connection
    }

    /// The end of the durable ledger.
    var link: LedgerLink { ledger.link }

    /// Makes sure that everything that can be read is durable, and that the ledger goes on from `known`; false if it
    /// does not.
    ///
    /// After a sync that failed, pages that never reached the disk may still be read, and later syncs would say nothing
    /// of them. So what the log holds is written once more, into the database file.
    mutating func verify(known: LedgerLink, mustEmptyLog: Bool) throws(StoreError) -> Bool {
        do throws(StoreError) {
            _ = try connection.checkpoint(.truncate)
        } catch {
            // Another process may be at work with the file when it is opened; it has no error behind it.
            guard error == .unavailable(.busy), !mustEmptyLog else { throw error }
        }
        return try ledger.verifyEnd(known: known)
    }

    // MARK: Batches

    /// Runs requests and commits: the answers, in the requests' order, and how many rows the ledger has got. When this
    /// throws, nothing of the batch is known to be durable, and what follows needs `verify` unless the error was `busy`
    /// or `diskFull`.
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

    /// Another connection may have written, to the ledger too.
    private mutating func noticeOthers() throws(StoreError) {
        defer { dataVersion.reset() }
        guard try dataVersion.step() else { throw .recordMalformed }
        let version = try dataVersion.integer(at: 0)
        guard version != knownDataVersion else { return }
        try ledger.readLink()
        knownDataVersion = version
    }

    // MARK: Between batches

    /// Moves the log into the database when it is long.
    mutating func checkpointIfDue() throws(StoreError) {
        let written = connection.takeWrittenPageCount()
        pagesWritten = written == .max ? Self.checkpointPages : pagesWritten + written
        guard pagesWritten >= Self.checkpointPages else { return }
        pagesWritten = 0
        do throws(StoreError) {
            if try connection.checkpoint(.passive) > Self.logPagesMaximum { _ = try connection.checkpoint(.restart) }
        } catch .unavailable(.busy) {
            // A reader is at work, or another process checkpoints: the next time, then.
        }
    }

    /// Whether `forgetPiece` may have something to do.
    var hasExpiredRows: Bool { deletionTime.map { expired.isDue(at: $0) } ?? false }

    /// Never later than the settled time: a request's own time may come from a clock that was stepped.
    private var deletionTime: Int64? { settledTime().deletion.map { min($0, latestTime) } }

    /// Forgets a little of what has ended by the time of the requests so far, as far as that time is settled; how many
    /// rows.
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
