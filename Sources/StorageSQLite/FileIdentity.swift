import Glibc

/// Which file a path leads to: another file under the same name has another identity.
struct FileIdentity: Equatable, Sendable {
    private let device: UInt64
    private let inode: UInt64

    /// Nil if there is no such file, or its folder cannot be read.
    init?(path: String) {
        var status = stat()
        // The C string lives until the call returns.
        guard unsafe stat(path, &status) == 0 else { return nil }
        device = UInt64(status.st_dev)
        inode = UInt64(status.st_ino)
    }
}
