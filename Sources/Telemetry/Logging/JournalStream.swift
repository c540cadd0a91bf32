import Glibc

extension LogStyle {
    /// The style for what reads this program's standard error. `environment` may have `JOURNAL_STREAM`.
    package init(ofStandardError environment: [String: String], descriptor: Int32 = STDERR_FILENO) {
        if isatty(descriptor) == 1 {
            self = .terminal
        } else {
            self = JournalStream.isStandardError(environment, descriptor: descriptor) ? .journal : .json
        }
    }
}

/// Whether journald reads what this program writes to standard error.
package enum JournalStream {
    /// `environment` has `JOURNAL_STREAM` if a service manager has connected a stream with the journal: its device and
    /// inode in decimal numbers, with a colon between (systemd.exec(5)). Another program may have redirected standard
    /// error since then, so the two are compared with those of the descriptor.
    package static func isStandardError(
        _ environment: [String: String], descriptor: Int32 = STDERR_FILENO
    ) -> Bool {
        guard let parts = environment["JOURNAL_STREAM"]?.split(separator: ":", omittingEmptySubsequences: false),
            parts.count == 2, let device = UInt64(parts[0]), let inode = UInt64(parts[1])
        else { return false }
        var status = stat()
        // Safe: the pointer is a local variable.
        guard unsafe fstat(descriptor, &status) == 0 else { return false }
        return UInt64(status.st_dev) == device && UInt64(status.st_ino) == inode
    }
}
