import CLinux
import Glibc

/// A pipe that takes the error output of programs. What does not fit into it is lost, so no program waits for a reader.
package final class ErrorOutput: Sendable {
    /// What the kernel gives to a user without rights by default.
    private static let size = 1 << 20
    private let readEnd: Descriptor
    private let writeEnd: Descriptor

    /// Makes the pipe. Throws `failed`.
    package init() throws(SocketError) {
        var ends: [Int32] = [-1, -1]
        // Safe: there is room for two descriptors.
        guard unsafe latchkey_pipe(&ends) == 0 else { throw .failed(.pipe, errno: errno) }
        readEnd = Descriptor(owning: ends[0])
        writeEnd = Descriptor(owning: ends[1])
        // If that is too much, the pipe keeps its 65,536 bytes.
        _ = latchkey_set_pipe_size(writeEnd.number, Int32(Self.size))
    }

    var writeNumber: Int32 { writeEnd.number }

    /// Returns what was written since the last call, without waiting.
    package func take() -> [UInt8] {
        var taken: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while taken.count < Self.size {
            // Safe: the kernel writes at most as many bytes as the buffer has.
            let result = interruptible { unsafe Glibc.read(readEnd.number, &buffer, buffer.count) }
            guard case .value(let count) = result, count > 0 else { break }
            taken += buffer[..<count]
        }
        return taken
    }
}
