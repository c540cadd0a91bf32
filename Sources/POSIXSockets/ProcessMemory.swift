import CLinux

/// The allocator of the process.
package enum ProcessMemory {
    /// Gives free memory back to the system, from all threads' arenas.
    package static func trim() {
        _ = latchkey_trim_memory()
    }
}
