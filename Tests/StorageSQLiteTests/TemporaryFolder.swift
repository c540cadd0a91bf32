import Glibc

/// A folder for one test, which is deleted with its last owner.
final class TemporaryFolder: Sendable {
    let path: String

    init() throws {
        var template = Array("/tmp/latchkey-storage-XXXXXX\0".utf8CString.dropLast())
        // The call replaces the X in place and returns the same zero-terminated buffer. It is copied while it is valid.
        let made = unsafe template.withUnsafeMutableBufferPointer { buffer in
            unsafe buffer.baseAddress.flatMap { unsafe mkdtemp($0) }.map { unsafe String(cString: $0) }
        }
        guard let made else { throw TemporaryFolderError() }
        path = made
    }

    /// The path of the folder's database.
    var database: String { path + "/latchkey.db" }

    deinit {
        for file in [database, database + "-ledger-index"] {
            for suffix in ["", "-wal", "-shm", "-journal"] { unsafe unlink(file + suffix) }
        }
        unsafe unlink(path + "/.latchkey.db-lock")
        unsafe rmdir(path)
    }
}

struct TemporaryFolderError: Error {}

/// Reads and changes files directly, as an operator or a thief would.
enum Files {
    static func mode(_ path: String) -> UInt32? {
        var status = stat()
        // The structure is valid until the call returns.
        return unsafe stat(path, &status) == 0 ? status.st_mode & 0o7777 : nil
    }

    static func setMode(_ path: String, _ mode: UInt32) -> Bool {
        unsafe chmod(path, mode) == 0
    }

    static func move(_ path: String, to other: String) -> Bool {
        unsafe rename(path, other) == 0
    }

    static func remove(_ path: String) -> Bool {
        unsafe unlink(path) == 0
    }

    static func write(_ bytes: [UInt8], to path: String, mode: UInt32 = 0o600) -> Bool {
        let descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_TRUNC, mode)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        return unsafe Glibc.write(descriptor, bytes, bytes.count) == bytes.count
    }

    /// Returns the whole file; nil if it cannot be read.
    ///
    /// Must not be called for a database that this process has open, because closing the descriptor drops SQLite's
    /// locks.
    static func read(_ path: String) -> [UInt8]? {
        let descriptor = unsafe open(path, O_RDONLY)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 65536)
        while true {
            // The buffer has room for the number of bytes that are requested.
            let count = unsafe Glibc.read(descriptor, &chunk, chunk.count)
            guard count > 0 else { return count == 0 ? bytes : nil }
            bytes += chunk.prefix(count)
        }
    }
}
