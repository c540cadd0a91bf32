import ByteCoding
import Testing

@testable import PlayerMessages

@Suite struct LenientBase64Tests {
    private func decode(_ text: String, blank: LenientBase64.Blank = .ignored) -> [UInt8]? {
        LenientBase64.decode(Array(text.utf8)[...], blank: blank)
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
}
