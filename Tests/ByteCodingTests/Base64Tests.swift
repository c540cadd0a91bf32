import TestSupport
import Testing

@testable import ByteCoding

@Suite struct Base64Tests {
    /// RFC 4648 section 10.
    static let vectors = [
        ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("fooba", "Zm9vYmE="),
        ("foobar", "Zm9vYmFy"),
    ]

    @Test(arguments: vectors)
    func agreesWithTheStandard(text: String, encoded: String) throws {
        #expect(Base64.encode(text.utf8) == encoded)
        #expect(try Base64.decode(encoded) == Array(text.utf8))
        let unpadded = String(encoded.prefix { $0 != "=" })
        #expect(Base64URL.encode(text.utf8) == unpadded)
        #expect(try Base64URL.decode(unpadded) == Array(text.utf8))
    }

    @Test func theAlphabetsDifferInTheirLastTwoDigits() throws {
        let bytes: [UInt8] = [0xFB, 0xEF, 0xBE, 0xFF, 0xFF, 0xFF]
        #expect(Base64.encode(bytes) == "++++////")
        #expect(Base64URL.encode(bytes) == "----____")
        #expect(throws: TextCodingError.invalidCharacter(offset: 0)) { try Base64.decode("----____") }
        #expect(throws: TextCodingError.invalidCharacter(offset: 0)) { try Base64URL.decode("++++////") }
    }

    @Test(
        arguments: [
            ("Z", .invalidLength(1)), ("Zg", .invalidLength(2)), ("Zg=", .invalidLength(3)),
            ("Zm9vY", .invalidLength(5)), ("=", .invalidLength(1)), ("====", .invalidCharacter(offset: 0)),
            ("Z===", .invalidCharacter(offset: 1)), ("Zg==Zg==", .invalidCharacter(offset: 2)),
            ("Z=g=", .invalidCharacter(offset: 1)), ("Zh==", .trailingBitsNotZero), ("Zm9=", .trailingBitsNotZero),
            ("Zm9v\n", .invalidLength(5)), ("Zm 9v===", .invalidCharacter(offset: 2)),
            ("Zm9\n", .invalidCharacter(offset: 3)), ("Zm8é", .invalidLength(5)),
            ("Zm9v\0\0\0\0", .invalidCharacter(offset: 4)), ("Zg=v", .invalidCharacter(offset: 2)),
        ] as [(String, TextCodingError)])
    func refusesOtherSpellings(text: String, error: TextCodingError) {
        #expect(throws: error) { try Base64.decode(text) }
    }

    @Test(
        arguments: [
            ("Z", .invalidLength(1)), ("Zm9vY", .invalidLength(5)), ("Zg==", .invalidCharacter(offset: 2)),
            ("Zm8=", .invalidCharacter(offset: 3)), ("Zh", .trailingBitsNotZero), ("Zm9", .trailingBitsNotZero),
            ("Zg\n", .invalidCharacter(offset: 2)), (" Zg", .invalidCharacter(offset: 0)),
            ("Zm9vZ.", .invalidCharacter(offset: 5)), ("eyJ{", .invalidCharacter(offset: 3)),
        ] as [(String, TextCodingError)])
    func refusesOtherSpellingsForURLs(text: String, error: TextCodingError) {
        #expect(throws: error) { try Base64URL.decode(text) }
    }

    @Test func aSliceCountsItsOffsetsFromItsOwnStart() throws {
        let text = Array("xx.Zm9v.Zm!v".utf8)
        #expect(try Base64URL.decode(text[3..<7]) == Array("foo".utf8))
        #expect(throws: TextCodingError.invalidCharacter(offset: 2)) { try Base64URL.decode(text[8...]) }
    }

    /// Only last digits without extra bits are accepted: one in 16 before "==", one in 4 before "=".
    @Test(arguments: [("A", 4), ("AA", 16)])
    func acceptsOnlyZeroTrailingBits(prefix: String, accepted: Int) {
        let digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
        let spellings = digits.map { prefix + String($0) }
        #expect(spellings.count { (try? Base64URL.decode($0)) != nil } == accepted)
    }

    @Test func everyLengthSurvivesTheRoundTrip() throws {
        var generator = SeededGenerator.announced("Base64 round trip")
        for length in 0..<200 {
            let bytes = generator.bytes(count: length)
            #expect(try Base64.decode(Base64.encode(bytes)) == bytes)
            #expect(try Base64URL.decode(Base64URL.encode(bytes)) == bytes)
            #expect(try Hexadecimal.decode(Hexadecimal.encode(bytes)) == bytes)
        }
    }

    /// Every accepted text is the encoding of the bytes that it decodes to.
    @Test func noTwoTextsMeanTheSameBytes() {
        var generator = SeededGenerator.announced("Base64 canonical form")
        let alphabet = Array("ABab01-_+/= ".utf8)
        var (acceptedCount, acceptedURLCount) = (0, 0)
        for _ in 0..<5000 {
            let text = (0..<Int.random(in: 0...9, using: &generator)).map { _ in
                alphabet.randomElement(using: &generator) ?? 0
            }
            let spelled = String(decoding: text, as: UTF8.self)
            if let bytes = try? Base64.decode(text) {
                acceptedCount += 1
                #expect(Base64.encode(bytes) == spelled)
            }
            if let bytes = try? Base64URL.decode(text) {
                acceptedURLCount += 1
                #expect(Base64URL.encode(bytes) == spelled)
            }
        }
        #expect(acceptedCount > 100 && acceptedURLCount > 100)
    }
}
