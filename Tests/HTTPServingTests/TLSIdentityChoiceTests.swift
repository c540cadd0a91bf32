import Testing

@testable import HTTPServing

@Suite struct TLSServerNamesTests {
    private let names = {
        var names = TLSServerNames<Int>()
        for (value, name) in ["a.test", "*.a.test", "B.Test", "b.test", "*.deep.b.test", "x.a.test"].enumerated() {
            names.insert(value, for: name)
        }
        return names
    }()

    @Test(arguments: [
        ("a.test", 0), ("A.TEST", 0), ("a.test.", 0), ("y.a.test", 1), ("x.a.test", 5), ("b.test", 2), ("B.TEST", 2),
        ("x.deep.b.test", 4), ("deep.b.test", nil), ("x.y.a.test", nil), ("test", nil), (".a.test", nil), ("", nil),
        (".", nil), ("*.a.test", 1), ("c.test", nil),
    ])
    func findsTheValue(host: String, expected: Int?) {
        #expect(names.value(for: host) == expected)
    }
}

@Suite struct TLSIdentityChoiceTests {
    @Test func groupsOneOfEachAlgorithmByName() {
        let choice = TLSIdentityChoice([
            (["a.test", "shared.test"], .ecdsa), (["a.test"], .rsa), (["a.test", "c.test"], .rsa),
            (["shared.test"], .ecdsa), (["b.test"], .rsa),
        ])
        func group(_ host: String) -> [Int]? { choice.names.value(for: host).map { choice.groups[$0] } }
        #expect(choice.groups.first == [0, 1])
        #expect(group("a.test") == [0, 1])
        #expect(group("shared.test") == [0])
        #expect(group("c.test") == [2])
        #expect(group("b.test") == [4])
        #expect(group("d.test") == nil)
        // The fourth certificate is never used: the first has the same name and algorithm.
        #expect(!choice.groups.joined().contains(3))
    }

    @Test func aCertificateWithoutNamesIsTheDefaultOnly() {
        let choice = TLSIdentityChoice([([], .rsa), (["a.test"], .ecdsa), ([], .ecdsa)])
        #expect(choice.groups == [[0], [1]])
        #expect(choice.names.value(for: "a.test") == 1)
    }
}
