/// Times as text (RFC 3339 section 5.6).
package enum RFC3339 {
    /// How much of the fraction is printed. The rest is cut off and not rounded, so that a printed time is never later
    /// than the real one.
    package enum Precision: Sendable {
        case seconds
        case milliseconds
    }

    /// Prints a time in UTC: "2026-01-31T12:00:00Z", or "2026-01-31T12:00:00.250Z" with milliseconds.
    package static func format(_ time: UnixTime, precision: Precision = .seconds) -> String {
        let (days, secondOfDay) = time.seconds.quotientAndRemainderRoundingDown(dividingBy: 86_400)
        let date = CivilDate(daysSinceEpoch: days)
        var text: [UInt8] = []
        text.reserveCapacity(24)
        append(date.year, digitCount: 4, then: "-", to: &text)
        append(date.month, digitCount: 2, then: "-", to: &text)
        append(date.day, digitCount: 2, then: "T", to: &text)
        append(secondOfDay / 3600, digitCount: 2, then: ":", to: &text)
        append(secondOfDay / 60 % 60, digitCount: 2, then: ":", to: &text)
        switch precision {
        case .seconds: append(secondOfDay % 60, digitCount: 2, then: "Z", to: &text)
        case .milliseconds:
            append(secondOfDay % 60, digitCount: 2, then: ".", to: &text)
            append(Int(time.nanoseconds / 1_000_000), digitCount: 3, then: "Z", to: &text)
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// Reads a time with any offset. Fraction digits from the tenth on are ignored.
    ///
    /// Second 60 is accepted only at the times that the standard names (section 5.7): at 23:59 UTC on 30 June or
    /// 31 December. As in POSIX, it counts as the first second of the next day. "T" and "Z" may be lower case; a space
    /// in place of "T" is refused.
    ///
    /// Throws `invalidLength` for a text of under 20 or over 64 bytes, `invalidCharacter` if the text breaks the
    /// grammar, and `outOfRange` for a date, time or offset that does not exist, or a time that is, in UTC, outside of
    /// the years 0000 to 9999.
    package static func parse(_ text: String) throws(TextCodingError) -> UnixTime {
        let size = text.utf8.count
        guard (20...64).contains(size) else { throw .invalidLength(size) }
        var parser = RFC3339Parser(text: Array(text.utf8))
        return try parser.parse()
    }

    private static func append(
        _ value: Int, digitCount: Int, then separator: Unicode.Scalar, to text: inout [UInt8]
    ) {
        var divisor = digitCount == 4 ? 1000 : digitCount == 3 ? 100 : 10
        while divisor > 0 {
            text.append(UInt8(ascii: "0") + UInt8(value / divisor % 10))
            divisor /= 10
        }
        text.append(UInt8(ascii: separator))
    }
}

extension Int64 {
    /// The quotient rounded down, and the remainder, which is therefore never negative.
    fileprivate func quotientAndRemainderRoundingDown(dividingBy divisor: Int64) -> (Int, Int) {
        let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? (Int(quotient - 1), Int(remainder + divisor)) : (Int(quotient), Int(remainder))
    }
}

/// A day of the proleptic Gregorian calendar, which RFC 3339 uses.
///
/// The arithmetic is from Howard Hinnant's "days_from_civil" and "civil_from_days". Years begin in March there, so
/// that the leap day is the last day of its year. The calendar repeats every 400 years, which are 146,097 days.
struct CivilDate: Equatable, Sendable {
    private static let daysOfEra = 146_097
    /// Days from 0000-03-01 to 1970-01-01.
    private static let daysToEpoch = 719_468

    let year: Int
    let month: Int
    let day: Int

    /// Nil unless the date exists and its year is from 0 to 9999.
    init?(year: Int, month: Int, day: Int) {
        guard (0...9999).contains(year), (1...12).contains(month), day >= 1,
            day <= Self.dayCount(ofMonth: month, year: year)
        else { return nil }
        self.year = year
        self.month = month
        self.day = day
    }

    /// The date this many days after 1970-01-01. The caller makes sure that its year is one that a time may have.
    init(daysSinceEpoch: Int) {
        let days = daysSinceEpoch + Self.daysToEpoch
        let era = (days >= 0 ? days : days - Self.daysOfEra + 1) / Self.daysOfEra
        let dayOfEra = days - era * Self.daysOfEra
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
        month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    }

    /// Days after 1970-01-01, negative before it.
    var daysSinceEpoch: Int {
        let yearFromMarch = month <= 2 ? year - 1 : year
        let era = (yearFromMarch >= 0 ? yearFromMarch : yearFromMarch - 399) / 400
        let yearOfEra = yearFromMarch - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        return era * Self.daysOfEra + dayOfEra - Self.daysToEpoch
    }

    private static func dayCount(ofMonth month: Int, year: Int) -> Int {
        switch month {
        case 2: year.isMultiple(of: 4) && !year.isMultiple(of: 100) || year.isMultiple(of: 400) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }
}
