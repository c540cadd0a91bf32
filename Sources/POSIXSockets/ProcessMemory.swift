import CLinux

/// The allocator of the process.
package enum ProcessMemory {
    /// Returns free memory of all threads' arenas to the system.
    package static func trim() {
        _ = latchkey_trim_memory()
    }
}
