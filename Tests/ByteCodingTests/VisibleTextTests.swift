import Testing

@testable import ByteCoding

@Suite struct VisibleTextTests {
    /// Direction marks, embeddings, overrides and isolates; joiners; separators; tags; control characters.
    @Test(
        arguments: [
            0x00, 0x1B, 0x7F, 0x85, 0x9B, 0xAD, 0x61C, 0x180E, 0x200B, 0x200D, 0x200F, 0x2028, 0x2029, 0x202A, 0x202E,
            0x2066, 0x2069, 0xFEFF, 0xFFF9, 0xE0001, 0xE007F,
        ] as [UInt32])
    func replacesWhatIsHidden(value: UInt32) throws {
        let scalar = try #require(Unicode.Scalar(value))
        #expect(VisibleText.isHidden(scalar))
        #expect(VisibleText.shown("a\(Character(scalar))b") == "a?b")
    }

    @Test(arguments: ["", "movie-42", "Größe", "e\u{301}", "\u{5D0}\u{627}", "\u{1F511}\u{FE0F}", "a\u{A0}b"])
    func leavesLettersAndSigns(text: String) {
        #expect(Array(VisibleText.shown(text).utf8) == Array(text.utf8))
    }
}
