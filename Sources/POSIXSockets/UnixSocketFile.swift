import CLinux
import Glibc

/// The file of a unix socket, and a lock on its path.
///
/// The lock is on a second file, `PATH.lock`, and is held as long as this object exists. The second file itself is
/// never removed. If several daemons start together with one path, only one gets the lock, and no daemon removes a
/// socket that another one has just made. The holder of the lock may remove a socket that an earlier holder has left.
final class UnixSocketFile: Sendable {
    private let path: String
    private let lock: Descriptor

    /// Locks a path, and removes a socket without a listener from it.
    ///
    /// Throws `addressInUse` if another process has the lock or listens on the path. Throws `notASocket` if the path
    /// names another kind of file, which is not changed.
    init(claiming path: String) throws(SocketError) {
        let address = SocketAddress.unix(path: path)
        // Safe: Swift lends the paths as C strings during the calls.
        let opened = interruptible {
            unsafe open(path + ".lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        }
        if case .failure(EACCES) = opened { throw .addressForbidden(address) }
        if case .failure(ENOENT) = opened { throw .addressUnavailable(address) }
        lock = Descriptor(owning: try opened.get(.open))
        self.path = path
        let number = lock.number
        switch interruptible({ flock(number, LOCK_EX | LOCK_NB) }) {
        case .value: break
        case .failure(EWOULDBLOCK): throw .addressInUse(address)
        case .failure(let errno): throw .failed(.flock, errno: errno)
        }
        var status = stat()
        guard unsafe lstat(path, &status) == 0 else { return }
        guard status.st_mode & S_IFMT == S_IFSOCK else { throw .notASocket(address) }
        // A server that does not use the lock may listen on the path.
        guard !isAnswered(address) else { throw .addressInUse(address) }
        remove()
    }

    /// Sets the permissions of the bound socket.
    func setMode(_ mode: UInt32) throws(SocketError) {
        _ = try interruptible { unsafe chmod(path, mode) }.get(.chmod)
    }

    /// Removes the socket's file; the lock stays.
    func remove() {
        _ = unsafe unlink(path)
    }

    private func isAnswered(_ address: SocketAddress) -> Bool {
        do throws(SocketError) {
            let probe = try Descriptor(openingSocketOf: AF_UNIX, Int32(SOCK_STREAM.rawValue))
            let number = probe.number
            let result = unsafe address.withSystemAddress { pointer, length in
                interruptible { unsafe connect(number, pointer, length) }
            }
            // EAGAIN means that the queue is full, so there is a listener.
            switch result {
            case .value, .failure(EAGAIN): return true
            case .failure: return false
            }
        } catch {
            return true
        }
    }
}
