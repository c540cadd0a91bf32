import ByteCoding
import ContentKeys
import Glibc

/// The file outside the database that holds the number of random keys an installation has made (`keys.generationFile`).
///
/// It holds one JSON object in one line: `{"installation":"32 hexadecimal digits","lastKey":12}`. The whole file is
/// replaced, so that a reader or a power cut finds either the old number or the new one. A process that changes it
/// holds the lock of a second file beside it, `PATH-lock`. The lock file is never removed.
struct KeyGenerationFile: Sendable {
    struct Content: Equatable, Sendable {
        /// The random identifier of the installation whose keys are counted. It is made with the file.
        var installation: Bytes16
        /// The number of the last key.
        var number: Int64
    }

    /// The largest size of the file, in bytes.
    private static let sizeMaximum = 1024
    /// The number of attempts to take a lock that another process holds, and the pause between two attempts in
    /// microseconds.
    private static let lockAttempts = 1000
    private static let lockPause: UInt32 = 5000

    let path: String
    private var newPath: String { path + ".new" }

    /// Reads the file; nil if it does not exist.
    func read() throws(KeyGenerationFault) -> Content? {
        // The C string is valid until the call returns.
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            let error = errno
            if error == ENOENT { return nil }
            throw .notReadable(errno: error)
        }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: Self.sizeMaximum + 1)
        var count = 0
        while count < bytes.count {
            // The buffer has room for the number of bytes that are requested.
            let got = unsafe bytes.withUnsafeMutableBytes { buffer in
                unsafe Glibc.read(descriptor, buffer.baseAddress?.advanced(by: count), buffer.count - count)
            }
            if got < 0, errno == EINTR { continue }
            guard got >= 0 else { throw .notReadable(errno: errno) }
            if got == 0 { break }
            count += got
        }
        guard count <= Self.sizeMaximum, let content = Content(parsing: Array(bytes[..<count])) else {
            throw .malformed
        }
        return content
    }

    /// Replaces the file durably. The caller holds the lock.
    func write(_ content: Content) throws(KeyGenerationFault) {
        try prepare(content)
        try putInPlace()
    }

    /// Writes the new content durably to a file beside this one. After that, only `putInPlace` can fail.
    func prepare(_ content: Content) throws(KeyGenerationFault) {
        // The C string is valid until the call returns.
        let descriptor = unsafe open(newPath, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw .notWritable(errno: errno) }
        defer { close(descriptor) }
        keepOwner(descriptor)
        var rest = content.bytes[...]
        while !rest.isEmpty {
            // The buffer holds all bytes that are written.
            let written = unsafe rest.withUnsafeBytes { unsafe Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if written < 0, errno == EINTR { continue }
            guard written > 0 else { throw .notWritable(errno: errno) }
            rest = rest.dropFirst(written)
        }
        guard fsync(descriptor) == 0 else { throw .notWritable(errno: errno) }
    }

    /// Replaces the file by the prepared one, durably.
    func putInPlace() throws(KeyGenerationFault) {
        // The C strings are valid until the call returns.
        guard unsafe rename(newPath, path) == 0 else { throw .notWritable(errno: errno) }
        do throws(StorageOpeningError) {
            try DatabaseFile.syncFolder(of: path)
        } catch {
            if case .fileNotUsable(_, let error) = error { throw .notWritable(errno: error) }
            throw .notWritable(errno: EIO)
        }
    }

    /// Deletes the prepared file.
    func discard() {
        // The C string is valid until the call returns. If the file cannot be deleted, the next `prepare` overwrites
        // it.
        _ = unsafe unlink(newPath)
    }

    /// Gives the new file the owner and mode of the old one, as far as the process may, when a command runs as another
    /// user.
    private func keepOwner(_ descriptor: Int32) {
        var status = stat()
        guard unsafe stat(path, &status) == 0 else { return }
        _ = fchown(descriptor, status.st_uid, status.st_gid)
        _ = fchmod(descriptor, status.st_mode & 0o777)
    }

    /// Runs `body` while no other process or thread changes the file. Throws `busy` if another one holds the lock for
    /// five seconds.
    func withLock<Value>(
        _ body: () throws(KeyProvisionError) -> Value
    ) throws(KeyProvisionError) -> Value {
        // The C string is valid until the call returns.
        let descriptor = unsafe open(path + "-lock", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw KeyProvisionError(.notWritable(errno: errno)) }
        // A child process between fork and exec has a copy of the descriptor. Closing alone would leave the lock with
        // the child.
        defer {
            flock(descriptor, LOCK_UN)
            close(descriptor)
        }
        var attempt = 0
        while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
            let error = errno
            guard error == EWOULDBLOCK || error == EINTR else { throw KeyProvisionError(.notWritable(errno: error)) }
            attempt += 1
            guard attempt < Self.lockAttempts else { throw .store(.unavailable(.busy)) }
            usleep(Self.lockPause)
        }
        return try body()
    }
}

extension KeyGenerationFile.Content {
    /// Parses the JSON object that `bytes` writes; nil for any other text.
    init?(parsing bytes: [UInt8]) {
        guard let object = (try? JSONReader.parse(bytes))?.object, object.members.count == 2,
            let digits = object["installation"]?.string, let number = object["lastKey"]?.number?.signed, number >= 0,
            let installation = try? Hexadecimal.decode(Array(digits.utf8)), installation.count == 16
        else { return nil }
        self.init(installation: Bytes16(installation, at: 0), number: number)
    }

    var bytes: [UInt8] {
        JSONWriter.object { writer in
            writer.member("installation", Hexadecimal.encode(installation.bytes))
            writer.member("lastKey", number)
        } + [UInt8(ascii: "\n")]
    }
}

extension KeyProvisionError {
    init(_ fault: KeyGenerationFault) {
        self = .store(.unavailable(.keyGeneration(fault)))
    }
}
