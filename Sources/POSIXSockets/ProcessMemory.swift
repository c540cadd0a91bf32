import CLinux

/// The allocator of the process.
package enum ProcessMemory {
    /// Makes the allocator return blocks of 1 MiB or more to the system as soon as they are freed.
    ///
    /// Otherwise it would keep the blocks that a growing table has left behind.
    package static func returnLargeBlocks() {
        _ = latchkey_return_large_blocks(1 << 20)
    }

    /// Returns free memory of all threads' arenas to the system.
    package static func trim() {
        _ = latchkey_trim_memory()
    }
}
