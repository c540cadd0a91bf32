import CLinux
import Glibc

/// Finds out why this process could not connect to a unix socket.
package enum UnixSocketAccess {
    /// The cause and what to do, as far as the socket's path shows it. If the path shows no fault, no program listens.
    package static func obstacle(to path: String) -> String {
        let slashes = path.indices.filter { path[$0] == "/" && $0 != path.startIndex }
        for folder in slashes.map({ String(path[..<$0]) }) where isFolder(folder) && !allows(folder, X_OK) {
            return "this user may not enter the folder \(folder)\(ownership(of: folder)); run the command as that"
                + " user, or as a member of that group"
        }
        guard let status = status(of: path) else {
            return "there is no socket \(path): no daemon has made it, it was deleted, or the daemon has another path"
                + " (listeners.admin); a start of the daemon makes it"
        }
        guard status.st_mode & S_IFMT == S_IFSOCK else { return "\(path) is not a socket" }
        guard allows(path, W_OK) else {
            return "this user may not use the socket\(ownership(of: path)); run the command as that user, or as a"
                + " member of that group"
        }
        return "no program listens at the socket \(path); start the daemon"
    }

    private static func ownership(of path: String) -> String {
        guard let status = status(of: path) else { return "" }
        let user = OperatingSystemUser.name(of: status.st_uid) ?? String(status.st_uid)
        let group = OperatingSystemUser.groupName(of: status.st_gid) ?? String(status.st_gid)
        let mode = String(status.st_mode & 0o7777, radix: 8)
        return ", which belongs to \(user):\(group) with mode 0\(mode)"
    }

    private static func isFolder(_ path: String) -> Bool {
        (status(of: path)?.st_mode ?? 0) & S_IFMT == S_IFDIR
    }

    private static func status(of path: String) -> stat? {
        var status = stat()
        // Safe: Swift passes the path as a C string that is valid during the call.
        return unsafe stat(path, &status) == 0 ? status : nil
    }

    /// A path that is missing is allowed here: another message names it.
    private static func allows(_ path: String, _ access: Int32) -> Bool {
        // Safe: Swift passes the path as a C string that is valid during the call.
        unsafe Glibc.access(path, access) == 0 || errno != EACCES
    }
}
