import Testing

@testable import HTTPMessages

@Suite struct BearerTokenTests {
    @Test(arguments: [
        "Bearer a.b.c", "bearer a.b.c", "BEARER a.b.c", "bEaReR a.b.c", "Bearer  a.b.c", "Bearer      a.b.c",
    ])
    func takesTheTokenWhateverTheCaseAndTheSpaces(value: String) {
        #expect(BearerToken.presented(in: ["Authorization": value]) == .one(Array("a.b.c".utf8)))
    }

    @Test func theNameOfTheFieldHasNoCase() {
        #expect(BearerToken.presented(in: ["aUTHORIZATION": "Bearer t"]) == .one(Array("t".utf8)))
    }

    /// The token is kept unchanged, so that the token parser refuses it.
    @Test(arguments: ["a b", "a,b", "\"t\"", "a\u{00a0}b", "="])
    func changesNothingInTheToken(token: String) {
        #expect(BearerToken.presented(in: ["Authorization": "Bearer \(token)"]) == .one(Array(token.utf8)))
    }

    @Test(arguments: [
        "", " ", "Bearer", "Bearer ", "Bearer    ", "Bearera.b.c", "Bearer\ta.b.c", "Bear a.b.c", "Beare r a.b.c",
        "Basic dXNlcjpwYXNz", "Digest username=\"x\"", "Token a.b.c", "a.b.c", "Bearer=a.b.c", "\u{0002}earer a.b.c",
    ])
    func anotherSchemeOrNoTokenIsNone(value: String) {
        #expect(BearerToken.presented(in: ["Authorization": value]) == .none)
    }

    @Test func withoutTheFieldThereIsNone() {
        #expect(BearerToken.presented(in: ["X-Authorization": "Bearer t", "Cookie": "Bearer t"]) == .none)
    }

    @Test func twoEqualFieldsAreOne() {
        let fields: HTTPFields = ["Authorization": "Bearer t", "X": "y", "authorization": "Bearer t"]
        #expect(BearerToken.presented(in: fields) == .one(Array("t".utf8)))
    }

    @Test(arguments: ["Bearer u", "bearer t", "Basic dDp0", "", "Bearer t "])
    func twoDifferentFieldsAreAmbiguous(second: String) {
        let fields: HTTPFields = ["Authorization": "Bearer t", "Authorization": second]
        #expect(BearerToken.presented(in: fields) == .ambiguous)
        let swapped: HTTPFields = ["Authorization": second, "Authorization": "Bearer t"]
        #expect(BearerToken.presented(in: swapped) == .ambiguous)
    }
}
