/// Parses a `date-time` (RFC 3339 section 5.6) in one pass.
struct RFC3339Parser {
    private static let leapSecond = 60

    private let text: [UInt8]
    private var offset = 0

    init(text: [UInt8]) {
        self.text = text
    }

    mutating func parse() throws(TextCodingError) -> UnixTime {
        let year = try takeNumber(digitCount: 4, then: "-")
        let month = try takeNumber(digitCount: 2, then: "-")
        let day = try takeNumber(digitCount: 2, then: nil)
        guard take("T") || take("t") else { throw .invalidCharacter(offset: offset) }
        let hour = try takeNumber(digitCount: 2, then: ":")
        let minute = try takeNumber(digitCount: 2, then: ":")
        let second = try takeNumber(digitCount: 2, then: nil)
        let nanoseconds = try takeFraction()
        let offsetSeconds = try takeOffset()
        guard offset == text.count else { throw .invalidCharacter(offset: offset) }

        guard let date = CivilDate(year: year, month: month, day: day), hour < 24, minute < 60,
            second <= Self.leapSecond
        else { throw .outOfRange }
        let seconds = date.daysSinceEpoch * 86_400 + hour * 3600 + minute * 60 + second - offsetSeconds
        guard second < Self.leapSecond || Self.isBehindLeapSecond(seconds),
            let time = UnixTime(seconds: Int64(seconds), nanoseconds: nanoseconds)
        else { throw .outOfRange }
        return time
    }

    /// Whether a leap second may directly precede this second: it must be the first second of January or July in UTC.
    private static func isBehindLeapSecond(_ seconds: Int) -> Bool {
        guard seconds.isMultiple(of: 86_400) else { return false }
        let date = CivilDate(daysSinceEpoch: seconds / 86_400)
        return date.day == 1 && (date.month == 1 || date.month == 7)
    }

    private mutating func takeFraction() throws(TextCodingError) -> UInt32 {
        guard take(".") else { return 0 }
        guard let first = takeDigit() else { throw .invalidCharacter(offset: offset) }
        var nanoseconds = UInt32(first) * 100_000_000
        var unit: UInt32 = 10_000_000
        while let digit = takeDigit() {
            nanoseconds += UInt32(digit) * unit
            unit /= 10
        }
        return nanoseconds
    }

    /// By how many seconds the local time is ahead of UTC. "-00:00", the unknown offset, is UTC (section 4.3).
    private mutating func takeOffset() throws(TextCodingError) -> Int {
        if take("Z") || take("z") { return 0 }
        let isAhead = take("+")
        guard isAhead || take("-") else { throw .invalidCharacter(offset: offset) }
        let hour = try takeNumber(digitCount: 2, then: ":")
        let minute = try takeNumber(digitCount: 2, then: nil)
        guard hour < 24, minute < 60 else { throw .outOfRange }
        return (hour * 3600 + minute * 60) * (isAhead ? 1 : -1)
    }

    private mutating func takeNumber(
        digitCount: Int, then separator: Unicode.Scalar?
    ) throws(TextCodingError) -> Int {
        var value = 0
        for _ in 0..<digitCount {
            guard let digit = takeDigit() else { throw .invalidCharacter(offset: offset) }
            value = value * 10 + Int(digit)
        }
        if let separator, !take(separator) { throw .invalidCharacter(offset: offset) }
        return value
    }

    private mutating func takeDigit() -> UInt8? {
        guard offset < text.count, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(text[offset]) else { return nil }
        offset += 1
        return text[offset - 1] - UInt8(ascii: "0")
    }

    private mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard offset < text.count, text[offset] == UInt8(ascii: character) else { return false }
        offset += 1
        return true
    }
}
