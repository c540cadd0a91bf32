import CLinux
import Glibc

/// A file that exists only in this process: sealed memory under a descriptor of a chosen number.
///
/// The process can open it by its path even after it was confined, and no process can change it.
package enum SealedFile {
    /// The folder in which a process finds its own descriptors by their numbers.
    package static let folder = "/proc/self/fd"

    /// Makes a file. The number must not be in use. Throws `failed`.
    package static func make(_ contents: RawSpan, number: Int32) throws(SocketError) {
        // Something with this number would be a fault of the caller, and must not be closed.
        guard fcntl(number, F_GETFD) < 0 else { throw .failed(.sharedMemory, errno: EBUSY) }
        let memory = latchkey_sealable_memory()
        guard memory >= 0 else { throw .failed(.sharedMemory, errno: errno) }
        defer { close(memory) }
        // Safe: the bytes are written before the span ends.
        let isWritten = unsafe contents.withUnsafeBytes { bytes in unsafe writeAll(bytes, to: memory) }
        guard isWritten, latchkey_seal_memory(memory) == 0, fcntl(memory, F_DUPFD_CLOEXEC, number) == number else {
            throw .failed(.sharedMemory, errno: errno)
        }
    }

    private static func writeAll(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32) -> Bool {
        var written = 0
        while written < bytes.count {
            // Safe: the rest is a part of the bytes.
            let rest = unsafe UnsafeRawBufferPointer(rebasing: bytes[written...])
            let count = unsafe write(descriptor, rest.baseAddress, rest.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return false }
            written += count
        }
        return true
    }
}
