import ByteCoding
import Testing

@testable import ServiceConfiguration

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
}

@Suite struct NearestNameTests {
    @Test(arguments: [
        ("", "", 0), ("a", "", 1), ("", "abc", 3), ("name", "name", 0), ("nam", "name", 1), ("nmae", "name", 1),
        ("kitten", "sitting", 3), ("ca", "abc", 3),
    ])
    func countsDifferences(one: String, other: String, distance: Int) {
        #expect(NearestName.distance(one, other) == distance)
        #expect(NearestName.distance(other, one) == distance)
    }

    @Test(arguments: [
        ("Node", "node"), ("nodes", "node"), ("publicUrl", "publicURL"), ("listner", "listeners"), ("xyz", nil),
        ("", nil),
    ])
    func suggestsWhatIsLikely(name: String, suggestion: String?) {
        #expect(NearestName.of(name, among: ["node", "listeners", "publicURL"]) == suggestion)
    }
}

@Suite struct SecretSourceTests {
    @Test(arguments: [
        ("a/b", SecretSource.file(path: "/etc/latchkey/a/b")), ("/a/b", .file(path: "/a/b")),
        ("./abc=", .file(path: "/etc/latchkey/./abc=")),
        ("credential:kek", .credential(name: "kek")), ("environment:KEK", .environment(variable: "KEK")),
    ])
    func readsEachForm(text: String, source: SecretSource) {
        #expect(SecretSource(text, relativeTo: "/etc/latchkey") == source)
    }

    @Test(arguments: [
        "", "a\0b", "credential:", "credential:a/b", "credential:..", "credential:.", "credential:a b", "environment:",
        "environment:A=B", "101112131415161718191a1b1c1d1e1f", "EBESExQVFhcYGRobHB0eHw==", "environment:A B",
        String(repeating: "x", count: 4096),
    ])
    func refusesWhatCannotExist(text: String) {
        #expect(SecretSource(text, relativeTo: "/etc/latchkey") == nil)
    }

    @Test(arguments: [("/", "/x"), ("/etc", "/etc/x"), (".", "x")])
    func resolvesRelativePaths(directory: String, path: String) {
        #expect(SecretSource("x", relativeTo: directory) == .file(path: path))
    }
}
