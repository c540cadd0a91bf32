/// The date format of HTTP, `Sun, 06 Nov 1994 08:49:37 GMT` (IMF-fixdate, RFC 9110 section 5.6.7).
package enum HTTPDate {
    /// Formats a time in seconds since 1970-01-01 00:00:00 UTC as 29 bytes. Years outside 0 to 9999 are clamped.
    package static func format(secondsSinceEpoch: Int64) -> [UInt8] {
        // From the year 0 to the end of the year 9999.
        let seconds = min(max(secondsSinceEpoch, -62_167_219_200), 253_402_300_799)
        let day = (seconds >= 0 ? seconds : seconds - 86_399) / 86_400
        let secondOfDay = Int(seconds - day * 86_400)
        let (year, month, dayOfMonth) = civilDate(daysSinceEpoch: Int(day))
        let weekday = (Int(day) % 7 + 11) % 7

        var text: [UInt8] = []
        text.reserveCapacity(29)
        text.append(contentsOf: weekdays[weekday].utf8)
        text.append(contentsOf: ", ".utf8)
        text.appendDigits(dayOfMonth, 2)
        text.append(0x20)
        text.append(contentsOf: months[month - 1].utf8)
        text.append(0x20)
        text.appendDigits(year, 4)
        text.append(0x20)
        text.appendDigits(secondOfDay / 3600, 2)
        text.append(0x3a)
        text.appendDigits(secondOfDay / 60 % 60, 2)
        text.append(0x3a)
        text.appendDigits(secondOfDay % 60, 2)
        text.append(contentsOf: " GMT".utf8)
        return text
    }

    private static let weekdays = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    /// Converts a day number to a Gregorian date.
    ///
    /// In the calculation, years begin in March, so that the leap day is the last day of a year. Years are grouped in
    /// eras of 400 years, each of which has 146,097 days.
    private static func civilDate(daysSinceEpoch: Int) -> (year: Int, month: Int, day: Int) {
        let days = daysSinceEpoch + 719_468
        let era = (days >= 0 ? days : days - 146_096) / 146_097
        let dayOfEra = days - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        let month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        return (
            yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
        )
    }
}

extension [UInt8] {
    fileprivate mutating func appendDigits(_ number: Int, _ count: Int) {
        var divisor = 1
        for _ in 1..<count { divisor *= 10 }
        while divisor > 0 {
            append(UInt8(0x30 + number / divisor % 10))
            divisor /= 10
        }
    }
}
