import Glibc
import TestSupport
import Testing

@testable import POSIXSockets

@Suite struct DescriptorPlanTests {
    @Test(arguments: [
        (64, 25, 15, 6), (1024, 30, 930, 16), (4096, 30, 3810, 64), (524_288, 30, 524_002, 64), (30, 30, 1, 6),
    ])
    func keepsDescriptorsBack(limit: Int, openCount: Int, publicMaximum: Int, adminMaximum: Int) {
        let plan = DescriptorPlan(limit: limit, openCount: openCount)
        #expect(plan.publicConnectionsMaximum == publicMaximum)
        #expect(plan.adminConnectionsMaximum == adminMaximum)
    }

    @Test func leavesRoomForEverything() {
        for limit in stride(from: 128, through: 1 << 20, by: 1000) {
            let plan = DescriptorPlan(limit: limit, openCount: 40)
            #expect(plan.publicConnectionsMaximum + plan.adminConnectionsMaximum + 40 < limit - 10)
        }
    }

    @Test func knowsThisProcess() throws {
        var limit = rlimit()
        // Safe: the pointer is a local variable.
        try #require(unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0)
        let raised = try #require(DescriptorPlan.raiseLimit())
        #expect(raised == Int(clamping: limit.rlim_max))
        #expect(DescriptorPlan.current()?.limit == raised)
    }

    /// The table grows in advance, so that a flood of connections does not wait for it.
    @Test func growsTheTableOfDescriptorsAtOnce() throws {
        let limit = try #require(DescriptorPlan.raiseLimit())
        DescriptorPlan.growTable(to: 3000)
        let size = try Self.tableSize()
        #expect(size >= min(3000, limit))
        // A size above the limit grows the table to the limit.
        DescriptorPlan.growTable(to: 1 << 16)
        #expect(try Self.tableSize() >= min(1 << 16, limit))
        DescriptorPlan.growTable(to: 0)
        #expect(try Self.tableSize() >= size)
    }

    private static func tableSize() throws -> Int {
        let status = try TextFile.read("/proc/self/status")
        let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("FDSize:") })
        return try #require(Int(line.dropFirst("FDSize:".count).drop { $0.isWhitespace }))
    }
}
