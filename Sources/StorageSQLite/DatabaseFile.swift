import ContentKeys
import Glibc

/// Creates the files of a database and checks who may read them.
enum DatabaseFile {
    /// The widest mode that is accepted: the owner writes, the owner's group may read.
    static let widestMode: UInt32 = 0o640

    /// Creates the file with mode 0600 unless it exists, and refuses a file whose mode is wider than `widestMode`.
    ///
    /// Throws `databaseMissing` if a node has had a database of this name. A new database would not know what the old
    /// one had spent and recorded.
    static func prepare(_ path: String) throws(StorageOpeningError) {
        try refuseLoss(of: path)
        // An existing file is inspected by name and not opened. Closing its descriptor would drop the locks that SQLite
        // may already hold on the file in this process (fcntl(2), "Record locks").
        if try mode(of: path) == nil { try create(path) }
        try checkPermissions(path)
    }

    /// Refuses a database file, write-ahead log or shared index whose mode is wider than `widestMode`. Files that do
    /// not exist are accepted.
    static func checkPermissions(_ path: String) throws(StorageOpeningError) {
        for name in [path, path + "-wal", path + "-shm"] {
            guard let mode = try mode(of: name) else { continue }
            guard mode & S_IFMT == S_IFREG else { throw .notAFile(path: name) }
            let permissions = mode & 0o7777
            guard permissions & ~widestMode == 0 else { throw .permissionsTooWide(path: name, mode: permissions) }
        }
    }

    /// Refuses a database that this process could not make or write: whose folder is missing, for example. Changes
    /// nothing.
    static func checkAccess(_ path: String) throws(StorageOpeningError) {
        try refuseLoss(of: path)
        // The error has the path of the database, as that of a start does.
        try requireAccess(to: folder(of: path), W_OK | X_OK, for: path)
        let files = [path, path + "-wal", path + "-shm", NodeLock.path(of: path)]
        for name in files where try exists(name) { try requireAccess(to: name, R_OK | W_OK, for: name) }
    }

    /// `path` is what the error names.
    private static func requireAccess(
        to name: String, _ mode: Int32, for path: String
    ) throws(StorageOpeningError) {
        // The C string is valid until the call returns.
        guard unsafe faccessat(AT_FDCWD, name, mode, AT_EACCESS) == 0 else {
            throw .fileNotUsable(path: path, errno: errno)
        }
    }

    /// Lets the next `prepare` create a database even if a node has had one here. Does nothing if the database exists.
    static func allowNew(_ path: String) throws(StorageOpeningError) {
        guard try isMissing(path) else { return }
        let lock = NodeLock.path(of: path)
        // The C string is valid until the call returns.
        guard unsafe unlink(lock) == 0 || errno == ENOENT else { throw .fileNotUsable(path: lock, errno: errno) }
    }

    /// Refuses a database that is missing although its lock file shows that a node has used one.
    ///
    /// The lock file stays when a node ends. It gets a mark when the node has opened its database.
    private static func refuseLoss(of path: String) throws(StorageOpeningError) {
        guard try isMissing(path) else { return }
        let (isEmptied, lock) = (try exists(path), NodeLock.path(of: path))
        if try isEmptied ? NodeLock.isMarked(lock) : exists(lock) { throw .databaseMissing(path: path) }
    }

    /// Whether the file does not exist or is empty.
    private static func isMissing(_ path: String) throws(StorageOpeningError) -> Bool {
        var status = stat()
        if unsafe stat(path, &status) == 0 { return status.st_mode & S_IFMT == S_IFREG && status.st_size == 0 }
        let error = errno
        guard error == ENOENT else { throw .fileNotUsable(path: path, errno: error) }
        return true
    }

    /// Whether there is a file of this name.
    static func exists(_ path: String) throws(StorageOpeningError) -> Bool {
        try mode(of: path) != nil
    }

    /// The file's type and permissions; nil if the file does not exist.
    private static func mode(of path: String) throws(StorageOpeningError) -> UInt32? {
        var status = stat()
        guard unsafe stat(path, &status) != 0 else { return status.st_mode }
        let error = errno
        guard error == ENOENT else { throw .fileNotUsable(path: path, errno: error) }
        return nil
    }

    private static func create(_ path: String) throws(StorageOpeningError) {
        // Only the C strings are unsafe; they are valid until the call returns. If another process creates the file
        // first, its file is used.
        let descriptor = unsafe open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            let error = errno
            guard error == EEXIST else { throw .fileNotUsable(path: path, errno: error) }
            return
        }
        close(descriptor)
        try syncFolder(of: path)
    }

    /// Makes the new file's name durable. Without this, the name may be missing from its folder after a power cut.
    static func syncFolder(of path: String) throws(StorageOpeningError) {
        let folder = folder(of: path)
        let descriptor = unsafe open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .fileNotUsable(path: folder, errno: errno) }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw .fileNotUsable(path: folder, errno: errno) }
    }

    private static func folder(of path: String) -> String {
        switch path.lastIndex(of: "/") {
        case .some(path.startIndex): "/"
        case .some(let slash): String(path[..<slash])
        case .none: "."
        }
    }
}

/// Runs SQLite's own checks of a database file: pages, trees, indexes that do not fit their tables, references to
/// missing rows.
package enum DatabaseIntegrity {
    /// The largest number of lines that are collected. A file with this much damage needs no longer list.
    private static let findingsMaximum = 100

    /// Reads the whole file while other connections work, and returns a line for each finding.
    ///
    /// A line names tables and pages, and shows no content of a row. Throws if the file cannot be opened. Damage that
    /// stops SQLite from reading further is a finding.
    package static func findings(
        path: String, busyTimeoutMilliseconds: Int32 = 5000
    ) throws(StorageOpeningError) -> [String] {
        guard try DatabaseFile.exists(path) else { throw .fileNotUsable(path: path, errno: 2) }
        try DatabaseFile.checkPermissions(path)
        do throws(StoreError) {
            var connection = try SQLiteConnection.open(path: path, busyTimeoutMilliseconds: busyTimeoutMilliseconds)
            try connection.execute("PRAGMA query_only = ON")
            return try pages(of: &connection) + references(in: &connection)
        } catch .unavailable(.damaged) {
            return ["the file is not an SQLite database, or is too damaged to be read"]
        } catch {
            throw .store(error)
        }
    }

    private static func pages(of connection: inout SQLiteConnection) throws(StoreError) -> [String] {
        var statement = try connection.prepare("PRAGMA integrity_check(100)")
        var lines: [String] = []
        while lines.count < findingsMaximum, try statement.step() {
            let line = try statement.text(at: 0)
            if line != "ok" { lines.append(line) }
        }
        return lines
    }

    /// Finds aliases without a key, and keys without the proof of their key-encryption key.
    private static func references(in connection: inout SQLiteConnection) throws(StoreError) -> [String] {
        var statement = try connection.prepare("PRAGMA foreign_key_check")
        var lines: [String] = []
        while lines.count < findingsMaximum, try statement.step() {
            lines.append(
                "a row of \(try statement.text(at: 0)) names a row of \(try statement.text(at: 2)) that does not exist")
        }
        return lines
    }
}
