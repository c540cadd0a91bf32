import Testing

@testable import ByteCoding

@Suite struct CivilDateTests {
    @Test(
        arguments: [
            ((1970, 1, 1), 0), ((1969, 12, 31), -1), ((2000, 2, 29), 11_016), ((2000, 3, 1), 11_017),
            ((1900, 2, 28), -25_509), ((1900, 3, 1), -25_508), ((0, 1, 1), -719_528), ((0, 2, 29), -719_469),
            ((0, 3, 1), -719_468), ((9999, 12, 31), 2_932_896), ((2026, 7, 28), 20_662),
        ] as [((Int, Int, Int), Int)])
    func knownDaysHaveKnownNumbers(ymd: (Int, Int, Int), days: Int) throws {
        let date = try #require(CivilDate(year: ymd.0, month: ymd.1, day: ymd.2))
        #expect(date.daysSinceEpoch == days)
        #expect(CivilDate(daysSinceEpoch: days) == date)
    }

    @Test(
        arguments: [
            (2023, 2, 29), (1900, 2, 29), (2100, 2, 29), (2024, 2, 30), (2024, 4, 31), (2024, 1, 32), (2024, 1, 0),
            (2024, 0, 1), (2024, 13, 1), (10_000, 1, 1), (-1, 1, 1),
        ])
    func refusesDaysThatDoNotExist(year: Int, month: Int, day: Int) {
        #expect(CivilDate(year: year, month: month, day: day) == nil)
    }

    /// 400 years are the whole cycle of the calendar; each day follows the one before it.
    @Test func everyDayOfACycleFollowsTheDayBefore() {
        var last = CivilDate(daysSinceEpoch: -719_528)
        var faults = 0
        for days in -719_527 ... -573_000 {
            let date = CivilDate(daysSinceEpoch: days)
            let follows =
                date.day == 1
                ? last.day >= 28 && CivilDate(year: last.year, month: last.month, day: last.day + 1) == nil
                    && date.month == last.month % 12 + 1 && date.year == last.year + last.month / 12
                : date.day == last.day + 1 && date.month == last.month && date.year == last.year
            if !follows || date.daysSinceEpoch != days { faults += 1 }
            last = date
        }
        #expect(faults == 0)
    }
}
