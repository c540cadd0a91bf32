import Testing

@testable import ByteCoding

@Suite struct JSON5Tests {
    static let accepted: [(String, String)] = [
        ("// comment\n1", "1"), ("1 // comment", "1"), ("1 //", "1"), ("/* a\n * b */ 1 /**/", "1"),
        ("[1,/* , */2]", "[1,2]"),
        ("// a\r[1]// b\r\n", "[1]"), ("/***/1", "1"), ("/* // */1", "1"), ("{/**/a/**/:/**/1/**/}", #"{"a":1}"#),
        ("[1,]", "[1]"), ("[1, \n ]", "[1]"), ("{a:1,}", #"{"a":1}"#), ("[[1,],]", "[[1]]"), ("[]", "[]"), ("{}", "{}"),
        ("{a:1}", #"{"a":1}"#), ("{_a$9:1,$:2,_:3}", #"{"_a$9":1,"$":2,"_":3}"#),
        ("{null:1,true:2}", #"{"null":1,"true":2}"#),
        ("{'a b':1,\"c\":2}", #"{"a b":1,"c":2}"#), ("{Infinity:1}", #"{"Infinity":1}"#),
        ("{publicURL : 'x'}", #"{"publicURL":"x"}"#),
        ("'a'", #""a""#), ("'\"'", #""\"""#), ("\"'\"", #""'""#), (#"'\''"#, #""'""#), (#"'\"'"#, #""\"""#),
        (#""\'""#, #""'""#),
        (#"'\v'"#, #""\u000b""#), (#"'\x41\xe9'"#, "\"Aé\""), (#"'\u0041'"#, #""A""#), ("''", #""""#),
        ("'//'", #""//""#),
        ("0x10", "16"), ("0XfF", "255"), ("-0x1", "-1"), ("+0x1", "1"), ("0x0", "0"),
        ("0xFFFFFFFFFFFFFFFF", "18446744073709551615"),
        ("0x00000000000000000001", "1"), ("+1", "1"), ("+1.5", "1.5"), (".5", "0.5"), ("-.5", "-0.5"), ("+.5", "0.5"),
        ("5.", "5"),
        ("5.e3", "5e3"), (".5e-3", "0.5e-3"), ("-0", "-0"), ("[+1,-2,]", "[1,-2]"), ("0.5", "0.5"), ("1E+2", "1e2"),
        ("\u{FEFF}{}", "{}"), ("\u{A0}1\u{0B}\u{0C}", "1"), ("null", "null"),
    ]

    @Test(arguments: accepted)
    func readsWhatPeopleWrite(text: String, again: String) throws {
        #expect(try JSONReader.parse(Array(text.utf8), dialect: .json5).rewritten == again)
    }

    static let refused: [(String, Int)] = [
        ("", 0), ("// only a comment", 17), ("/* never ends", 0), ("/*/", 0), ("1 /", 2), ("1 / 2", 2),
        ("[1 /* x ]", 3), ("/", 0),
        ("[,]", 1), ("[1,,]", 3), ("{,}", 1), ("{a:1,,}", 5), ("[", 1), ("[1,", 3), ("{a:1,", 5),
        ("{a}", 2), ("{a-b:1}", 2), ("{9a:1}", 1), ("{é:1}", 1), ("{a b:1}", 3), ("{:1}", 1), ("{'a:1}", 6),
        ("{a\\u0062:1}", 2),
        ("a", 0), ("Infinity", 0), ("-Infinity", 0), ("NaN", 0), ("+NaN", 0), ("undefined", 0), ("'a\"", 3),
        ("\"a'", 3),
        ("'a\nb'", 2), ("'a\\\nb'", 2), ("'\t'", 1), ("'\\a'", 1), ("'\\0'", 1), ("'\\x4'", 1), ("'\\xg0'", 1),
        ("'\\8'", 1), ("'C:\\path'", 3),
        ("'\\ud800'", 1), ("0x", 2), ("[0x]", 1), ("0xg", 0), ("0x1.5", 0), ("0x10000000000000000", 0), ("01", 0),
        ("+", 1), ("[+]", 1),
        (".", 1), ("[.]", 1), ("+-1", 0), ("1..2", 0), (".e1", 0), ("1e", 2), ("0x1p3", 0), ("1_0", 0), ("010", 0),
        ("1n", 0),
        ("{a:1,a:2}", 5), ("{a:1,'a':2}", 5), ("{a:1,\"\\u0061\":2}", 5), ("{a:1,'\\x61':2}", 5), ("{}{}", 2),
        ("[1]\u{FEFF}", 3),
        ("\u{2028}1", 0),
    ]

    @Test(arguments: refused)
    func refusesTypingErrors(text: String, offset: Int) throws {
        let error = try #require(throws: JSONError.self) { try JSONReader.parse(Array(text.utf8), dialect: .json5) }
        #expect(error.position.byteOffset == offset)
    }

    /// Texts that both dialects accept.
    static let common: Set = ["[]", "{}", "-0", "0.5", "1E+2", "null", "\"'\""]

    /// The strict dialect refuses everything that JSON5 adds to RFC 8259.
    @Test(arguments: accepted.map(\.0).filter { !common.contains($0) })
    func theStrictDialectHasNoneOfIt(text: String) {
        #expect(throws: JSONError.self) { try JSONReader.parse(Array(text.utf8)) }
    }

    @Test(arguments: common)
    func theStrictDialectHasWhatBothHave(text: String) {
        #expect(throws: Never.self) { try JSONReader.parse(Array(text.utf8)) }
    }

    @Test func placesCountThroughCommentsAndMarks() throws {
        let text = "\u{FEFF}// ключ\n{ /* ü\n ü */ a: 1,\n  'b': [x]\n}"
        let error = try #require(throws: JSONError.self) { try JSONReader.parse(Array(text.utf8), dialect: .json5) }
        #expect(error.description.hasPrefix("line 4, column 9: unexpected character"))
        let object = try #require(
            try JSONReader.parse(Array(text.replacing("x", with: "2").utf8), dialect: .json5).object)
        #expect(object.members.map(\.namePosition.line) == [3, 4])
        #expect(object.members.map(\.namePosition.column) == [7, 3])
    }

    static let configuration = """
        // what people write
        {
          node: 'node-1', /* default: host name */
          listeners: { public: [{ address: "0.0.0.0:8443", proxyProtocol: false }], },
          limits: { body: 0x10000, ratio: .5, "offset": +3, },
        }
        """

    /// A server must not start with a configuration that was cut off.
    @Test(arguments: 0..<configuration.utf8.count)
    func refusesEveryTruncation(length: Int) {
        #expect(throws: Never.self) { try JSONReader.parse(Array(Self.configuration.utf8), dialect: .json5) }
        #expect(throws: JSONError.self) {
            try JSONReader.parse(Array(Self.configuration.utf8.prefix(length)), dialect: .json5)
        }
    }
}
