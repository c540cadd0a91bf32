import CLinux
import Glibc

/// The end of a stream socket that this process was started with: blocking, for a process that has nothing else to do
/// than to wait for it.
package struct InheritedStream: ~Copyable, Sendable {
    /// Where `SpawnedProgram` puts it.
    package static let number: Int32 = 3

    private let descriptor: Descriptor

    /// Takes over the descriptor; nil if it is not a stream socket, because another program started this process.
    package init?() {
        guard Descriptor.isStreamSocket(Self.number) else { return nil }
        descriptor = Descriptor(owning: Self.number)
    }

    /// Whether the process that made the stream is this one's parent: not so when that has ended and this process was
    /// handed on to another.
    package borrowing func isOfParent() -> Bool {
        latchkey_socket_maker(descriptor.number) == getppid()
    }

    /// Waits for bytes and reads them into `buffer` from `offset` on, which must have room there.
    package borrowing func read(into buffer: inout [UInt8], from offset: Int) -> ReadOutcome {
        descriptor.receive(into: &buffer, from: offset)
    }

    /// Writes all bytes; false when the other side is gone.
    package borrowing func writeAll(_ bytes: Span<UInt8>) -> Bool {
        var offset = 0
        while offset < bytes.count {
            guard case .written(let count) = descriptor.send(bytes.extracting(offset..<bytes.count)) else {
                return false
            }
            offset += count
        }
        return true
    }
}
