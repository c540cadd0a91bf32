import Testing

@testable import PlayerTools

@Suite struct LoadScheduleTests {
    @Test func isDueAtEqualDistances() {
        let schedule = LoadSchedule(rate: 4, seconds: 10, requestMaximum: nil)
        let due = (0..<5).map { schedule.due($0) }
        #expect(due == [.zero, .milliseconds(250), .milliseconds(500), .milliseconds(750), .seconds(1)])
    }

    /// The interval of this rate has no exact form in nanoseconds.
    @Test(arguments: [3, 7, 1_000_000, 999_983])
    func doesNotAddUpErrors(rate: Int) {
        let schedule = LoadSchedule(rate: rate, seconds: 86_400, requestMaximum: nil)
        #expect(schedule.due(rate * 86_400) == .seconds(86_400))
    }

    @Test func endsAfterItsTimeAndAfterItsRequests() {
        let timed = LoadSchedule(rate: nil, seconds: 2, requestMaximum: nil)
        #expect(timed.contains(1_000_000, at: .milliseconds(1_999)))
        #expect(!timed.contains(0, at: .seconds(2)))
        #expect(timed.due(5) == nil && timed.dueCount == nil)
        let counted = LoadSchedule(rate: nil, seconds: 2, requestMaximum: 3)
        #expect(counted.contains(2, at: .zero))
        #expect(!counted.contains(3, at: .zero))
        let fixed = LoadSchedule(rate: 5, seconds: 2, requestMaximum: nil)
        #expect(fixed.contains(9, at: .zero))
        #expect(!fixed.contains(10, at: .zero))
    }

    @Test(arguments: [1, 2, 3, 7])
    func dividesAllRequestsAmongThreads(threads: Int) {
        for maximum in [nil, 0, 1, 5, 19, 20, 21] as [Int?] {
            let schedule = LoadSchedule(rate: 10, seconds: 2, requestMaximum: maximum)
            let shares = (0..<threads).map { schedule.dueCount(forThread: $0, of: threads) ?? -1 }
            #expect(shares.reduce(0, +) == min(20, maximum ?? 20))
            #expect((shares.max() ?? 0) - (shares.min() ?? 0) <= 1)
        }
    }
}
