import Administration
import HTTPMessages
import Testing

@testable import RouteKit

@Suite struct RefusedPreflightsTests {
    private let preflights = RefusedPreflights()
    private var entries: [StatusReport.Preflight] { preflights.entries(under: CORSPolicy(origins: .listed([]))) }

    private func note(_ origin: String, _ fields: [String], at now: Int64 = 1) {
        preflights.note(RefusedPreflight(origin: origin, fields: fields), at: now)
    }

    @Test func countsByOriginAndHeader() {
        note("https://a.example", ["x-one", "x-two"], at: 1)
        note("https://a.example", ["x-two"], at: 5)
        note("https://b.example", [], at: 3)
        let found = entries.map { "\($0.origin) \($0.header) \($0.count) \($0.lastAt)" }
        #expect(
            found == ["https://a.example x-two 2 5", "https://a.example x-one 1 1", "https://b.example  1 3"])
        #expect(entries[0].remedy.contains("add x-two to cors.allowedHeaders"))
        #expect(entries[2].remedy.contains("add https://b.example to cors.origins"))
    }

    @Test func forgetsWhatIsAllowedNow() {
        note("https://a.example", ["x-one", "x-two"])
        note("https://b.example", [])
        let policy = CORSPolicy(origins: .listed(["https://a.example"]), otherFields: ["X-One"])
        let left = preflights.entries(under: policy).map { "\($0.origin) \($0.header)" }
        #expect(left == ["https://a.example x-two", "https://b.example "])
        let wider = CORSPolicy(origins: .any, otherFields: ["x-one"])
        #expect(preflights.entries(under: wider).map(\.header) == ["x-two"])
        #expect(entries.map(\.header) == ["x-two"])
    }

    /// A stranger cannot make the table grow, and cannot push out what real pages ask for again and again.
    @Test func keepsWhatIsFrequentUnderAFlood() {
        for second in 0..<10 { note("https://app.example", ["x-app"], at: Int64(second)) }
        for number in 0..<10_000 { note("https://\(number).example", ["x-\(number)"], at: 100 + Int64(number)) }
        let entries = self.entries
        #expect(entries.count == RefusedPreflights.countMaximum)
        #expect(entries[0].origin == "https://app.example" && entries[0].count == 10)
    }
}
