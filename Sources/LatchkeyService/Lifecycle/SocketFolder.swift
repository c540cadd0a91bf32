import Glibc
import POSIXSockets
import ServiceConfiguration

/// The folder of a listener's unix socket.
enum SocketFolder {
    /// Throws if this process cannot make the socket there. Makes nothing.
    static func check(
        for listener: ServingListeners.ListenerID, at address: ListenerAddress
    ) throws(DaemonError) {
        guard case .socket(.unix(let path)) = address else { return }
        let folder = FilePath.directory(of: path)
        // Safe: the C string is valid until the call returns.
        guard unsafe faccessat(AT_FDCWD, folder, W_OK | X_OK, AT_EACCESS) != 0 else { return }
        throw .socketFolder(listener: listener.description, folder: folder, errno: errno)
    }
}
