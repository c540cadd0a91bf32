import CommandLineKit
import Testing

@Suite struct BinaryIntegerNounTests {
    @Test func hasThePluralForAllNumbersButOne() {
        #expect([0, 1, 2].map { $0.counted("key") } == ["0 keys", "1 key", "2 keys"])
        #expect(Int64(1).counted("entry", "entries") == "1 entry")
        #expect(UInt32(7).counted("entry", "entries") == "7 entries")
    }
}
