import CommandLineKit
import Foundation
import ServiceConfiguration

/// The files that a restore will write.
///
/// A configuration that comes from the backup names them, and the backup may be another party's. So its files must lie
/// in the folder of the configuration, or in folders that the operator has allowed.
struct RestorePlan {
    struct Entry: Equatable {
        /// The field of the configuration that names the file.
        let field: String
        let path: String
    }

    private(set) var entries: [Entry] = []

    /// Adds a file. Two fields may name one file.
    mutating func add(_ field: String, _ path: String) {
        if !entries.contains(where: { $0.path == path }) { entries.append(Entry(field: field, path: path)) }
    }

    /// The files that are in none of the folders, whatever symbolic links and `..` are in their paths.
    func entries(outside folders: [String]) -> [Entry] {
        let allowed = folders.compactMap { Self.place(of: $0) }
        return entries.filter { entry in
            guard let place = Self.place(of: entry.path) else { return true }
            return !allowed.contains { place.count > $0.count && place.starts(with: $0) }
        }
    }

    /// The folders to allow, so that the files may be written. A file whose path cannot be followed has none.
    static func folders(of entries: [Entry]) -> [String] {
        let placed = entries.filter { place(of: $0.path) != nil }
        return Set(placed.map { BackupFolder.parent(of: $0.path) }).sorted()
    }

    /// The names of the real folders down to a file that may not exist yet; nil if the path leads out of a folder that
    /// does not exist yet.
    static func place(of path: String) -> [Substring]? {
        var existing = FilePath.absolute(path)
        var rest: [String] = []
        while true {
            if let real = realPath(existing) { return real.split(separator: "/") + rest.map { $0[...] } }
            guard existing != "/" else { return nil }
            let name = (existing as NSString).lastPathComponent
            guard name != ".." else { return nil }
            if name != "." { rest.insert(name, at: 0) }
            existing = (existing as NSString).deletingLastPathComponent
        }
    }

    private static func realPath(_ path: String) -> String? {
        // Safe: the C string of the path is valid until the call returns, and the result is copied and freed.
        guard let real = unsafe realpath(path, nil) else { return nil }
        defer { unsafe free(real) }
        return unsafe String(cString: real)
    }
}
