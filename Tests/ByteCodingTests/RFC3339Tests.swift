import TestSupport
import Testing

@testable import ByteCoding

@Suite struct RFC3339Tests {
    @Test(
        arguments: [
            ("1970-01-01T00:00:00Z", 0, 0), ("1970-01-01t00:00:00z", 0, 0), ("1969-12-31T23:59:59Z", -1, 0),
            // The examples of RFC 3339 section 5.8.
            ("1985-04-12T23:20:50.52Z", 482_196_050, 520_000_000), ("1996-12-19T16:39:57-08:00", 851_042_397, 0),
            ("1990-12-31T23:59:60Z", 662_688_000, 0), ("1990-12-31T15:59:60-08:00", 662_688_000, 0),
            ("1937-01-01T12:00:27.87+00:20", -1_041_337_173, 870_000_000),
            ("2016-12-31T23:59:60.999Z", 1_483_228_800, 999_000_000), ("2015-07-01T05:29:60+05:30", 1_435_708_800, 0),
            ("2026-07-28T12:34:56.123456789Z", 1_785_242_096, 123_456_789),
            ("2026-07-28T12:34:56.1234567899999Z", 1_785_242_096, 123_456_789),
            ("2026-07-28T12:34:56.000000000000000000000000000000000000000000Z", 1_785_242_096, 0),
            ("2026-07-28T12:34:56-00:00", 1_785_242_096, 0), ("2026-07-28T12:34:56+23:59", 1_785_155_756, 0),
            ("2000-02-29T00:00:00Z", 951_782_400, 0), ("0000-01-01T00:00:00Z", UnixTime.secondsMinimum, 0),
            ("9999-12-31T23:59:59.9Z", UnixTime.secondsMaximum, 900_000_000),
        ] as [(String, Int64, UInt32)])
    func readsWhatTheStandardHas(text: String, seconds: Int64, nanoseconds: UInt32) throws {
        let time = try RFC3339.parse(text)
        #expect(time.seconds == seconds)
        #expect(time.nanoseconds == nanoseconds)
    }

    @Test(
        arguments: [
            ("", .invalidLength(0)), ("2026-07-28T12:34:5Z", .invalidLength(19)),
            ("2026-07-28T12:34:56", .invalidLength(19)),
            ("2026-07-28T12:34:56." + String(repeating: "0", count: 44) + "Z", .invalidLength(65)),
            ("2026-07-28 12:34:56Z", .invalidCharacter(offset: 10)),
            ("2026-07-28_12:34:56Z", .invalidCharacter(offset: 10)),
            ("2026/07/28T12:34:56Z", .invalidCharacter(offset: 4)),
            ("20260728T123456.0000Z", .invalidCharacter(offset: 4)),
            ("2026-7-28T12:34:56.0Z", .invalidCharacter(offset: 6)),
            ("+026-07-28T12:34:56Z", .invalidCharacter(offset: 0)),
            ("-026-07-28T12:34:56Z", .invalidCharacter(offset: 0)),
            ("2026-07-28T12:34:56,5Z", .invalidCharacter(offset: 19)),
            ("2026-07-28T12:34:56.Z", .invalidCharacter(offset: 20)),
            ("2026-07-28T12:34:56.5", .invalidCharacter(offset: 21)),
            ("2026-07-28T12:34:56ZZ", .invalidCharacter(offset: 20)),
            ("2026-07-28T12:34:56Z ", .invalidCharacter(offset: 20)),
            (" 2026-07-28T12:34:56Z", .invalidCharacter(offset: 0)),
            ("2026-07-28T12:34:56+0100", .invalidCharacter(offset: 22)),
            ("2026-07-28T12:34:56+01", .invalidCharacter(offset: 22)),
            ("2026-07-28T12:34:56+1:00", .invalidCharacter(offset: 21)),
            ("2026-07-28T12:34:56UTC", .invalidCharacter(offset: 19)),
            ("2026-07-28T12:34Z-00:00", .invalidCharacter(offset: 16)),
            ("２026-07-28T12:34:56Z", .invalidCharacter(offset: 0)),
            ("2026-07-28T12:34:56\0Z", .invalidCharacter(offset: 19)),
        ] as [(String, TextCodingError)])
    func refusesOtherSpellings(text: String, error: TextCodingError) {
        #expect(throws: error) { try RFC3339.parse(text) }
    }

    @Test(
        arguments: [
            "2026-02-29T00:00:00Z", "2026-13-01T00:00:00Z", "2026-00-01T00:00:00Z", "2026-01-00T00:00:00Z",
            "2026-04-31T00:00:00Z", "2026-01-01T24:00:00Z", "2026-01-01T23:60:00Z", "2026-01-01T23:59:61Z",
            "2026-01-01T00:00:00+24:00", "2026-01-01T00:00:00-00:60", "0000-01-01T00:00:00+00:01",
            "9999-12-31T23:59:59-00:01", "9999-12-31T23:59:60Z",
            // Leap seconds at times that have none.
            "2026-07-28T12:34:60Z", "2026-03-31T23:59:60Z", "2026-06-29T23:59:60Z", "2026-06-30T22:59:60Z",
            "2026-06-30T23:58:60Z", "2026-06-30T23:59:60+01:00", "2026-12-31T15:59:60+08:00", "2026-02-28T23:59:60Z",
        ])
    func refusesTimesThatDoNotExist(text: String) {
        #expect(throws: TextCodingError.outOfRange) { try RFC3339.parse(text) }
    }

    static let sample = "1937-01-01T12:00:27.87+00:20"

    @Test(arguments: 0..<sample.count)
    func refusesEveryTruncation(length: Int) {
        #expect(throws: TextCodingError.self) { try RFC3339.parse(String(Self.sample.prefix(length))) }
    }

    @Test(
        arguments: [
            (0, 0, "1970-01-01T00:00:00Z", "1970-01-01T00:00:00.000Z"),
            (-1, 999_999_999, "1969-12-31T23:59:59Z", "1969-12-31T23:59:59.999Z"),
            (1_785_242_096, 7_000_000, "2026-07-28T12:34:56Z", "2026-07-28T12:34:56.007Z"),
            (1_785_242_096, 999_999, "2026-07-28T12:34:56Z", "2026-07-28T12:34:56.000Z"),
            (UnixTime.secondsMinimum, 0, "0000-01-01T00:00:00Z", "0000-01-01T00:00:00.000Z"),
            (UnixTime.secondsMaximum, 999_999_999, "9999-12-31T23:59:59Z", "9999-12-31T23:59:59.999Z"),
        ] as [(Int64, UInt32, String, String)])
    func printsUTC(seconds: Int64, nanoseconds: UInt32, text: String, milliseconds: String) throws {
        let time = try #require(UnixTime(seconds: seconds, nanoseconds: nanoseconds))
        #expect(RFC3339.format(time) == text)
        #expect(RFC3339.format(time, precision: .milliseconds) == milliseconds)
        #expect(time.description == text)
    }

    @Test func everyTimeSurvivesTheRoundTrip() throws {
        var generator = SeededGenerator.announced("RFC 3339 round trip")
        for _ in 0..<2000 {
            let seconds = Int64.random(in: UnixTime.secondsMinimum...UnixTime.secondsMaximum, using: &generator)
            let milliseconds = UInt32.random(in: 0..<1000, using: &generator)
            let time = try #require(UnixTime(seconds: seconds, nanoseconds: milliseconds * 1_000_000))
            let text = RFC3339.format(time, precision: .milliseconds)
            #expect(try RFC3339.parse(text) == time)
        }
    }
}

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

    /// The calendar repeats every 400 years. In these, each day follows the day before.
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
