import ByteCoding
import TestSupport
import Testing

@testable import PlayerMessages

@Suite struct LenientBase64Tests {
    private func decode(_ text: String, blank: LenientBase64.Blank = .ignored) -> [UInt8]? {
        LenientBase64.decode(Array(text.utf8).span, blank: blank)
    }

    /// The test vectors of RFC 4648 section 10.
    @Test(arguments: [
        ("", ""), ("Zg==", "f"), ("Zg", "f"), ("Zm8=", "fo"), ("Zm8", "fo"), ("Zm9v", "foo"), ("Zm9vYg==", "foob"),
        ("Zm9vYmE=", "fooba"), ("Zm9vYmE", "fooba"), ("Zm9vYmFy", "foobar"), ("Zm9v\r\nYmFy\n", "foobar"),
        ("Zm 9v\tYmFy", "foobar"),
    ])
    func decodes(text: String, expected: String) {
        #expect(decode(text) == Array(expected.utf8))
    }

    @Test(arguments: ["+/+/", "-_-_", "+_-/"])
    func takesBothAlphabets(text: String) {
        #expect(decode(text) == [0xFB, 0xFF, 0xBF])
    }

    @Test func aBlankMayBeAPlus() {
        #expect(decode(" / /", blank: .plus) == [0xFB, 0xFF, 0xBF])
        #expect(decode(" / /") == nil)
    }

    @Test(arguments: [
        "Z", "Zg=", "Zm9v=", "Zm8==", "=", "Zg==Zg==", "Zh", "Zm9", "Zm!v", "Zm9v.", "Zg===", "Zm\u{e9}v",
    ])
    func refusesWhatNoEncoderWrites(text: String) {
        #expect(decode(text) == nil)
    }

    @Test func decodesWhatTheStrictEncodersWrite() {
        for count in 0..<70 {
            let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 37 &+ count) }
            #expect(decode(Base64.encode(bytes)) == bytes)
            #expect(decode(Base64URL.encode(bytes)) == bytes)
        }
    }

    /// One pass must give the same result as two passes. The texts have escaped digits, padding, blanks and line ends,
    /// and some are damaged.
    @Test func readsEscapesAsThePercentDecoderDoes() {
        var random = SeededGenerator.announced("percent-encoded Base64")
        var goodCount = 0
        for _ in 0..<20_000 {
            let bytes = random.bytes(count: Int.random(in: 0...40, using: &random))
            var text = Array(Base64.encode(bytes).utf8).flatMap { character -> [UInt8] in
                switch Int.random(in: 0..<12, using: &random) {
                case 0: Array("%\(Hexadecimal.encode([character]))".utf8)
                case 1: Array("%\(Hexadecimal.encode([character]).uppercased())".utf8)
                case 2: Array((["%0D%0A", "%20", " ", "\n"].randomElement(using: &random) ?? "").utf8) + [character]
                default: [character]
                }
            }
            if Bool.random(using: &random), let place = text.indices.randomElement(using: &random) {
                text[place] = Array("%G+ =".utf8).randomElement(using: &random) ?? 0
            }
            for blank in [LenientBase64.Blank.ignored, .plus] {
                let expected = LenientBase64.decode(PercentEncoding.decodeLeniently(text).span, blank: blank)
                #expect(LenientBase64.decode(text.span, blank: blank, escapes: true) == expected)
                if expected != nil { goodCount += 1 }
            }
            #expect(!text.contains(UInt8(ascii: "%")) || LenientBase64.decode(text.span) == nil)
        }
        // Both outcomes occurred often.
        #expect((4_000...36_000).contains(goodCount))
    }
}
