import ByteCoding
import Testing

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
        ("", nil), ("public_url", "publicURL"), ("maxLife", "maximumLife"), ("max_life", "maximumLife"), ("li", nil),
        ("efil", nil),
    ])
    func suggestsWhatIsLikely(name: String, suggestion: String?) {
        #expect(NearestName.of(name, among: ["node", "listeners", "publicURL", "maximumLife"]) == suggestion)
    }

    @Test func prefersWhatBeginsLikeTheName() {
        #expect(NearestName.of("--prod", among: ["--from", "--production"]) == "--production")
        #expect(NearestName.of("token", among: ["taken", "tokenFile", "tokens"]) == "tokens")
        #expect(NearestName.of("--pr", among: ["--pin", "--production"]) == "--pin")
    }
}
