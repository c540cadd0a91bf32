import Glibc

/// Finds the folder at fault if this process may not use a file.
package enum FolderAccess {
    /// Why this process cannot reach the file, or make one there, and what to do: names the first folder of its
    /// absolute path that the process may not enter, or else the last one if it may not write there. Nil if no folder
    /// is at fault. If the path is that of a folder, that folder is the last one.
    package static func obstacle(to path: String, writing: Bool) -> String? {
        let slashes = path.indices.filter { path[$0] == "/" && $0 != path.startIndex }
        let folders = slashes.map { String(path[..<$0]) } + (isFolder(path) ? [path] : [])
        for folder in folders where !allows(folder, X_OK) {
            return
                "this user may not enter the folder \(folder); run: chmod g+x \(Shell.quote(folder)) (and give its"
                + " group to this user), or o+x"
        }
        guard writing, let folder = folders.last, !allows(folder, W_OK) else { return nil }
        return "this user may not write in the folder \(folder), where SQLite makes files beside the database; give it"
            + " the folder: chown USER \(Shell.quote(folder))"
    }

    private static func isFolder(_ path: String) -> Bool {
        var status = stat()
        // Safe: Swift passes the path as a C string that is valid during the call.
        return unsafe stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }

    /// A missing folder is no obstacle here: another message names it.
    private static func allows(_ folder: String, _ access: Int32) -> Bool {
        // Safe: Swift passes the path as a C string that is valid during the call.
        unsafe Glibc.access(folder, access) == 0 || errno != EACCES
    }
}
