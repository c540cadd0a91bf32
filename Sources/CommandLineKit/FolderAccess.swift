import Glibc

/// Finds the folder at fault if this process may not use a file.
package enum FolderAccess {
    /// Why this process cannot reach the file, or make one there, and what to do: names the first folder of its
    /// absolute path that the process may not enter, or else the last one if it may not write there. Nil if no folder
    /// is at fault.
    package static func obstacle(to path: String, writing: Bool) -> String? {
        let slashes = path.indices.filter { path[$0] == "/" && $0 != path.startIndex }
        for slash in slashes where !allows(String(path[..<slash]), X_OK) {
            let folder = String(path[..<slash])
            return
                "this user may not enter the folder \(folder); run: chmod g+x \(Shell.quote(folder)) (and give its"
                + " group to this user), or o+x"
        }
        guard writing, let last = slashes.last, !allows(String(path[..<last]), W_OK) else { return nil }
        let folder = String(path[..<last])
        return "this user may not write in the folder \(folder), where SQLite makes files beside the database; give it"
            + " the folder: chown USER \(Shell.quote(folder))"
    }

    /// A missing folder is no obstacle here: another message names it.
    private static func allows(_ folder: String, _ access: Int32) -> Bool {
        // Safe: Swift passes the path as a C string that is valid during the call.
        unsafe Glibc.access(folder, access) == 0 || errno != EACCES
    }
}
