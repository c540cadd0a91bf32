import Testing

@testable import ByteCoding

@Suite struct HexadecimalTests {
    /// RFC 4648 section 10.
    static let vectors = [
        ("", ""), ("f", "66"), ("fo", "666f"), ("foo", "666f6f"), ("foob", "666f6f62"), ("fooba", "666f6f6261"),
        ("foobar", "666f6f626172"),
    ]

    @Test(arguments: vectors)
    func agreesWithTheStandard(text: String, digits: String) throws {
        #expect(Hexadecimal.encode(text.utf8) == digits)
        #expect(try Hexadecimal.decode(digits) == Array(text.utf8))
        #expect(try Hexadecimal.decode(digits.uppercased()) == Array(text.utf8))
        #expect(try Hexadecimal.decode(Array(digits.utf8)) == Array(text.utf8))
    }

    @Test func everyByteSurvives() throws {
        let bytes = Array(UInt8.min...UInt8.max)
        let text = Hexadecimal.encode(bytes)
        #expect(text.hasPrefix("000102") && text.hasSuffix("fdfeff"))
        #expect(try Hexadecimal.decode(text) == bytes)
        #expect(Hexadecimal.encode(bytes[16..<18]) == "1011")
        #expect(Hexadecimal.encode(Bytes16(bytes, at: 7)) == Hexadecimal.encode(bytes[7..<23]))
    }

    @Test(
        arguments: [
            ("0", .invalidLength(1)), ("abc", .invalidLength(3)), ("0x", .invalidCharacter(offset: 1)),
            ("g0", .invalidCharacter(offset: 0)), ("00 1", .invalidCharacter(offset: 2)),
            ("ab:c", .invalidCharacter(offset: 2)), ("00\n", .invalidLength(3)), ("/0", .invalidCharacter(offset: 0)),
            ("0:", .invalidCharacter(offset: 1)), ("@0", .invalidCharacter(offset: 0)),
            ("G0", .invalidCharacter(offset: 0)), ("`0", .invalidCharacter(offset: 0)),
            ("é", .invalidCharacter(offset: 0)), ("00-0", .invalidCharacter(offset: 2)),
        ] as [(String, TextCodingError)])
    func refusesWhatIsNotHexadecimal(text: String, error: TextCodingError) {
        #expect(throws: error) { try Hexadecimal.decode(text) }
    }
}
