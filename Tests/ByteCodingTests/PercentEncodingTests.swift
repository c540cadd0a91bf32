import TestSupport
import Testing

@testable import ByteCoding

@Suite struct PercentEncodingTests {
    private func strict(_ text: String) -> [UInt8]? { PercentEncoding.decode(Array(text.utf8)) }
    private func lenient(_ text: String) -> [UInt8] { PercentEncoding.decodeLeniently(Array(text.utf8)) }

    /// The bytes include zero and bytes that are not UTF-8.
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
        // The same next to an escape.
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

    /// Texts that are no escapes: cut off, or with a character next to the digits in either place.
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

    /// Decodes byte by byte by RFC 3986, section 2.1. The result is nil for a percent sign that begins no escape.
    private static func reference(_ text: [UInt8]) -> [UInt8?] {
        let digits = Array("0123456789abcdef".utf8)
        func value(at index: Int) -> Int? {
            guard index < text.count else { return nil }
            return digits.firstIndex(of: (0x41...0x46).contains(text[index]) ? text[index] + 0x20 : text[index])
        }
        var decoded: [UInt8?] = []
        var index = 0
        while index < text.count {
            if text[index] != 0x25 {
                decoded.append(text[index])
                index += 1
            } else if let high = value(at: index + 1), let low = value(at: index + 2) {
                decoded.append(UInt8(high * 16 + low))
                index += 3
            } else {
                decoded.append(nil)
                index += 1
            }
        }
        return decoded
    }

    /// Random texts have escapes next to each other, far apart, cut off and broken, in every order.
    @Test func agreesWithAReferenceOverRandomText() {
        var generator = SeededGenerator.announced("percent-encoded text")
        var goodCount = 0
        for _ in 0..<20_000 {
            let weight = Int.random(in: 1...40, using: &generator)
            let text = (0..<Int.random(in: 0...80, using: &generator)).flatMap { _ -> [UInt8] in
                switch Int.random(in: 0..<weight, using: &generator) {
                case 0: Array("%2B".utf8)
                case 1: [UInt8(ascii: "%")]
                case 2: Array("09afAF%/:@G`g\0".utf8.randomElement(using: &generator).map { [$0] } ?? [])
                case 3: generator.bytes(count: 1)
                default: Array("spc".utf8)
                }
            }
            let expected = Self.reference(text)
            #expect(PercentEncoding.decodeLeniently(text) == expected.map { $0 ?? UInt8(ascii: "%") })
            let isGood = !expected.contains(nil)
            #expect(PercentEncoding.decode(text) == (isGood ? expected.compactMap(\.self) : nil))
            if isGood { goodCount += 1 }
        }
        // Both outcomes occurred often.
        #expect((1000...19_000).contains(goodCount))
    }

    /// Only the unreserved characters are not encoded (RFC 3986, section 2.3).
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
