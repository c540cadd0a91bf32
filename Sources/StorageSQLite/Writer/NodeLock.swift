import Glibc

/// A daemon's lock on its ledger, in a file of its own beside the database: two daemons never write to one.
///
/// The system lets go of it when the process ends, however it does.
struct NodeLock: ~Copyable, Sendable {
    private let descriptor: Int32
    private let path: String

    /// Throws `inUse` if another daemon has the lock.
    init(databasePath: String) throws(StorageOpeningError) {
        let path = Self.path(of: databasePath)
        // Unsafe is the C string alone, which lives until the call returns.
        let descriptor = unsafe open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw .fileNotUsable(path: path, errno: errno) }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            let error = errno
            close(descriptor)
            throw error == EWOULDBLOCK ? .inUse(path: databasePath) : .fileNotUsable(path: path, errno: error)
        }
        self.descriptor = descriptor
        self.path = path
    }

    static func path(of databasePath: String) -> String { databasePath + "-lock" }

    /// Notes that the database was opened: from now on its loss shows by this mark.
    func mark() throws(StorageOpeningError) {
        // One byte of a literal, read during the call.
        guard unsafe pwrite(descriptor, "1", 1, 0) == 1 else { throw .fileNotUsable(path: path, errno: errno) }
    }

    static func isMarked(_ lockPath: String) -> Bool {
        var status = stat()
        // The C string lives until the call returns.
        return unsafe stat(lockPath, &status) == 0 && status.st_size > 0
    }

    deinit {
        // A child between fork and exec has a copy of the descriptor. Closing alone would leave it the lock.
        flock(descriptor, LOCK_UN)
        close(descriptor)
    }
}
