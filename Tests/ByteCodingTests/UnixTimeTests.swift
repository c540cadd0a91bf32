import Testing

@testable import ByteCoding

@Suite struct UnixTimeTests {
    @Test(
        arguments: [
            (UnixTime.secondsMinimum, 0, true), (UnixTime.secondsMinimum - 1, 0, false),
            (UnixTime.secondsMaximum, 999_999_999, true), (UnixTime.secondsMaximum + 1, 0, false),
            (0, 1_000_000_000, false), (0, UInt32.max, false), (Int64.min, 0, false), (Int64.max, 0, false),
        ] as [(Int64, UInt32, Bool)])
    func onlyPrintableTimesExist(seconds: Int64, nanoseconds: UInt32, exists: Bool) {
        #expect((UnixTime(seconds: seconds, nanoseconds: nanoseconds) != nil) == exists)
    }

    @Test func timesAreOrderedAsTheyPass() throws {
        let times = [(-2, 5), (-1, 0), (-1, 999_999_999), (0, 0), (0, 1), (1, 0)].compactMap {
            UnixTime(seconds: $0.0, nanoseconds: $0.1)
        }
        #expect(times.count == 6)
        #expect(times.reversed().sorted() == times)
    }
}
