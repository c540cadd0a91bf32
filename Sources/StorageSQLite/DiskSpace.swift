package import ContentKeys
private import Glibc

/// What a database takes of its disk, and what the disk has left. All sizes are in bytes.
package struct DiskSpace: Equatable, Sendable {
    /// Of the database file.
    package let database: Int64
    /// Of its write-ahead log; 0 without one.
    package let log: Int64
    /// What this process may still write on the file system.
    package let free: Int64

    /// Less than this on the disk is too little: the log of one busy minute and a checkpoint need it.
    package static let least: Int64 = 256 * 1024 * 1024

    package var isLow: Bool { free < Self.least }

    /// Looks at the database of this path. May wait for the disk. Throws `unavailable(.inputOutput)`.
    package static func measure(_ path: String) throws(StoreError) -> DiskSpace {
        var system = statvfs()
        guard let database = size(path), unsafe statvfs(path, &system) == 0 else { throw .unavailable(.inputOutput) }
        let free = UInt64(system.f_bavail).multipliedReportingOverflow(by: UInt64(system.f_frsize))
        return DiskSpace(
            database: database, log: size(path + "-wal") ?? 0,
            free: free.overflow ? .max : Int64(clamping: free.partialValue))
    }

    /// Nil if there is no such file.
    private static func size(_ path: String) -> Int64? {
        var status = stat()
        guard unsafe stat(path, &status) == 0 else { return nil }
        return Int64(status.st_size)
    }
}
