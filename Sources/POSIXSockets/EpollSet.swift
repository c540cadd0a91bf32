import CLinux
import Glibc

/// A set of descriptors on which one thread waits.
///
/// Each descriptor is added with a token that the caller chooses. Each event has the token of its descriptor.
@safe
package struct EpollSet: ~Copyable {
    private let descriptor: Descriptor
    private var events: [epoll_event]

    /// Opens an empty set that reports at most `eventsMaximum` events per wait.
    package init(eventsMaximum: Int = 256) throws(SocketError) {
        precondition(eventsMaximum > 0, "a wait must be able to report something")
        descriptor = Descriptor(owning: try interruptible { latchkey_epoll_create() }.get(.epollCreate))
        unsafe events = Array(repeating: epoll_event(), count: eventsMaximum)
    }

    /// Watches a descriptor. It must be removed or closed before its number is used again.
    package borrowing func add(_ number: Int32, _ interest: EpollInterest, token: UInt64) throws(SocketError) {
        try control(EPOLL_CTL_ADD, number, interest, token: token)
    }

    /// Changes the interest and the token of a descriptor.
    package borrowing func modify(_ number: Int32, _ interest: EpollInterest, token: UInt64) throws(SocketError) {
        try control(EPOLL_CTL_MOD, number, interest, token: token)
    }

    /// Stops watching a descriptor that is still open.
    package borrowing func remove(_ number: Int32) {
        // This fails only if the descriptor is not in the set, which is no problem.
        _ = latchkey_epoll_control(descriptor.number, EPOLL_CTL_DEL, number, 0, 0)
    }

    /// Waits until a descriptor is ready or the time is over, and returns the number of events. With -1, there is no
    /// time limit.
    ///
    /// A signal ends the wait early, without events.
    package mutating func wait(milliseconds: Int32) -> Int {
        let number = descriptor.number
        // Safe: the kernel writes at most `count` events into storage that is borrowed for the call.
        let count = unsafe events.withUnsafeMutableBufferPointer { buffer in
            unsafe epoll_wait(number, buffer.baseAddress!, Int32(buffer.count), milliseconds)
        }
        return max(0, Int(count))
    }

    /// Returns an event of the last `wait`. `position` is below the number of events.
    package borrowing func event(at position: Int) -> (token: UInt64, readiness: EpollReadiness) {
        // Safe: the union member is the one that `control` wrote.
        unsafe (events[position].data.u64, EpollReadiness(rawValue: events[position].events))
    }

    private borrowing func control(
        _ operation: Int32, _ number: Int32, _ interest: EpollInterest, token: UInt64
    ) throws(SocketError) {
        let result = latchkey_epoll_control(descriptor.number, operation, number, interest.rawValue, token)
        guard result == 0 else { throw .failed(.epollControl, errno: errno) }
    }
}

/// The events for which a descriptor is watched. Errors and hang-ups are always reported.
package struct EpollInterest: OptionSet, Sendable {
    package let rawValue: UInt32

    package init(rawValue: UInt32) {
        self.rawValue = rawValue
    }

    /// There is something to read or to accept.
    package static let readable = EpollInterest(rawValue: EPOLLIN.rawValue)
    /// There is room to write.
    package static let writable = EpollInterest(rawValue: EPOLLOUT.rawValue)
    /// The peer has closed its side.
    package static let peerClosed = EpollInterest(rawValue: EPOLLRDHUP.rawValue)
    /// Report each change only once (edge-triggered), not again as long as the state lasts.
    package static let onlyChanges = EpollInterest(rawValue: EPOLLET.rawValue)
    /// If several sets watch the same descriptor, wake only one of them.
    package static let exclusive = EpollInterest(rawValue: EPOLLEXCLUSIVE.rawValue)
}

/// The readiness of a descriptor.
package struct EpollReadiness: OptionSet, Sendable {
    package let rawValue: UInt32

    package init(rawValue: UInt32) {
        self.rawValue = rawValue
    }

    /// There is something to read, or the stream has ended.
    package static let readable = EpollReadiness(rawValue: EPOLLIN.rawValue)
    /// There is room to write.
    package static let writable = EpollReadiness(rawValue: EPOLLOUT.rawValue)
    /// The peer has closed its side.
    package static let peerClosed = EpollReadiness(rawValue: EPOLLRDHUP.rawValue)
    /// The connection failed.
    package static let failed = EpollReadiness(rawValue: EPOLLERR.rawValue)

    /// Whether the connection is lost: it failed, was reset, or both sides are closed.
    ///
    /// The raw values are compared, because a literal of several options would be built again with each use.
    package var isLost: Bool { rawValue & (EPOLLHUP.rawValue | EPOLLERR.rawValue) != 0 }

    /// Whether a read would return bytes or the end of the input.
    package var bringsInput: Bool { rawValue & (EPOLLIN.rawValue | EPOLLRDHUP.rawValue) != 0 }
}

/// A descriptor (`eventfd`) that another thread makes readable, to wake the thread that waits on it.
package struct WakeCounter: ~Copyable, Sendable {
    private let descriptor: Descriptor

    /// Opens a counter that is not readable yet.
    package init() throws(SocketError) {
        descriptor = Descriptor(owning: try interruptible { latchkey_eventfd() }.get(.eventCounter))
    }

    /// The descriptor's number, for an epoll set.
    package var number: Int32 { descriptor.number }

    /// Makes the descriptor readable. Any thread may call it.
    package borrowing func wake() {
        var one: UInt64 = 1
        // Safe: the call reads eight bytes of a local variable. It fails only if the counter is full, and then the
        // descriptor is readable anyway.
        _ = unsafe Glibc.write(descriptor.number, &one, MemoryLayout<UInt64>.size)
    }

    /// Makes the descriptor unreadable until the next `wake`.
    package borrowing func reset() {
        var count: UInt64 = 0
        // Safe: the call writes eight bytes of a local variable. It fails only if there was no wake, and then the
        // descriptor is not readable anyway.
        _ = unsafe Glibc.read(descriptor.number, &count, MemoryLayout<UInt64>.size)
    }
}
