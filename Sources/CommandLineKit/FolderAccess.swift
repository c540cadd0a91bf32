import Glibc
import POSIXSockets

/// Finds the folder at fault if this process may not use a file.
package enum FolderAccess {
    /// Why this process cannot reach the file, or make one there, and what to do: names the first folder of its
    /// absolute path that the process may not enter, or else the last one if it may not write there. Nil if no folder
    /// is at fault. If the path is that of a folder, that folder is the last one.
    package static func obstacle(to path: String, writing: Bool) -> String? {
        let folders = FileAccess.folders(above: path) + (FileAccess.isFolder(path) ? [path] : [])
        for folder in folders where !FileAccess.allows(folder, X_OK) {
            return
                "this user may not enter the folder \(folder); run: chmod g+x \(Shell.quote(folder)) (and give its"
                + " group to this user), or o+x"
        }
        guard writing, let folder = folders.last, !FileAccess.allows(folder, W_OK) else { return nil }
        return "this user may not write in the folder \(folder), where SQLite makes files beside the database; give it"
            + " the folder: chown USER \(Shell.quote(folder))"
    }

    /// Says that the folder of a file in the daemon's state is missing, and how it is made; nil if there is a folder.
    package static func missingFolder(of path: String) -> String? {
        guard let folder = FileAccess.folders(above: path).last, !FileAccess.isFolder(folder) else { return nil }
        return "its folder \(folder) is missing; systemd makes /var/lib/NAME when the service starts, if the unit has"
            + " StateDirectory=NAME; make another folder as the user of the daemon: mkdir -p -m 700 \(Shell.quote(folder))"
    }
}
