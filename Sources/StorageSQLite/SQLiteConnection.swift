import CSQLite
import ContentKeys
import Glibc

/// Owns a connection to a database file.
///
/// SQLite's own mutexes are off, so the owner must ensure that only one thread at a time uses the connection and its
/// statements. All SQL is a literal of this program, so that text from outside never becomes SQL.
@safe
struct SQLiteConnection: ~Copyable, @unchecked Sendable {
    // Safe to send: only this value has the handle, and every use that changes the connection is `mutating`. SQLite in
    // its multi-thread mode (checked in `open`) lets different threads use a connection one after the other.
    let handle: OpaquePointer
    private var busyTimeoutMilliseconds: Int32 = 0

    @unsafe
    private init(owning handle: OpaquePointer) {
        unsafe self.handle = handle
    }

    /// Opens an existing file for reading and writing.
    ///
    /// If another connection holds a lock, waits for it for at most `busyTimeoutMilliseconds`.
    static func open(path: String, busyTimeoutMilliseconds: Int32) throws(StoreError) -> SQLiteConnection {
        guard sqlite3_threadsafe() != 0 else { throw .unavailable(.other(code: SQLITE_MISUSE)) }
        var opened: OpaquePointer?
        let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_PRIVATECACHE | SQLITE_OPEN_EXRESCODE
        let code = unsafe sqlite3_open_v2(path, &opened, flags, nil)
        guard let opened = unsafe opened else { throw .unavailable(StoreOutage(code: code)) }
        // SQLite also returns a handle for a file that it cannot open. From here on this value owns the handle, and
        // closes it when this throws.
        var connection = unsafe SQLiteConnection(owning: opened)
        try connection.check(code)
        try connection.configure(busyTimeoutMilliseconds: busyTimeoutMilliseconds)
        return connection
    }

    deinit {
        // This variant also works while statements of the connection still exist.
        unsafe sqlite3_close_v2(handle)
    }

    /// Runs statements that take no values. Their rows are ignored.
    mutating func execute(_ sql: StaticString) throws(StoreError) {
        // The literal ends with a zero byte.
        try check(unsafe sqlite3_exec(handle, Self.characters(sql), nil, nil, nil))
    }

    /// Runs a script of statements that take no values.
    mutating func run(_ script: SQL) throws(StoreError) {
        // The C string is valid until the call returns.
        try check(unsafe sqlite3_exec(handle, script.text, nil, nil, nil))
    }

    /// Prepares a statement for many runs.
    mutating func prepare(_ sql: SQL) throws(StoreError) -> SQLiteStatement {
        var prepared: OpaquePointer?
        let code = unsafe sqlite3_prepare_v3(
            handle, sql.text, Int32(sql.text.utf8.count), UInt32(SQLITE_PREPARE_PERSISTENT), &prepared, nil)
        try check(code)
        guard let prepared = unsafe prepared else { preconditionFailure("a literal holds a statement") }
        return unsafe SQLiteStatement(owning: prepared)
    }

    /// Turns the write-ahead log on, so that readers and one writer can work at the same time. This is permanent, and
    /// holds for every connection to the file.
    mutating func useWriteAheadLog() throws(StoreError) {
        var statement = try prepare("PRAGMA journal_mode = WAL")
        guard try statement.step() else { throw .unavailable(.other(code: SQLITE_ERROR)) }
        // The pragma returns the resulting mode. A file system without shared memory keeps the old one.
        guard try statement.text(at: 0) == "wal" else { throw .unavailable(.other(code: SQLITE_PROTOCOL)) }
    }

    /// Moves everything into the one file and goes back to a journal that is there only during a write. No other
    /// connection may be open.
    mutating func leaveWriteAheadLog() throws(StoreError) {
        var statement = try prepare("PRAGMA journal_mode = DELETE")
        guard try statement.step() else { throw .unavailable(.other(code: SQLITE_ERROR)) }
        guard try statement.text(at: 0) == "delete" else { throw .unavailable(.busy) }
    }

    /// Fills the empty database of this connection with what another one reads at this moment (SQLite's online backup).
    ///
    /// `progress` hears how many pages are copied, of how many.
    mutating func fill(
        from source: borrowing SQLiteConnection, pagesPerStep: Int32, _ progress: (Int, Int) -> Void
    ) throws(StoreError) {
        // Both connections live longer than the backup, which ends in this call.
        guard let backup = unsafe sqlite3_backup_init(handle, "main", source.handle, "main") else {
            throw unsafe .unavailable(StoreOutage(code: sqlite3_errcode(handle), of: handle))
        }
        var code = SQLITE_OK
        while code == SQLITE_OK {
            code = unsafe sqlite3_backup_step(backup, pagesPerStep)
            let (total, rest) = unsafe (sqlite3_backup_pagecount(backup), sqlite3_backup_remaining(backup))
            progress(Int(total - rest), Int(total))
        }
        let end = unsafe sqlite3_backup_finish(backup)
        guard code == SQLITE_DONE, end == SQLITE_OK else {
            throw unsafe .unavailable(StoreOutage(code: code == SQLITE_DONE ? end : code, of: handle))
        }
    }

    /// The number of rows that the last insert, update or delete changed.
    var changedRowCount: Int { unsafe Int(sqlite3_changes(handle)) }

    /// Begins a transaction that may write. Waits until no other connection writes.
    mutating func beginImmediate() throws(StoreError) {
        try execute("BEGIN IMMEDIATE")
    }

    /// Commits the transaction durably. If this throws, the transaction is still open.
    mutating func commit() throws(StoreError) {
        try execute("COMMIT")
    }

    /// Rolls back an open transaction. Does nothing if there is none.
    mutating func rollBack() {
        guard unsafe sqlite3_get_autocommit(handle) == 0 else { return }
        // A failed roll-back needs no handling: SQLite drops the transaction when the connection closes.
        _ = unsafe sqlite3_exec(handle, "ROLLBACK", nil, nil, nil)
    }

    /// Configures the writer's connection: the log is moved into the file only by calls of `checkpoint`.
    mutating func configureWriter() throws(StoreError) {
        // A cache of 8 MiB has the inner pages of random look-ups. The kernel has the others, and reading one of those
        // takes a microsecond. A large batch may change more pages than that: they stay in memory until its commit, and
        // are not written twice. The log's file may stay at the same size.
        try execute(
            """
            PRAGMA wal_autocheckpoint = 0; PRAGMA cache_size = -8192; PRAGMA cache_spill = OFF;
            PRAGMA journal_size_limit = 67108864
            """)
    }

    /// Returns the number of pages written to the log since the previous call.
    mutating func takeWrittenPageCount() -> Int {
        var current: Int32 = 0
        var highest: Int32 = 0
        // Both are local variables. If the counter cannot be read, the largest number forces a checkpoint.
        let code = unsafe sqlite3_db_status(handle, SQLITE_DBSTATUS_CACHE_WRITE, &current, &highest, 1)
        return code == SQLITE_OK ? Int(current) : .max
    }

    /// Moves the content of the write-ahead log into the database file, and syncs both. Returns how many pages the log
    /// still has.
    ///
    /// - Parameters:
    ///   - mode: `passive` does not wait, and may leave pages in the log. The other modes wait for readers, and restart
    ///     the log. `truncate` also empties the log's file.
    ///   - patienceMilliseconds: How long readers are waited for; nil for the busy time-out.
    mutating func checkpoint(
        _ mode: CheckpointMode, patienceMilliseconds: Int32? = nil
    ) throws(StoreError) -> Int {
        var logged: Int32 = 0
        var moved: Int32 = 0
        if let patienceMilliseconds { _ = unsafe sqlite3_busy_timeout(handle, patienceMilliseconds) }
        defer {
            if patienceMilliseconds != nil { _ = unsafe sqlite3_busy_timeout(handle, busyTimeoutMilliseconds) }
        }
        // Both are local variables.
        try check(unsafe sqlite3_wal_checkpoint_v2(handle, nil, mode.code, &logged, &moved))
        return Int(logged)
    }

    private mutating func configure(busyTimeoutMilliseconds: Int32) throws(StoreError) {
        self.busyTimeoutMilliseconds = busyTimeoutMilliseconds
        try check(unsafe sqlite3_busy_timeout(handle, busyTimeoutMilliseconds))
        try check(unsafe latchkey_sqlite3_set_defensive(handle))
        try execute("PRAGMA trusted_schema = OFF; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON")
    }

    /// Throws the error of a result code of this connection. Returns if the code is success.
    private func check(_ code: Int32) throws(StoreError) {
        // Only this value has the handle, and it is open.
        guard code == SQLITE_OK else { throw unsafe .unavailable(StoreOutage(code: code, of: handle)) }
    }

    private static func characters(_ sql: StaticString) -> UnsafePointer<CChar> {
        precondition(sql.hasPointerRepresentation, "SQL is longer than one character")
        // A literal is valid until the program ends.
        return unsafe UnsafeRawPointer(sql.utf8Start).assumingMemoryBound(to: CChar.self)
    }
}

/// SQL of this program: a literal, which may contain other SQL of this program, or an embedded file.
struct SQL: ExpressibleByStringInterpolation, Sendable {
    struct Interpolation: StringInterpolationProtocol {
        fileprivate var text = ""

        init(literalCapacity: Int, interpolationCount: Int) {}

        mutating func appendLiteral(_ literal: String) { text += literal }

        mutating func appendInterpolation(_ sql: SQL) { text += sql.text }
    }

    let text: String

    init(stringLiteral literal: String) { text = literal }

    init(stringInterpolation: Interpolation) { text = stringInterpolation.text }
}

/// Throws the error of an SQLite result code. Returns if the code is success.
func check(_ code: Int32) throws(StoreError) {
    guard code == SQLITE_OK else { throw .unavailable(StoreOutage(code: code)) }
}

extension StoreOutage {
    /// Classifies a result code that a connection has just returned. When SQLite cannot create its log or the log's
    /// index, only the system's error number shows that the disk is full.
    @unsafe
    init(code: Int32, of handle: OpaquePointer?) {
        let isFailedFile = [SQLITE_IOERR, SQLITE_CANTOPEN].contains(code & 0xFF)
        // If the disk has no room for the log's index, SQLite returns this code and sets no error number.
        let isFull = unsafe code == SQLITE_IOERR | (19 << 8) || [ENOSPC, EDQUOT].contains(sqlite3_system_errno(handle))
        if isFailedFile && isFull { self = .diskFull } else { self.init(code: code) }
    }

    /// Classifies SQLite's result codes, primary or extended.
    init(code: Int32) {
        // The low byte of an extended code is its primary code.
        switch code & 0xFF {
        case SQLITE_BUSY, SQLITE_LOCKED: self = .busy
        case SQLITE_FULL: self = .diskFull
        case SQLITE_READONLY, SQLITE_CANTOPEN, SQLITE_PERM, SQLITE_AUTH: self = .notWritable
        case SQLITE_IOERR: self = .inputOutput
        case SQLITE_CORRUPT, SQLITE_NOTADB: self = .damaged
        default: self = .other(code: code)
        }
    }
}

/// What a checkpoint waits for, and what it does with the log.
enum CheckpointMode {
    case passive
    case restart
    case truncate

    fileprivate var code: Int32 {
        switch self {
        case .passive: SQLITE_CHECKPOINT_PASSIVE
        case .restart: SQLITE_CHECKPOINT_RESTART
        case .truncate: SQLITE_CHECKPOINT_TRUNCATE
        }
    }
}
