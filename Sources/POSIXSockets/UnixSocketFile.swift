import CLinux
import Glibc

/// The file of a unix socket, and the right to it.
///
/// The right is a lock on a second file, `PATH.lock`, which is held for as long as this object lives and outlives the
/// process by its name only: so of several daemons that start at once on one path, one gets it, and none removes a
/// socket that another one has just made. The holder of the lock may remove what an earlier holder has left behind.
final class UnixSocketFile: Sendable {
    private let path: String
    private let lock: Descriptor

    /// Takes the right to a path and clears it of a socket without a listener.
    ///
    /// Throws `addressInUse` if another process has the right or listens there, and `notASocket` if the path names
    /// something else, which is left alone.
    init(claiming path: String) throws(SocketError) {
        let address = SocketAddress.unix(path: path)
        // Swift lends the paths as C strings for the calls alone.
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
        // A server that knows nothing of the lock may listen there.
        guard !isAnswered(address) else { throw .addressInUse(address) }
        remove()
    }

    /// Sets the permissions of the socket that has been bound.
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
            // A full queue has a listener.
            switch result {
            case .value, .failure(EAGAIN): return true
            case .failure: return false
            }
        } catch {
            return true
        }
    }
}
