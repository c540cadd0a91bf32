import Glibc

/// Why the kernel has not locked the memory of secrets.
enum LockedMemory {
    /// What the memory of secrets needs, in KiB.
    private static let needed: UInt = 2048

    /// What was found, and what to do.
    static var remedy: String {
        var limits = rlimit()
        // Safe: the pointer is used during the call alone.
        guard unsafe getrlimit(__rlimit_resource_t(__RLIMIT_MEMLOCK.rawValue), &limits) == 0 else {
            return "raise LimitMEMLOCK of the unit (ulimit -l)"
        }
        let limit = UInt(limits.rlim_cur) / 1024
        if limit < needed {
            return
                "LimitMEMLOCK of the unit (ulimit -l) is \(limit) KiB, and \(needed) KiB are needed: raise it to 8 MiB"
        }
        return "LimitMEMLOCK (ulimit -l) allows \(limit) KiB, which is enough: something else forbids it, such as a"
            + " SystemCallFilter without @memlock or the seccomp profile of a container"
    }
}
