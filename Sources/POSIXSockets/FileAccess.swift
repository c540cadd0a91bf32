import Glibc

/// What this process finds at a path, and may do with it.
package enum FileAccess {
    package static func isFolder(_ path: String) -> Bool {
        (status(of: path)?.st_mode ?? 0) & S_IFMT == S_IFDIR
    }

    /// The folders above a path, the first one first.
    package static func folders(above path: String) -> [String] {
        path.indices.filter { path[$0] == "/" && $0 != path.startIndex }.map { String(path[..<$0]) }
    }

    /// Whether this process may use a path in this way, such as `X_OK`. A path that is missing is allowed here: another
    /// message names it.
    package static func allows(_ path: String, _ access: Int32) -> Bool {
        // Safe: Swift passes the path as a C string that is valid during the call.
        unsafe Glibc.access(path, access) == 0 || errno != EACCES
    }

    /// Nil if there is nothing at the path that this process can see.
    static func status(of path: String) -> stat? {
        var status = stat()
        // Safe: Swift passes the path as a C string that is valid during the call.
        return unsafe stat(path, &status) == 0 ? status : nil
    }
}
