import CommandLineKit
import Testing

@Suite struct CountedNounTests {
    @Test func hasThePluralForAllCountsButOne() {
        #expect([0, 1, 2].map { CountedNoun.text($0, "key") } == ["0 keys", "1 key", "2 keys"])
        #expect(CountedNoun.text(Int64(1), "entry", "entries") == "1 entry")
        #expect(CountedNoun.text(Int64(7), "entry", "entries") == "7 entries")
    }
}
