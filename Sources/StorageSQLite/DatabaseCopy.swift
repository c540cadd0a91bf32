import ByteCoding
import CSQLite
import ContentKeys
import Glibc

/// Copies a database file while the daemon writes to it, by SQLite's online backup.
package enum DatabaseCopy {
    /// How many pages are copied between two looks at the progress.
    static let pagesPerStep: Int32 = 4096

    /// Copies what a database holds at this moment to a new file of mode 0600, durably.
    ///
    /// The copy is of one moment: every transaction that was committed before the call is in it, those in the
    /// write-ahead log too. Writers go on meanwhile; the log grows until the copy is done. The copy is a single file
    /// without a log. `progress` hears how many pages are copied, of how many.
    ///
    /// Throws for a source that is no database of this program. If it fails, no file of the new name is left.
    package static func make(
        of path: String, at newPath: String, progress: (Int, Int) -> Void = { _, _ in }
    ) throws(StorageOpeningError) {
        try make(of: path, at: newPath, pagesPerStep: pagesPerStep, progress: progress)
    }

    static func make(
        of path: String, at newPath: String, pagesPerStep: Int32, progress: (Int, Int) -> Void
    ) throws(StorageOpeningError) {
        guard try DatabaseFile.exists(path) else { throw .fileNotUsable(path: path, errno: ENOENT) }
        try DatabaseFile.checkPermissions(path)
        // Unsafe are here and below the C strings alone, which live until their calls return.
        let descriptor = unsafe open(newPath, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw .fileNotUsable(path: newPath, errno: errno) }
        _ = fchmod(descriptor, 0o600)
        close(descriptor)
        do throws(StorageOpeningError) {
            try fill(newPath, from: path, pagesPerStep, progress)
            try sync(newPath)
        } catch {
            remove(newPath)
            throw error
        }
    }

    /// Writes everything of a database into its one file, durably: nothing is left in a log beside it. No other
    /// connection uses it.
    package static func seal(_ path: String) throws(StorageOpeningError) {
        try wrap(StorageOpeningError.store) { () throws(StoreError) in
            var connection = try SQLiteConnection.open(path: path, busyTimeoutMilliseconds: 5000)
            try connection.leaveWriteAheadLog()
        }
        try sync(path)
    }

    /// Removes a database and what lies beside it. What is not there is no fault.
    package static func remove(_ path: String) {
        for suffix in ["", "-journal", "-wal", "-shm"] { _ = unsafe unlink(path + suffix) }
    }

    private static func fill(
        _ newPath: String, from path: String, _ pagesPerStep: Int32, _ progress: (Int, Int) -> Void
    ) throws(StorageOpeningError) {
        var source = try wrap(
            StorageOpeningError.store, try SQLiteConnection.open(path: path, busyTimeoutMilliseconds: 5000))
        guard try source.isUsable(path: path) else { throw .ledgerMissing(path: path) }
        try wrap(StorageOpeningError.store) { () throws(StoreError) in
            // A read transaction holds the moment. Without it, a write of another process would begin the copy again.
            try source.execute("BEGIN")
            defer { source.rollBack() }
            _ = try source.readInteger("SELECT count(*) FROM sqlite_schema")
            var copy = try SQLiteConnection.open(path: newPath, busyTimeoutMilliseconds: 5000)
            try copy.fill(from: source, pagesPerStep: pagesPerStep, progress)
        }
        try seal(newPath)
    }

    private static func sync(_ path: String) throws(StorageOpeningError) {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .fileNotUsable(path: path, errno: errno) }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw .fileNotUsable(path: path, errno: errno) }
    }
}

/// A database that takes the place of one that is gone, such as a copy that is put back.
///
/// From the first step on no daemon starts with the path: it has the lock, and the mark says that a database was there.
/// So a daemon never begins an empty database beside one that is only half back.
package struct DatabaseReplacement: ~Copyable {
    package let path: String
    /// Where the new database is made ready, in the same folder.
    package let partPath: String
    private let lock: NodeLock

    /// Takes the place for this process. Throws `inUse` while a daemon has it, and `fileNotUsable` with `EEXIST` if a
    /// database, its log or a part of another attempt is there: nothing is ever overwritten. An empty file is none.
    package init(path: String) throws(StorageOpeningError) {
        // Whole values first and fields after: a value that is not copyable cannot be abandoned half made.
        let lock = try NodeLock(databasePath: path)
        let partPath = path + ".restoring"
        for name in [path, path + "-wal"] where try Self.isUsed(name) {
            throw .fileNotUsable(path: name, errno: EEXIST)
        }
        try lock.mark()
        try DatabaseFile.syncFolder(of: path)
        // Of an attempt that was interrupted; this process has the lock.
        DatabaseCopy.remove(partPath)
        self.path = path
        self.partPath = partPath
        self.lock = lock
    }

    /// Gives the database that was made ready its name, durably.
    package consuming func putInPlace() throws(StorageOpeningError) {
        try DatabaseCopy.seal(partPath)
        // What an index lists is of the ledger that was here before; the daemon makes a new one.
        DatabaseCopy.remove(LedgerIndex.path(of: path))
        guard unsafe rename(partPath, path) == 0 else { throw .fileNotUsable(path: path, errno: errno) }
        try DatabaseFile.syncFolder(of: path)
    }

    /// Drops what was made ready. The mark stays, so that a daemon does not begin an empty database by itself.
    package consuming func abandon() {
        DatabaseCopy.remove(partPath)
    }

    private static func isUsed(_ path: String) throws(StorageOpeningError) -> Bool {
        var status = stat()
        if unsafe stat(path, &status) == 0 { return status.st_size > 0 || status.st_mode & S_IFMT != S_IFREG }
        guard errno == ENOENT else { throw .fileNotUsable(path: path, errno: errno) }
        return false
    }
}
