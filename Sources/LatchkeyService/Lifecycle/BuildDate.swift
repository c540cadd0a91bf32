import ByteCoding
import POSIXSockets

/// The day before which no clock can be right, because this program did not exist.
enum BuildDate {
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]
    /// Seconds. The date is in the time zone of the machine that built the program.
    private static let zoneMaximum: Int64 = 86_400

    /// A clock before this time is wrong: in seconds since 1970. Nil if the date cannot be read.
    static func earliest(_ date: String = ProgramBuild.date) -> Int64? {
        let words = date.split(separator: " ")
        guard words.count == 3, let month = months.firstIndex(of: String(words[0])) else { return nil }
        let text = "\(words[2])-\(padded(month + 1))-\(padded(Int(words[1]) ?? 0))T00:00:00Z"
        return (try? RFC3339.parse(text)).map { $0.seconds - zoneMaximum }
    }

    private static func padded(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
}
