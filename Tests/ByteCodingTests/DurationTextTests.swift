import ByteCoding
import Testing

@Suite struct DurationTextTests {
    @Test(arguments: [
        ("0s", Duration.zero), ("300ms", .milliseconds(300)), ("5s", .seconds(5)), ("2m", .seconds(120)),
        ("24h", .seconds(86_400)), ("400d", .seconds(34_560_000)), ("999999999d", .seconds(86_399_999_913_600)),
    ])
    func readsNumbersWithAUnit(text: String, duration: Duration) {
        #expect(DurationText.parse(text) == duration)
    }

    @Test(arguments: [
        "", "5", "s", "ms", "-5s", "+5s", "05s", "00s", "1.5s", "5 s", " 5s", "5S", "5sec", "1h30m", "5s\n",
        "1000000000s",
        "٥s", "∞s",
    ])
    func refusesEverythingElse(text: String) {
        #expect(DurationText.parse(text) == nil)
    }

    @Test(arguments: ["0s", "1ms", "1001ms", "59s", "1m", "90m", "1d", "400d"])
    func formatsWithTheLargestUnit(text: String) throws {
        #expect(DurationText.format(try #require(DurationText.parse(text))) == text)
    }

    @Test(arguments: [
        ("1s", 1), ("5m", 300), ("48h", 172_800), ("0s", nil), ("5000ms", nil), ("5", nil), ("5 m", nil),
    ])
    func readsWholeSeconds(text: String, seconds: Int64?) {
        #expect(DurationText.seconds(text) == seconds)
    }
}
