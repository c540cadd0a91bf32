import CLinux
import Glibc

/// Finds out why this process could not connect to a unix socket.
package enum UnixSocketAccess {
    /// The cause and what to do, as far as the socket's path shows it. If the path shows no fault, no program listens.
    package static func obstacle(to path: String) -> String {
        for folder in FileAccess.folders(above: path)
        where FileAccess.isFolder(folder) && !FileAccess.allows(folder, X_OK) {
            return "this user may not enter the folder \(folder)\(ownership(of: folder)); run the command as that"
                + " user, or as a member of that group"
        }
        guard let status = FileAccess.status(of: path) else {
            return "there is no socket \(path): no daemon has made it, it was deleted, or the daemon has another path"
                + " (listeners.admin); a start of the daemon makes it"
        }
        guard status.st_mode & S_IFMT == S_IFSOCK else { return "\(path) is not a socket" }
        guard FileAccess.allows(path, W_OK) else {
            return "this user may not use the socket\(ownership(of: path)); run the command as that user, or as a"
                + " member of that group"
        }
        return "no program listens at the socket \(path); start the daemon"
    }

    private static func ownership(of path: String) -> String {
        guard let status = FileAccess.status(of: path) else { return "" }
        let user = OperatingSystemUser.name(of: status.st_uid) ?? String(status.st_uid)
        let group = OperatingSystemUser.groupName(of: status.st_gid) ?? String(status.st_gid)
        let mode = String(status.st_mode & 0o7777, radix: 8)
        return ", which belongs to \(user):\(group) with mode 0\(mode)"
    }
}
