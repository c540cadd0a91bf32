import TestSupport
import Testing

@testable import ByteCoding

@Suite struct JSONWriterTests {
    static func text(_ write: (inout JSONWriter) -> Void) -> String {
        var writer = JSONWriter()
        write(&writer)
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    @Test func writesEveryKindOfMember() {
        let bytes = JSONWriter.object { writer in
            writer.member("text", "a\"b")
            writer.member("absent", String?.none)
            writer.member("present", String?.some("x"))
            writer.member("integer", Int64.min)
            writer.member("count", 3)
            writer.member("unsigned", UInt64.max)
            writer.member("bool", false)
            writer.name("list")
            writer.array { list in
                list.integer(-1)
                list.null()
                list.object { _ in }
                list.array { _ in }
                list.bool(true)
            }
            writer.name("nested")
            writer.object { $0.member("a", true) }
        }
        #expect(
            String(decoding: bytes, as: UTF8.self)
                == #"{"text":"a\"b","absent":null,"present":"x","integer":-9223372036854775808,"count":3,"#
                + #""unsigned":18446744073709551615,"bool":false,"list":[-1,null,{},[],true],"#
                + #""nested":{"a":true}}"#)
    }

    @Test func writesMembersWithObjectsAndArrays() {
        let bytes = JSONWriter.object { writer in
            writer.object("object") { $0.member("a", 1) }
            writer.object("present", Int?.some(2)) { $0.member("b", $1) }
            writer.object("absent", Int?.none) { $0.member("b", $1) }
            writer.array("array") { $0.integer(3) }
            writer.member("texts", ["x", "y"])
            writer.objects("objects", [4, 5]) { $0.member("c", $1) }
            writer.objects("none", [Int]()) { $0.member("c", $1) }
        }
        #expect(
            String(decoding: bytes, as: UTF8.self)
                == #"{"object":{"a":1},"present":{"b":2},"absent":null,"array":[3],"texts":["x","y"],"#
                + #""objects":[{"c":4},{"c":5}],"none":[]}"#)
    }

    @Test func writesBytesAsText() {
        let bytes = JSONWriter.object { writer in
            writer.member("base64", base64: [0xFB, 0xFF])
            writer.member("base64URL", base64URL: [0xFB, 0xFF])
            writer.member("sixteen", hexadecimal: Bytes16(high: 1, low: 0xFEDC_BA98_7654_3210))
            writer.member("eight", hexadecimal: UInt64(0xAB))
        }
        #expect(
            String(decoding: bytes, as: UTF8.self)
                == #"{"base64":"+/8=","base64URL":"-_8","sixteen":"0000000000000001fedcba9876543210","#
                + #""eight":"00000000000000ab"}"#)
    }

    @Test(arguments: [0, 9, 10, 123, 1_000, 987_654_321, .max] as [UInt64])
    func appendsDecimalDigitsInTheirOrder(number: UInt64) {
        var text = Array("a=".utf8)
        text.append(decimal: number)
        #expect(String(decoding: text, as: UTF8.self) == "a=\(number)")
    }

    @Test(
        arguments: [
            ("", ""), ("/é\u{1F511}", "/é\u{1F511}"), ("\"\\", #"\"\\"#), ("\n\r\t", #"\n\r\t"#),
            ("\0\u{1B}", #"\u0000\u001b"#),
            ("\u{7F}\u{80}\u{9B}\u{9F}", #"\u007f\u0080\u009b\u009f"#), ("\u{A0}\u{BF}\u{C0}", "\u{A0}\u{BF}\u{C0}"),
            ("\r\n", #"\r\n"#), ("e\u{301}", "e\u{301}"), ("\u{202E}a\u{2066}", #"\u202ea\u2066"#),
            ("\u{200B}\u{2028}\u{FEFF}\u{AD}", #"\u200b\u2028\ufeff\u00ad"#),
            ("\u{E0041}\u{1F511}", #"\udb40\udc41"# + "\u{1F511}"),
        ])
    func escapesWhatMustNotStandInALine(value: String, escaped: String) throws {
        let text = Self.text { $0.string(value) }
        #expect(text == "\"\(escaped)\"")
        #expect(try JSONReader.parse(Array(text.utf8)).string == value)
    }

    @Test func everyScalarOfTheFirstPlanesSurvives() throws {
        let scalars = (UInt32(0)...0x2FFF).compactMap(Unicode.Scalar.init) + ["\u{FFFD}", "\u{10FFFF}"]
        let value = String(String.UnicodeScalarView(scalars))
        let again = try #require(try JSONReader.parse(Array(Self.text { $0.string(value) }.utf8)).string)
        #expect(Array(again.utf8) == Array(value.utf8))
    }

    /// One byte that needs an escape is enough, wherever it is in a text.
    @Test func escapesASingleScalarAmongLetters() throws {
        for scalar in (UInt32(0)...0x17F).compactMap(Unicode.Scalar.init) {
            for value in ["\(scalar)bc", "a\(scalar)c", "ab\(scalar)"] {
                let text = Self.text { $0.string(value) }
                #expect(text.unicodeScalars.allSatisfy { !VisibleText.isHidden($0) })
                let again = try #require(try JSONReader.parse(Array(text.utf8)).string)
                #expect(Array(again.utf8) == Array(value.utf8))
            }
        }
    }

    /// Any written tree is read back as the same tree, and each prefix of an object's text is refused.
    @Test func randomTreesSurviveTheRoundTrip() throws {
        var generator = SeededGenerator.announced("JSON trees")
        for _ in 0..<300 {
            var writer = JSONWriter()
            writer.object { Self.writeMembers(to: &$0, depth: 1, &generator) }
            let node = try JSONReader.parse(writer.bytes)
            #expect(Array(node.rewritten.utf8) == writer.bytes)
            let length = Int.random(in: 0..<writer.bytes.count, using: &generator)
            #expect(throws: JSONError.self) {
                try JSONReader.parse(Array(writer.bytes.prefix(length)))
            }
        }
    }

    private static func writeMembers(to writer: inout JSONWriter, depth: Int, _ generator: inout SeededGenerator) {
        for index in 0..<Int.random(in: 0...5, using: &generator) {
            writer.name("\(index)" + randomText(&generator))
            writeValue(to: &writer, depth: depth, &generator)
        }
    }

    private static func writeValue(to writer: inout JSONWriter, depth: Int, _ generator: inout SeededGenerator) {
        switch Int.random(in: 0...(depth < 6 ? 7 : 5), using: &generator) {
        case 0: writer.null()
        case 1: writer.bool(Bool.random(using: &generator))
        case 2: writer.integer(Int64(bitPattern: generator.next()))
        case 3: writer.unsigned(generator.next())
        case 4: writer.node(randomFraction(&generator))
        case 5: writer.string(randomText(&generator))
        case 6:
            writer.array { list in
                for _ in 0..<Int.random(in: 0...4, using: &generator) {
                    writeValue(to: &list, depth: depth + 1, &generator)
                }
            }
        default: writer.object { writeMembers(to: &$0, depth: depth + 1, &generator) }
        }
    }

    /// A random fraction. A number that is no integer can only be written as it was read.
    private static func randomFraction(_ generator: inout SeededGenerator) -> JSONNode {
        let text = Double.random(in: -1e9...1e9, using: &generator).description
        do { return try JSONReader.parse(Array(text.utf8)) } catch { preconditionFailure("\(text): \(error)") }
    }

    private static func randomText(_ generator: inout SeededGenerator) -> String {
        let scalars = (0..<Int.random(in: 0...8, using: &generator)).compactMap { _ in
            Unicode.Scalar(
                UInt32.random(in: 0...0x10FFFF, using: &generator) >> UInt32.random(in: 0...16, using: &generator))
        }
        return String(String.UnicodeScalarView(scalars))
    }

    @Test(arguments: [0, 1, 9, 10, 99, 100, 12_345, UInt64(Int64.max), .max])
    func writesNumbersInDecimal(number: UInt64) {
        var bytes: [UInt8] = Array("a".utf8)
        bytes.append(decimal: number)
        #expect(String(decoding: bytes, as: UTF8.self) == "a\(number)")
    }

    @Test(arguments: [Int64.min, -10, -1, 0, 1, .max])
    func writesSignedNumbers(number: Int64) {
        #expect(JSONWriter.object { $0.member("n", number) } == Array("{\"n\":\(number)}".utf8))
    }

    /// Each byte, alone and behind a text that is longer than a register.
    @Test(arguments: UInt8.min..<0x80, ["", String(repeating: "a", count: 70)])
    func readsBackEveryCharacter(byte: UInt8, before: String) throws {
        let text = before + String(UnicodeScalar(byte)) + "z"
        let written = JSONWriter.object { $0.member("t", text) }
        #expect(written.allSatisfy { (0x20..<0x7F).contains($0) })
        #expect(try JSONReader.parse(written).object?["t"]?.string == text)
    }
}
