import CLinux
import Glibc

/// How the descriptors of the process are shared out: some are for the store, for reload and for the admin listener,
/// so that strangers cannot take them.
package struct DescriptorPlan: Equatable, Sendable {
    /// The limit in force.
    package let limit: Int
    /// The most connections of public listeners together.
    package let publicConnectionsMaximum: Int
    /// The most connections of admin listeners together.
    package let adminConnectionsMaximum: Int

    /// Shares out what a limit leaves when so many descriptors are open already. A sixteenth of the limit is kept back,
    /// at least 24 and at most 256 descriptors; a quarter of these is for the admin listener.
    package init(limit: Int, openCount: Int) {
        let reserve = min(256, max(24, limit / 16))
        self.limit = limit
        adminConnectionsMaximum = max(4, reserve / 4)
        publicConnectionsMaximum = max(1, limit - openCount - reserve)
    }

    /// Raises the soft limit of descriptors to the hard one, and returns the limit in force; nil if the kernel does not
    /// tell it.
    package static func raiseLimit() -> Int? {
        let limit = latchkey_raise_descriptor_limit()
        return limit > 0 ? Int(clamping: limit) : nil
    }

    /// Has the kernel's table of descriptors grow now to so many, or to the limit if that is less. If it cannot, the
    /// table grows by itself later.
    ///
    /// The table doubles when it is full, and in a process of several threads that waits until no processor uses the
    /// old one (`synchronize_rcu`): 10 to 30 ms, in which no thread opens a descriptor. A flood of connections would
    /// stop the loops so with each doubling. A descriptor takes 8 bytes, and the table never shrinks.
    package static func growTable(to count: Int) {
        let limit = latchkey_descriptor_limit()
        let size = limit > 0 ? min(count, Int(clamping: limit)) : count
        if size > 0 { _ = latchkey_grow_descriptor_table(Int32(clamping: size)) }
    }

    /// The plan of this process as it is now; nil if the kernel does not tell its limit or its descriptors.
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
        // Without ".", ".." and the descriptor of this very look.
        return count - 3
    }
}
