import ContentKeys
import Testing

@Suite struct ContentIDTests {
    @Test(arguments: [1, 2, 199, 200])
    func takesSizesFromOneToTwoHundred(size: Int) throws {
        let text = String(repeating: "x", count: size)
        #expect(try ContentID(text).text == text)
        #expect(try ContentID(bytes: Array(text.utf8)) == ContentID(text))
    }

    @Test(arguments: [0, 201, 1000])
    func refusesOtherSizes(size: Int) {
        let text = String(repeating: "x", count: size)
        #expect(throws: IdentifierError.sizeOutOfRange(size)) { try ContentID(text) }
        #expect(throws: IdentifierError.sizeOutOfRange(size)) { try ContentID(bytes: Array(text.utf8)) }
    }

    @Test(arguments: UInt8.min...UInt8.max)
    func takesPrintableASCIIWithoutSpaceAndNothingElse(byte: UInt8) {
        let bytes = [UInt8(ascii: "a"), byte]
        if (0x21...0x7E).contains(byte) {
            #expect(throws: Never.self) { try ContentID(bytes: bytes) }
        } else {
            #expect(throws: IdentifierError.invalidCharacter(offset: 1)) { try ContentID(bytes: bytes) }
        }
    }

    @Test func refusesCharactersBeyondASCII() {
        #expect(throws: IdentifierError.invalidCharacter(offset: 3)) { try ContentID("caf\u{E9}") }
    }

    @Test func tellsCasesApartAndSortsByBytes() throws {
        let sorted = try ["A", "Z", "a", "aa", "b", "~"].map { try ContentID($0) }
        #expect(sorted.shuffled().sorted() == sorted)
        #expect(sorted[0] != sorted[2])
    }
}

@Suite struct TrackLabelTests {
    @Test(arguments: [0, 65])
    func refusesOtherSizesThanOneToSixtyFour(size: Int) {
        #expect(throws: IdentifierError.sizeOutOfRange(size)) { try TrackLabel(String(repeating: "x", count: size)) }
    }

    @Test func knowsTheWellKnownLabels() throws {
        #expect(try TrackLabel("AUDIO") == .audio)
        #expect(try TrackLabel("SD") == .sd)
        #expect(try TrackLabel("HD") == .hd)
        #expect(try TrackLabel("UHD") == .uhd)
        #expect(try TrackLabel("hd") != .hd)
        #expect(try TrackLabel("SD+HD1").text == "SD+HD1")
    }

    @Test func refusesSpaces() {
        #expect(throws: IdentifierError.invalidCharacter(offset: 1)) { try TrackLabel("H D") }
    }
}

@Suite struct AssetIDTests {
    @Test(arguments: [2, 18, 200, 1023, 1024])
    func takesSizesFromTwoToAKibibyte(size: Int) throws {
        let bytes = [UInt8](repeating: 0xFF, count: size)
        #expect(try AssetID(bytes: bytes).bytes == bytes)
    }

    @Test(arguments: [0, 1, 1025])
    func refusesOtherSizes(size: Int) {
        #expect(throws: IdentifierError.sizeOutOfRange(size)) {
            try AssetID(bytes: [UInt8](repeating: 0x61, count: size))
        }
    }

    @Test func anAliasHasAtMostTwoHundredBytes() throws {
        #expect(try AssetID(alias: [UInt8](repeating: 0x61, count: 200)).bytes.count == 200)
        for size in [0, 1, 201, 1024] {
            #expect(throws: IdentifierError.sizeOutOfRange(size)) {
                try AssetID(alias: [UInt8](repeating: 0x61, count: size))
            }
        }
    }

    @Test func takesAnyByteValues() throws {
        let bytes = (UInt8.min...UInt8.max).map { $0 }
        #expect(try AssetID(bytes: Array(bytes.prefix(200))).bytes == Array(bytes.prefix(200)))
        #expect(try AssetID(bytes: Array(bytes.suffix(200))).bytes == Array(bytes.suffix(200)))
    }
}
