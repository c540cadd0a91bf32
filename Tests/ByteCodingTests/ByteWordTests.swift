import TestSupport
import Testing

@testable import ByteCoding

/// The search of eight bytes at a time finds the same as a search byte by byte.
@Suite struct ByteWordTests {
    /// Bytes next to the special bytes, so that a borrow from one byte into the next would be noticed.
    private static let bytes: [UInt8] = [
        0x00, 0x01, 0x1F, 0x20, 0x21, 0x22, 0x23, 0x5B, 0x5C, 0x5D, 0x7F, 0x80, 0x81, 0xA2, 0xDC, 0xFF,
    ]

    private static func texts() -> [[UInt8]] {
        var random = SeededGenerator.announced("words of bytes")
        return (0..<20_000).map { _ in
            let isMostlyPlain = Bool.random(using: &random)
            return (0..<Int.random(in: 0...40, using: &random)).map { _ in
                if isMostlyPlain, Int.random(in: 0..<16, using: &random) > 0 { return UInt8(ascii: "a") }
                return bytes.randomElement(using: &random) ?? 0
            }
        }
    }

    @Test func findsTheFirstPlaceOfAByte() {
        var foundCount = 0
        for text in Self.texts().prefix(2_000) {
            for byte in Self.bytes {
                for start in [0, text.count / 3, text.count] {
                    let expected = text[start...].firstIndex(of: byte)
                    #expect(text.span.firstIndex(of: byte, from: start) == expected)
                    if expected != nil { foundCount += 1 }
                }
            }
        }
        #expect(foundCount > 5_000)
    }

    @Test(arguments: [UInt8(ascii: "\""), UInt8(ascii: "'")])
    func judgesPlainText(quote: UInt8) {
        var plainCount = 0
        for text in Self.texts() {
            guard let word = text.span.word(at: 0) else {
                #expect(text.count < 8)
                continue
            }
            let isPlain = text.prefix(8)
                .allSatisfy { $0 >= 0x20 && $0 < 0x80 && $0 != quote && $0 != UInt8(ascii: "\\") }
            #expect(word.isPlainText(upTo: quote) == isPlain)
            if isPlain { plainCount += 1 }
        }
        #expect(plainCount > 1_000)
    }

    @Test func hasNoWordBeyondTheEnd() {
        let text = [UInt8](repeating: 1, count: 20)
        #expect(text.span.word(at: 12) != nil)
        for offset in [-1, 13, 20, 21, Int.max, Int.min] { #expect(text.span.word(at: offset) == nil) }
    }
}
