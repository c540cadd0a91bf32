import Glibc
import TestSupport
import Testing

@testable import POSIXSockets

@Suite(.tags(.startsProcesses)) struct ProcessMemoryTests {
    /// A block with pages of its own begins after the allocator's 16 bytes. Without the setting, glibc gives no such
    /// pages to a block that is smaller than one that was freed before.
    ///
    /// In a process of its own, because a block needs no new pages if enough memory was freed before.
    @Test func largeBlocksHavePagesOfTheirOwn() async {
        await #expect(processExitsWith: .success) {
            ProcessMemory.returnLargeBlocks()
            for size in stride(from: 8 << 20, through: 1 << 20, by: -(1 << 20)) {
                // Safe: the block is only freed, and nothing is read at its address.
                let block = unsafe try #require(malloc(size))
                let address = UInt(bitPattern: block)
                unsafe free(block)
                #expect(address % UInt(sysconf(Int32(_SC_PAGESIZE))) == 16, "a block of \(size) bytes")
            }
        }
    }
}
