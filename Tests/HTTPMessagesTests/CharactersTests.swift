import Testing

@testable import HTTPMessages

@Suite struct CharactersTests {
    /// A byte at each place of a word, between bytes at both ends of what is visible.
    @Test(arguments: UInt8.min...UInt8.max)
    func seesAControlByteAtEachPlaceOfAWord(byte: UInt8) {
        let isControl = byte < 0x20 || byte == 0x7F
        for other: UInt8 in [0x20, 0x7E, 0x80, 0xFF] {
            for place in 0..<8 {
                var word = [UInt8](repeating: other, count: 10)
                word[place + 1] = byte
                let areVisible = word.span.areEightVisible(at: 1)
                #expect(areVisible == !isControl)
            }
        }
    }

    @Test func looksAtEightBytesOnly() {
        let bytes: [UInt8] = [0x0D] + [UInt8](repeating: 0x41, count: 8) + [0x0A]
        let areVisible = bytes.span.areEightVisible(at: 1)
        #expect(areVisible)
    }
}
