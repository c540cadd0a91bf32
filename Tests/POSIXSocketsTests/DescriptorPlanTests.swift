import Glibc
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
}
