import Administration
import HTTPMessages
import Testing

@testable import RouteKit

@Suite struct RefusedPreflightsTests {
    private let preflights = RefusedPreflights()

    private func note(_ origin: String, _ fields: [String], at now: Int64 = 1) {
        preflights.note(RefusedPreflight(origin: origin, fields: fields), at: now)
    }

    @Test func countsByOriginAndHeader() {
        note("https://a.example", ["x-one", "x-two"], at: 1)
        note("https://a.example", ["x-two"], at: 5)
        note("https://b.example", [], at: 3)
        let found = preflights.entries.map { "\($0.origin) \($0.header) \($0.count) \($0.lastAt)" }
        #expect(
            found == ["https://a.example x-two 2 5", "https://a.example x-one 1 1", "https://b.example  1 3"])
        #expect(preflights.entries[0].remedy.contains("add x-two to cors.allowedHeaders"))
        #expect(preflights.entries[2].remedy.contains("add https://b.example to cors.origins"))
    }

    /// A stranger cannot make the table grow, and cannot push out what real pages ask for again and again.
    @Test func keepsWhatIsFrequentUnderAFlood() {
        for second in 0..<10 { note("https://app.example", ["x-app"], at: Int64(second)) }
        for number in 0..<10_000 { note("https://\(number).example", ["x-\(number)"], at: 100 + Int64(number)) }
        let entries = preflights.entries
        #expect(entries.count == RefusedPreflights.countMaximum)
        #expect(entries[0].origin == "https://app.example" && entries[0].count == 10)
    }
}
