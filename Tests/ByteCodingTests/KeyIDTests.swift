import TestSupport
import Testing

@testable import ByteCoding

@Suite struct KeyIDTests {
    static let bytes: [UInt8] = [
        0x01, 0x23, 0x45, 0x67, 0x89, 0xAB, 0xCD, 0xEF, 0xFE, 0xDC, 0xBA, 0x98, 0x76, 0x54, 0x32, 0x10,
    ]
    static let uuid = "01234567-89ab-cdef-fedc-ba9876543210"
    static let hexadecimal = "0123456789abcdeffedcba9876543210"

    @Test(arguments: [uuid, uuid.uppercased(), hexadecimal, hexadecimal.uppercased()])
    func everySpellingIsTheSameIdentifier(text: String) throws {
        let kid = try KeyID(parsing: text)
        #expect(kid == KeyID(bytes: Self.bytes))
        #expect(kid.bytes == Self.bytes)
        #expect(kid.words == Bytes16(Self.bytes) && KeyID(words: kid.words) == kid)
        #expect(kid.description == Self.uuid)
        #expect(kid.hexadecimal == Self.hexadecimal)
    }

    @Test(arguments: [0, 1, 15, 17, 32])
    func refusesOtherSizes(size: Int) {
        #expect(KeyID(bytes: [UInt8](repeating: 7, count: size)) == nil)
    }

    @Test(arguments: 0..<36)
    func refusesEveryTruncation(length: Int) {
        // The first 32 bytes of a hyphenated UUID have the right length, but hyphens in the place of digits.
        let expected: TextCodingError = length == 32 ? .invalidCharacter(offset: 8) : .invalidLength(length)
        #expect(throws: expected) { try KeyID(parsing: String(Self.uuid.prefix(length))) }
    }

    @Test(arguments: 0..<36)
    func namesThePlaceOfAWrongCharacter(offset: Int) {
        var text = Array(Self.uuid.utf8)
        text[offset] = UInt8(ascii: "x")
        #expect(throws: TextCodingError.invalidCharacter(offset: offset)) {
            try KeyID(parsing: String(decoding: text, as: UTF8.self))
        }
    }

    @Test(
        arguments: [
            "{\(uuid)}", "urn:uuid:\(uuid)", " \(uuid)", "\(uuid)\n", "0x\(hexadecimal)",
            "0123456789ab-cdef-fedc-ba98-76543210", "0123-4567-89ab-cdef-fedc-ba9876543210",
        ])
    func refusesOtherSpellings(text: String) {
        #expect(throws: TextCodingError.self) { try KeyID(parsing: text) }
    }

    @Test func sortsAsItsBytes() throws {
        var generator = SeededGenerator.announced("KeyID order")
        let kids = (0..<64).compactMap { _ in KeyID(bytes: generator.bytes(count: KeyID.size)) }
        #expect(kids.count == 64)
        let sorted = kids.sorted()
        #expect(sorted.map(\.bytes) == kids.map(\.bytes).sorted { $0.lexicographicallyPrecedes($1) })
        #expect(sorted.map(\.description) == kids.map(\.description).sorted())
        #expect(Set(kids + kids).count == Set(kids).count)
    }
}
