import Testing

@testable import ByteCoding

@Suite struct QueryPairsTests {
    private func values(_ query: String?, _ name: String) -> [String] {
        QueryPairs(query).values(name).map { String(decoding: $0, as: UTF8.self) }
    }

    @Test(
        arguments: [
            (nil, []), ("", []), ("a=1", ["1"]), ("a=1&b=2&a=3", ["1", "3"]), ("a=", [""]), ("a", []),
            ("&&a=1&", ["1"]),
            ("a=b=c", ["b=c"]), ("a=1+2%2B", ["1+2+"]), ("%61=x", ["x"]), ("A=1", []), ("aa=1", []), ("=1&a=2", ["2"]),
            ("a=%zz%4", ["%zz%4"]), ("a=%C3%A9", ["é"]),
        ] as [(String?, [String])])
    func findsTheValuesOfAName(query: String?, expected: [String]) {
        #expect(values(query, "a") == expected)
    }

    @Test func aNameAloneHasNoValueButCanBeAFlag() {
        let pairs = QueryPairs("offline&renew=&format=raw&offline=1")
        #expect(pairs.values("offline") == [[0x31]])
        #expect(pairs.valuesOrEmpty("offline") == [[], [0x31]])
        #expect(pairs.valuesOrEmpty("renew") == [[]])
        #expect(pairs.count == 3)
    }

    /// No name or value reaches into its neighbours, which are in the same array.
    @Test func keepsPairsApart() {
        let pairs = QueryPairs((0..<64).map { "n\($0)=v%2\($0 % 10)\($0)" }.joined(separator: "&"))
        for number in 0..<64 {
            let value = PercentEncoding.decodeLeniently(Array("v%2\(number % 10)\(number)".utf8))
            #expect(pairs.values("n\(number)") == [value])
        }
    }
}
