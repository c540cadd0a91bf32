import Testing

@testable import AdminRoutes
@testable import LatchkeyService
@testable import PackagerRoutes
@testable import PlayerRoutes
@testable import RouteKit
@testable import Upkeep

@Suite struct TrimPolicyTests {
    private static let mebibyte = 1 << 20

    @Test(arguments: [
        (30, 0, false), (38, 0, false), (39, 0, true), (1000, 0, true), (1000, 499, true), (1000, 500, false),
        (1000, 900, false),
    ])
    func trimsWhileMuchMoreIsResidentThanCharged(resident: Int, charged: Int, expected: Bool) {
        var policy = TrimPolicy(restingSize: 30 * Self.mebibyte)
        let verdict = policy.shouldTrim(resident: resident * Self.mebibyte, charged: charged * Self.mebibyte)
        #expect(verdict == expected)
    }

    @Test func pausesAfterATrimThatDidNotHelp() {
        var policy = TrimPolicy(restingSize: 0)
        let size = 100 * Self.mebibyte
        let first = policy.shouldTrim(resident: size, charged: 0)
        policy.trimmed(from: size, to: size)
        for _ in 0..<TrimPolicy.pauseLength {
            let isEarly = policy.shouldTrim(resident: size, charged: 0)
            #expect(!isEarly)
        }
        let second = policy.shouldTrim(resident: size, charged: 0)
        policy.trimmed(from: size, to: size / 2)
        let third = policy.shouldTrim(resident: size / 2, charged: 0)
        #expect([first, second, third] == [true, true, true])
    }
}
