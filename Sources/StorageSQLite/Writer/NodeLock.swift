import Glibc

/// A daemon's lock on its ledger, which keeps two daemons from writing to one ledger.
///
/// The lock is a file in the folder of the database. The system releases it when the process ends, even after a crash.
/// The file stays, and shows that a node has had its database here. Its name begins with a dot, so that
/// `mv latchkey.db*` and `rm latchkey.db*` do not take it away with the database.
struct NodeLock: ~Copyable, Sendable {
    private let descriptor: Int32
    private let databasePath: String
    private var path: String { Self.path(of: databasePath) }

    /// Takes the lock. Throws `inUse` if another daemon has it.
    init(databasePath: String) throws(StorageOpeningError) {
        let path = Self.path(of: databasePath)
        // Only the C string is unsafe; it is valid until the call returns.
        let descriptor = unsafe open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw .fileNotUsable(path: path, errno: errno) }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            let error = errno
            close(descriptor)
            throw error == EWOULDBLOCK ? .inUse(path: databasePath) : .fileNotUsable(path: path, errno: error)
        }
        self.descriptor = descriptor
        self.databasePath = databasePath
    }

    static func path(of databasePath: String) -> String {
        let start = databasePath.lastIndex(of: "/").map { databasePath.index(after: $0) } ?? databasePath.startIndex
        return "\(databasePath[..<start]).\(databasePath[start...])-lock"
    }

    /// Notes that the database was opened. From now on, the mark shows if the database is lost.
    func mark() throws(StorageOpeningError) {
        // The byte belongs to a literal, and is read during the call.
        guard unsafe pwrite(descriptor, "1", 1, 0) == 1, fsync(descriptor) == 0 else {
            throw .fileNotUsable(path: path, errno: errno)
        }
        try DatabaseFile.syncFolder(of: path)
    }

    static func isMarked(_ lockPath: String) -> Bool {
        var status = stat()
        // The C string is valid until the call returns.
        return unsafe stat(lockPath, &status) == 0 && status.st_size > 0
    }

    deinit {
        // A child process between fork and exec has a copy of the descriptor. Closing alone would leave the lock with
        // the child.
        flock(descriptor, LOCK_UN)
        close(descriptor)
    }
}
