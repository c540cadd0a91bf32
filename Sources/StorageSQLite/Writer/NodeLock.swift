import Glibc

/// A daemon's lock on its ledger, in a file of its own beside the database: two daemons never write to one.
///
/// The system lets go of it when the process ends, however it does.
struct NodeLock: ~Copyable, Sendable {
    private let descriptor: Int32

    /// Throws `inUse` where another daemon has the lock.
    init(databasePath: String) throws(StorageOpeningError) {
        let path = databasePath + "-lock"
        // Unsafe is the C string alone, which lives until the call returns.
        let descriptor = unsafe open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw .fileNotUsable(path: path, errno: errno) }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            let error = errno
            close(descriptor)
            throw error == EWOULDBLOCK ? .inUse(path: databasePath) : .fileNotUsable(path: path, errno: error)
        }
        self.descriptor = descriptor
    }

    deinit {
        // A child between fork and exec has a copy of the descriptor. Closing alone would leave it the lock.
        flock(descriptor, LOCK_UN)
        close(descriptor)
    }
}
