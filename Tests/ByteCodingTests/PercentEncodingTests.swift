import Testing

@testable import ByteCoding

@Suite struct PercentEncodingTests {
    private func strict(_ text: String) -> [UInt8]? { PercentEncoding.decode(Array(text.utf8)) }
    private func lenient(_ text: String) -> [UInt8] { PercentEncoding.decodeLeniently(Array(text.utf8)) }

    /// Zero and bytes that are not UTF-8 are among them.
    @Test(arguments: UInt8.min...UInt8.max)
    func decodesEveryByteFromDigitsOfEitherCase(byte: UInt8) {
        let digits = Hexadecimal.encode([byte])
        let (high, low) = (String(digits.prefix(1)), String(digits.suffix(1)))
        for escape in ["%" + digits, "%" + digits.uppercased(), "%" + high.uppercased() + low, "%" + high + low] {
            #expect(strict(escape) == [byte])
            #expect(lenient(escape) == [byte])
            #expect(strict("a\(escape)b\(escape)") == [0x61, byte, 0x62, byte])
            #expect(lenient("a\(escape)b\(escape)") == [0x61, byte, 0x62, byte])
        }
    }

    @Test(arguments: UInt8.min...UInt8.max)
    func keepsEveryByteThatIsNoPercentSign(byte: UInt8) {
        guard byte != UInt8(ascii: "%") else {
            #expect(PercentEncoding.decode([byte]) == nil)
            #expect(PercentEncoding.decodeLeniently([byte]) == [byte])
            return
        }
        #expect(PercentEncoding.decode([byte, 0x61]) == [byte, 0x61])
        #expect(PercentEncoding.decodeLeniently([byte, 0x61]) == [byte, 0x61])
        // Beside an escape too.
        #expect(PercentEncoding.decode([byte] + "%41".utf8 + [byte]) == [byte, 0x41, byte])
        #expect(PercentEncoding.decodeLeniently([byte] + "%41".utf8 + [byte]) == [byte, 0x41, byte])
    }

    @Test(
        arguments: [
            ("", ""), ("movie", "movie"), ("a%20b", "a b"), ("%61%62", "ab"), ("a+b", "a+b"), ("a%2Bb+c", "a+b+c"),
            ("%25", "%"), ("%2541", "%41"), ("%252541", "%2541"), ("%25%34%31", "%41"), ("%C3%A9", "é"), ("é%41", "éA"),
        ])
    func decodesOnceAndKeepsThePlus(text: String, decoded: String) {
        #expect(strict(text) == Array(decoded.utf8))
        #expect(lenient(text) == Array(decoded.utf8))
    }

    /// What is no escape: cut off, or with a neighbour of the digits in either place.
    @Test(
        arguments: [
            ("%", "%"), ("%4", "%4"), ("a%", "a%"), ("a%4", "a%4"), ("%%", "%%"), ("%41%", "A%"), ("%41%4", "A%4"),
            ("%%41", "%A"), ("%4%41", "%4A"), ("%zz", "%zz"), ("100%25%", "100%%"), ("% 41", "% 41"), ("%4 1", "%4 1"),
            ("%0x41", "%0x41"), ("%+4", "%+4"), ("%é1", "%é1"), ("%4é", "%4é"),
        ])
    func tellsWhatIsNoEscape(text: String, leniently: String) {
        #expect(strict(text) == nil)
        #expect(lenient(text) == Array(leniently.utf8))
    }

    @Test(arguments: ["/", ":", "@", "G", "`", "g"])
    func takesNoNeighbourOfTheDigits(character: String) {
        for text in ["%\(character)0", "%0\(character)", "%\(character)f", "%F\(character)"] {
            #expect(strict(text) == nil)
            #expect(lenient(text) == Array(text.utf8))
        }
    }

    /// Only the unreserved characters stay (RFC 3986, section 2.3).
    @Test func encodesAllButUnreservedCharacters() {
        #expect(PercentEncoding.encode("AZaz09-._~") == "AZaz09-._~")
        #expect(PercentEncoding.encode("a b/c?d%+\"\u{E9}\0") == "a%20b%2Fc%3Fd%25%2B%22%C3%A9%00")
        for scalar in (0..<0x180).compactMap(Unicode.Scalar.init) {
            let text = String(Character(scalar))
            #expect(strict(PercentEncoding.encode(text)) == Array(text.utf8))
            #expect(lenient(PercentEncoding.encode(text)) == Array(text.utf8))
        }
    }
}
