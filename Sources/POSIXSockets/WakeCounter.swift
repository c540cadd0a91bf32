import CLinux
import Glibc

/// A descriptor that another thread makes readable to wake the thread that waits on it (`eventfd`).
package struct WakeCounter: ~Copyable, Sendable {
    private let descriptor: Descriptor

    /// Opens a counter that is not readable yet.
    package init() throws(SocketError) {
        descriptor = Descriptor(owning: try interruptible { latchkey_eventfd() }.get(.eventCounter))
    }

    /// The descriptor's number, for an epoll set.
    package var number: Int32 { descriptor.number }

    /// Makes the descriptor readable; from any thread.
    package borrowing func wake() {
        var one: UInt64 = 1
        // Safe: eight bytes of a local variable. Fails only when the counter is full, and then it is readable anyway.
        _ = unsafe Glibc.write(descriptor.number, &one, MemoryLayout<UInt64>.size)
    }

    /// Makes the descriptor unreadable until the next `wake`.
    package borrowing func reset() {
        var count: UInt64 = 0
        // Safe: eight bytes of a local variable. Fails only if there was no wake, and then it is unreadable anyway.
        _ = unsafe Glibc.read(descriptor.number, &count, MemoryLayout<UInt64>.size)
    }
}
