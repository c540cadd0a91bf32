import Glibc
import POSIXSockets
import Testing

@Suite struct DescriptorTests {
    @Test func closesAtTheEndOfItsLife() throws {
        var ends: [Int32] = [0, 0]
        try #require(unsafe pipe(&ends) == 0)
        let reader = Descriptor(owning: ends[0])
        do {
            let writer = Descriptor(owning: ends[1])
            let isOpen = writer.isOpen
            #expect(isOpen)
        }
        // The last writer has closed, so the pipe has ended.
        var byte: UInt8 = 0
        let count = unsafe read(reader.number, &byte, 1)
        #expect(count == 0)
    }

    @Test func closesOnce() throws {
        var descriptor = Descriptor(owning: dup(0))
        let before = descriptor.isOpen
        descriptor.close()
        let after = descriptor.isOpen
        descriptor.close()
        let number = descriptor.number
        #expect(before)
        #expect(!after)
        #expect(number == -1)
    }

    @Test func lendsTheReserveAndTakesItBack() throws {
        var reserve = try ReserveDescriptor()
        var isLent = false
        reserve.lend { isLent = true }
        #expect(isLent)
        let isBack = reserve.restore()
        #expect(isBack)
    }
}
