import ByteCoding
package import CommandLineKit
import Foundation
package import KeyCrypto
import ServiceConfiguration

/// The files that are named on a command line.
package enum CommandFile {
    /// The most bytes of a file that is read.
    package static let sizeMaximum = 1 << 20

    /// The contents of a regular file of 1 to `sizeMaximum` bytes.
    package static func read(_ path: String) throws(CommandError) -> SecretBytes {
        return try wrap(
            CommandError.file,
            try FileReading.read(path, sizeMaximum: sizeMaximum, permissions: .any))
    }

    /// The same for an operand, where `-` stands for standard input. An empty file has no bytes.
    package static func readOperand(_ path: String, _ context: CommandContext) throws(CommandError) -> [UInt8] {
        if path == "-" { return try context.readInput(sizeMaximum: sizeMaximum).revealed() }
        do throws(FileError) {
            return try FileReading.read(path, sizeMaximum: sizeMaximum, permissions: .any).revealed()
        } catch .empty {
            return []
        } catch {
            throw .failed(error.description)
        }
    }

    /// Writes a file of mode 0644, or 0600 if it holds secrets, whole or not at all; an earlier file of that name is
    /// replaced.
    package static func write(
        _ bytes: [UInt8], to path: String, isSecret: Bool
    ) throws(CommandError) {
        var status = stat()
        // Unsafe is the path as a C string alone, which lives until the call returns.
        let exists = unsafe stat(path, &status) == 0
        guard !exists || status.st_mode & S_IFMT == S_IFREG else { throw .failed("\(path) is not a regular file") }
        let part = "\(path).\(UInt32.random(in: .min ... .max)).part"
        try wrap(
            CommandError.newFile,
            try NewFile.write(bytes, to: part, mode: isSecret ? 0o600 : 0o644))
        // Unsafe are again the C strings alone, as in every call below that takes a path.
        guard unsafe rename(part, path) == 0 else {
            let reason = SystemText.lastError
            _ = unsafe unlink(part)
            throw .failed("cannot write \(path): \(reason)")
        }
    }
}

/// Makes files that are not there yet.
enum NewFile {
    /// Writes a new file with exactly this mode, durably. If it fails, no file of the name is left.
    static func write(_ bytes: [UInt8], to path: String, mode: mode_t) throws(NewFileError) {
        let descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode & 0o600)
        guard descriptor >= 0 else { throw NewFileError(path: path, reason: SystemText.lastError) }
        defer { close(descriptor) }
        // The mode at creation is subject to the umask; this one is not.
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
                // `offset` lies below the count, so that the slice is within the buffer.
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

/// Why a file was not made.
struct NewFileError: Error, Equatable, Sendable, CustomStringConvertible {
    let path: String
    let reason: String

    var description: String { "cannot write \(path): \(reason)" }
}

extension CommandError {
    static func configuration(_ error: ConfigurationError) -> CommandError { .failed(error.description) }

    static func file(_ error: FileError) -> CommandError { .failed(error.description) }

    static func newFile(_ error: NewFileError) -> CommandError { .failed(error.description) }

    /// The operating system gave OpenSSL no random bytes.
    static func noRandomBytes(_ error: CryptoError) -> CommandError {
        .failed("OpenSSL gave no random bytes (\(error))")
    }
}
