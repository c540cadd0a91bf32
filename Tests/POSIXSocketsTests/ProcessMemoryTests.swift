import Glibc
import Testing

@testable import POSIXSockets

@Suite struct ProcessMemoryTests {
    /// A block with pages of its own begins after the allocator's 16 bytes. Without the setting, glibc gives no such
    /// pages to a block that is smaller than one that was freed before.
    @Test func largeBlocksHavePagesOfTheirOwn() throws {
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
