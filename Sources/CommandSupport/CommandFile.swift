import ByteCoding
package import CommandLineKit
package import Foundation
package import KeyCrypto
package import ServiceConfiguration

/// Reads and writes the files that are named on a command line.
package enum CommandFile {
    /// The size of the largest file that is read, in bytes.
    package static let sizeMaximum = 1 << 20

    /// Returns the contents of a regular file of 1 to `sizeMaximum` bytes.
    package static func read(
        _ path: String, sizeMaximum: Int = CommandFile.sizeMaximum
    ) throws(CommandError) -> SecretBytes {
        return try wrap(
            CommandError.file,
            try FileReading.read(path, sizeMaximum: sizeMaximum, permissions: .any))
    }

    /// Returns the contents of an operand's file, or of standard input for `-`. They may be empty.
    package static func readOperand(_ path: String, _ context: CommandContext) throws(CommandError) -> [UInt8] {
        if path == "-" { return try context.readInput(sizeMaximum: sizeMaximum).revealed() }
        do throws(FileError) {
            return try FileReading.read(path, sizeMaximum: sizeMaximum, permissions: .any).revealed()
        } catch .empty {
            return []
        } catch {
            throw .file(error)
        }
    }

    /// Writes a file, whole or not at all. An earlier file of that name is replaced.
    ///
    /// The mode is 0600 if the file holds secrets, otherwise 0644.
    package static func write(
        _ bytes: [UInt8], to path: String, isSecret: Bool
    ) throws(CommandError) {
        var status = stat()
        // Safe: the C string of the path is valid until the call returns.
        let exists = unsafe stat(path, &status) == 0
        guard !exists || status.st_mode & S_IFMT == S_IFREG else { throw .failed("\(path) is not a regular file") }
        let part = "\(path).\(UInt32.random(in: .min ... .max)).part"
        try wrap(
            CommandError.newFile,
            try NewFile.write(bytes, to: part, mode: isSecret ? 0o600 : 0o644))
        // Safe: the C strings are valid until the call returns. So are those of every call below that takes a path.
        guard unsafe rename(part, path) == 0 else {
            let reason = SystemText.lastError
            _ = unsafe unlink(part)
            throw .failed("cannot write \(path): \(reason)")
        }
    }
}

/// Makes files that do not exist yet.
package enum NewFile {
    /// Writes a new file with exactly this mode, durably. If that fails, no file of this name is left.
    package static func write(_ bytes: [UInt8], to path: String, mode: mode_t) throws(NewFileError) {
        let descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode & 0o600)
        guard descriptor >= 0 else { throw NewFileError(path: path, reason: SystemText.lastError) }
        defer { close(descriptor) }
        // `fchmod` sets the exact mode, because the umask does not apply to it.
        let isWritten = fchmod(descriptor, mode) == 0 && write(bytes, to: descriptor) && fsync(descriptor) == 0
        guard isWritten else {
            let reason = SystemText.lastError
            _ = unsafe unlink(path)
            throw NewFileError(path: path, reason: reason)
        }
    }

    private static func write(_ bytes: [UInt8], to descriptor: Int32) -> Bool {
        var offset = 0
        while offset < bytes.count {
            let count = unsafe bytes.withUnsafeBytes { buffer in
                // Safe: `offset` is less than the count, so the slice is within the buffer.
                let rest = unsafe UnsafeRawBufferPointer(rebasing: buffer[offset...])
                return unsafe Glibc.write(descriptor, rest.baseAddress, rest.count)
            }
            if count > 0 {
                offset += count
            } else if errno != EINTR {
                return false
            }
        }
        return true
    }
}

/// Why a file could not be written.
package struct NewFileError: Error, Equatable, Sendable, CustomStringConvertible {
    let path: String
    let reason: String

    package var description: String { "cannot write \(path): \(reason)" }
}

extension CommandError {
    package static func configuration(_ error: ConfigurationError) -> CommandError { .failed(error.description) }

    package static func file(_ error: FileError) -> CommandError { .failed(error.commandDescription) }

    package static func newFile(_ error: NewFileError) -> CommandError { .failed(error.description) }

    /// OpenSSL could not provide random bytes.
    package static func noRandomBytes(_ error: CryptoError) -> CommandError {
        .failed("OpenSSL gave no random bytes (\(error))")
    }
}
