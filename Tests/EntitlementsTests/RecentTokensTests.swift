import ByteCoding
import Testing

@testable import Entitlements

@Suite struct RecentTokensTests {
    private let claims: Claims

    init() throws {
        claims = try Issuance().claims(rights: "[]")
    }

    private static func digest(_ number: UInt8) -> TokenDigest {
        TokenDigest(Bytes32(.zero, Bytes16(high: 0, low: UInt64(number))))
    }

    @Test func keepsWhatIsUsedAndDropsWhatIsNot() {
        var recent = RecentTokens<Claims>(capacity: 3)
        for number: UInt8 in 0..<3 { recent.insert(claims, for: Self.digest(number), verifiedIn: 0) }
        #expect(recent.value(for: Self.digest(0)) != nil)
        recent.insert(claims, for: Self.digest(3), verifiedIn: 0)
        #expect(recent.value(for: Self.digest(0)) != nil)
        #expect(recent.value(for: Self.digest(1)) == nil)
        #expect(recent.value(for: Self.digest(2)) != nil)
        #expect(recent.value(for: Self.digest(3)) != nil)
        #expect(recent.count == 3)
    }

    @Test(arguments: [1, 2, 5, 40])
    func replacesSomethingWhereEverythingWasUsed(capacity: Int) {
        var recent = RecentTokens<Claims>(capacity: capacity)
        for number in 0..<UInt8(capacity) {
            recent.insert(claims, for: Self.digest(number), verifiedIn: 0)
            #expect(recent.value(for: Self.digest(number)) != nil)
        }
        recent.insert(claims, for: Self.digest(200), verifiedIn: 0)
        #expect(recent.value(for: Self.digest(200)) != nil)
        #expect(recent.count == capacity)
        #expect((0..<UInt8(capacity)).filter { recent.value(for: Self.digest($0)) == nil }.count == 1)
    }

    @Test func whatWasVerifiedBeforeEverythingWasForgottenStaysOut() {
        var recent = RecentTokens<Claims>(capacity: 3)
        let generation = recent.generation
        recent.removeAll()
        recent.insert(claims, for: Self.digest(1), verifiedIn: generation)
        #expect(recent.count == 0)
        recent.insert(claims, for: Self.digest(1), verifiedIn: recent.generation)
        #expect(recent.count == 1)
    }

    @Test func aSecondInsertionOfTheSameTokenChangesNothing() {
        var recent = RecentTokens<Claims>(capacity: 3)
        for _ in 0..<5 { recent.insert(claims, for: Self.digest(1), verifiedIn: 0) }
        #expect(recent.count == 1)
    }
}
