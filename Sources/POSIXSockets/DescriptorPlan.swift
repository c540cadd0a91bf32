import CLinux
import Glibc

/// Divides the descriptors of the process. Some are reserved for the store, for reloads and for the admin listener, so
/// that public clients cannot use all of them.
package struct DescriptorPlan: Equatable, Sendable {
    /// The present limit.
    package let limit: Int
    /// The most connections of public listeners together.
    package let publicConnectionsMaximum: Int
    /// The most connections of admin listeners together.
    package let adminConnectionsMaximum: Int

    /// Divides the descriptors below `limit`, of which `openCount` are open already.
    ///
    /// A sixteenth of the limit is reserved, at least 24 and at most 256 descriptors. A quarter of these is for the
    /// admin listener.
    package init(limit: Int, openCount: Int) {
        let reserve = min(256, max(24, limit / 16))
        self.limit = limit
        adminConnectionsMaximum = max(4, reserve / 4)
        publicConnectionsMaximum = max(1, limit - openCount - reserve)
    }

    /// Raises the soft limit of descriptors to the hard limit. Returns the new limit; nil if the kernel does not report
    /// it.
    package static func raiseLimit() -> Int? {
        let limit = latchkey_raise_descriptor_limit()
        return limit > 0 ? Int(clamping: limit) : nil
    }

    /// Makes the kernel's table of descriptors grow now to `count`, or to the limit if that is less. If this fails, the
    /// table grows by itself later.
    ///
    /// The kernel doubles the table when it is full. In a process with several threads, it then waits until no
    /// processor uses the old table (`synchronize_rcu`). This takes 10 to 30 ms, in which no thread can open a
    /// descriptor. During a flood of connections, each doubling would block the loops. A descriptor takes 8 bytes, and
    /// the table never shrinks.
    package static func growTable(to count: Int) {
        let limit = latchkey_descriptor_limit()
        let size = limit > 0 ? min(count, Int(clamping: limit)) : count
        if size > 0 { _ = latchkey_grow_descriptor_table(Int32(clamping: size)) }
    }

    /// Returns the plan for the present state of this process; nil if the kernel does not report the limit or the open
    /// descriptors.
    package static func current() -> DescriptorPlan? {
        let limit = latchkey_descriptor_limit()
        guard limit > 0, let openCount = openCount() else { return nil }
        return DescriptorPlan(limit: Int(clamping: limit), openCount: openCount)
    }

    private static func openCount() -> Int? {
        // Safe: the stream is open until `closedir`, and an entry is only compared with nil.
        guard let directory = unsafe opendir("/proc/self/fd") else { return nil }
        defer { unsafe closedir(directory) }
        var count = 0
        while unsafe readdir(directory) != nil { count += 1 }
        // ".", ".." and the descriptor of this directory stream do not count.
        return count - 3
    }
}
