import TestSupport
import Testing

@testable import OperatorCommands

/// What remains of a library's error output.
@Suite struct LibraryWordsTests {
    private func lines(_ output: String) -> [String]? { LibraryWords.lines(in: Array(output.utf8)) }

    @Test(arguments: [
        "thread 'main' panicked at src/validate.rs:12:5:", "the certificates file is malformed: missing field",
        "operation 1 failed with status -42605", "cannot read the file (errno 13)",
    ])
    func explanationsRemain(_ line: String) {
        #expect(lines(line) == [line])
    }

    @Test func wordsThatCouldBeSecretsAreLeftOut() {
        #expect(lines("content key 3c5c5a0f9d1e4b6a8877665544332211 used") == ["content key … used"])
        #expect(lines("key abcdefabcdefabcdefabcdefabcdefab") == ["key …"])
        #expect(lines(#"request {"content-key":"00","spc":"AAAA"}"#) == ["request …"])
        #expect(lines("R1 AAECAwQFBgcICQoLDA0ODw==") == ["…"])
        #expect(lines("tail abcd==") == ["tail …"])
        #expect(lines("caf\u{e9} \u{1b}[31mred") == ["…"])
    }

    /// Bytes are often printed as numbers, or in groups of a few digits.
    @Test(arguments: [
        "key: [12, 34, 56, 78, 90]", "00 11 22 33 44 55", "0x3c 0x5c 0x5a 0x0f", "3c5c 5a0f 9d1e 4b6a",
        "00000000: 3c5c 5a0f 9d1e 4b6a  <\\Z...Kj",
    ])
    func dataIsLeftOutWhole(_ line: String) {
        #expect(lines(line) == ["…"])
    }

    /// A key in each spelling that programs print, among random words.
    @Test func noSpellingOfAKeyRemains() {
        var random = SeededGenerator.announced("LibraryWords")
        for _ in 0..<500 {
            let key = random.bytes(count: 16)
            let hexadecimal = key.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }
            let spellings = [
                hexadecimal.joined(), hexadecimal.joined().uppercased(), hexadecimal.joined(separator: " "),
                hexadecimal.joined(separator: ":"), "\(key)", key.map { "\($0)" }.joined(separator: " "),
                key.map { "0x" + String($0, radix: 16) }.joined(separator: ", "),
            ]
            for spelling in spellings {
                let shown = lines("the key is \(spelling) and more")?.joined() ?? ""
                // Two bytes can stand in a text by chance, such as `and`, three cannot.
                let left = hexadecimal.indices.dropLast(2).filter { index in
                    shown.lowercased().contains(hexadecimal[index..<index + 3].joined())
                }
                #expect(left.isEmpty, "\(shown)")
                #expect(!shown.contains("\(key[0]), \(key[1])"), "\(shown)")
            }
        }
    }

    @Test func muchOutputIsCut() {
        #expect(lines("") == nil)
        #expect(lines("\n \n") == nil)
        let many = String(repeating: "one more\n", count: 10_000)
        #expect(lines(many) == Array(repeating: "one more", count: 12) + ["…"])
        #expect(lines(String(repeating: "a", count: 1 << 20)) == ["…"])
    }
}
