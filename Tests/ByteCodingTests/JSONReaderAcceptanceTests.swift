import Testing

@testable import ByteCoding

/// The grammar of RFC 8259: texts that must be accepted, and texts that must be refused.
@Suite struct JSONReaderAcceptanceTests {
    /// Texts, and the values that they have, written again without white space.
    static let accepted: [(String, String)] = [
        ("null", "null"), ("true", "true"), ("false", "false"), ("0", "0"), ("-0", "-0"), ("10", "10"),
        ("-1", "-1"), ("1.5", "1.5"), ("-0.0", "-0.0"), ("1e3", "1e3"), ("1E3", "1e3"), ("1e+3", "1e3"),
        ("1E-3", "1e-3"), ("0e0", "0e0"), ("0.1e01", "0.1e01"),
        ("123456789012345678901234567890", "123456789012345678901234567890"),
        ("1e400", "1e400"), ("\"\"", "\"\""), ("\"a\"", "\"a\""), ("\"é\"", "\"é\""),
        ("\"\u{1F511}\"", "\"\u{1F511}\""),
        ("\"\u{7F}\"", "\"\\u007f\""), ("\"\u{85}\"", "\"\\u0085\""), ("\"\u{A0}\"", "\"\u{A0}\""),
        ("\"\u{2028}\"", #""\u2028""#),
        ("\"\u{FFFF}\"", "\"\u{FFFF}\""), ("\"\u{FEFF}\"", #""\ufeff""#),
        (#""\"""#, #""\"""#), (#""\\""#, #""\\""#), (#""\/""#, #""/""#), (#""\b""#, #""\u0008""#),
        (#""\f""#, #""\u000c""#),
        (#""\n""#, #""\n""#), (#""\r""#, #""\r""#), (#""\t""#, #""\t""#), (#""\u0041""#, #""A""#),
        (#""\u00e9""#, "\"é\""), (#""\u00E9""#, "\"é\""), (#""\u0000""#, #""\u0000""#), (#""\u20ac""#, "\"€\""),
        (#""\ud83d\udd11""#, "\"\u{1F511}\""), (#""\uD83D\uDD11x""#, "\"\u{1F511}x\""),
        (#""\uDBFF\uDFFF""#, "\"\u{10FFFF}\""),
        (#""\ud800\udc00""#, "\"\u{10000}\""), (#""\uffff""#, "\"\u{FFFF}\""), (#""\\u0041""#, #""\\u0041""#),
        ("\"// no comment\"", "\"// no comment\""), ("\"'\"", "\"'\""),
        ("[]", "[]"), ("[ ]", "[]"), ("[1]", "[1]"), ("[1,2]", "[1,2]"), ("[ 1 , 2 ]", "[1,2]"),
        ("[null,[],{}]", "[null,[],{}]"),
        ("[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]", "[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]"),
        ("{}", "{}"), ("{ }", "{}"), (#"{"a":1}"#, #"{"a":1}"#), (#"{"b":1,"a":2}"#, #"{"b":1,"a":2}"#),
        (#"{ "a" : { "b" : [ ] } }"#, #"{"a":{"b":[]}}"#), (#"{"":0}"#, #"{"":0}"#),
        (#"{"a":0,"A":0}"#, #"{"a":0,"A":0}"#),
        (#"{"\u0061b":0}"#, #"{"ab":0}"#), ("{\"K\":0,\"\u{212A}\":1}", "{\"K\":0,\"\u{212A}\":1}"),
        ("{\"\u{E9}\":0,\"e\u{301}\":1}", "{\"\u{E9}\":0,\"e\u{301}\":1}"),
        (" \t\r\n1 \t\r\n", "1"), ("\n[\n]\n", "[]"), (#"["a","a"]"#, #"["a","a"]"#),
    ]

    @Test(arguments: accepted)
    func readsWhatTheStandardAllows(text: String, again: String) throws {
        let node = try JSONReader.parse(Array(text.utf8))
        #expect(Array(node.rewritten.utf8) == Array(again.utf8))
    }

    /// Texts, and the byte offset and kind of the error.
    static let refused: [(String, Int, Fault)] = [
        ("", 0, .end), (" ", 1, .end), ("\n", 1, .end), ("nul", 3, .end), ("nulL", 3, .character),
        ("Null", 0, .character),
        ("TRUE", 0, .character), ("truE", 3, .character), ("fals", 4, .end), ("undefined", 0, .character),
        ("NaN", 0, .character), ("Infinity", 0, .character), ("-Infinity", 0, .number), ("-NaN", 0, .number),
        ("nullx", 4, .trailing), ("true false", 5, .trailing), ("1 2", 2, .trailing), ("{}{}", 2, .trailing),
        ("[]]", 2, .trailing),
        ("{}}", 2, .trailing), ("\"a\"b", 3, .trailing), ("[],", 2, .trailing), ("{}\0", 2, .trailing),
        ("{}//", 2, .trailing),
        ("-", 1, .end), ("+1", 0, .character), (".5", 0, .character), ("5.", 2, .end), ("[5.]", 1, .number),
        ("-.5", 0, .number),
        ("1e", 2, .end), ("[1e]", 1, .number), ("1e+", 3, .end), ("[1e+]", 1, .number), ("01", 0, .number),
        ("-01", 0, .number),
        ("00", 0, .number), ("0x10", 0, .number), ("1a", 0, .number), ("1.2.3", 0, .number), ("1_000", 0, .number),
        ("1e5.5", 0, .number),
        ("--1", 0, .number), ("1-1", 0, .number), ("0.e1", 0, .number), ("\u{661}", 0, .character),
        ("$1", 0, .character),
        ("\"", 1, .end), ("\"abc", 4, .end), ("\"\\", 2, .end), ("\"\\\"", 3, .end), ("'a'", 0, .character),
        ("\"a'", 3, .end),
        ("\"\n\"", 1, .control), ("\"\t\"", 1, .control), ("\"\0\"", 1, .control), ("\"ab\u{1F}\"", 3, .control),
        ("\"a\r\n\"", 2, .control),
        (#""\x41""#, 1, .escape), (#""\a""#, 1, .escape), (#""\'""#, 1, .escape), (#""\0""#, 1, .escape),
        (#""\v""#, 1, .escape),
        (#""\U0041""#, 1, .escape), (#""\u""#, 1, .escape), (#""\u00""#, 1, .escape), (#""\u004g""#, 1, .escape),
        (#""ab\u+041""#, 3, .escape),
        ("\"\\\n\"", 1, .escape), ("\"\\é\"", 1, .escape), (#""\u004"#, 6, .end),
        (#""\ud800""#, 1, .escape), (#""\udc00""#, 1, .escape), (#""\ud800\ud800""#, 1, .escape),
        (#""\udc00\ud800""#, 1, .escape),
        (#""\ud800x""#, 1, .escape), (#""\ud800\n""#, 1, .escape), (#""\ud800\u0041""#, 1, .escape),
        (#""\udfff""#, 1, .escape),
        ("[", 1, .end), ("[1", 2, .end), ("[1,", 3, .end), ("[1,]", 3, .character), ("[,1]", 1, .character),
        ("[,]", 1, .character),
        ("[1,,2]", 3, .character), ("[1 2]", 3, .character), ("[1}", 2, .character), ("[1:2]", 2, .character),
        ("]", 0, .character),
        ("[\"a\"", 4, .end), ("[true", 5, .end), ("[1;2]", 2, .character), ("[\u{A0}]", 1, .character),
        ("[\u{0C}]", 1, .character),
        ("{", 1, .end), ("{\"a\"", 4, .end), ("{\"a\":", 5, .end), ("{\"a\":1", 6, .end), ("{\"a\":1,", 7, .end),
        ("{\"a\":1,}", 7, .character),
        ("{,}", 1, .character), ("{\"a\"}", 4, .character), ("{\"a\":}", 5, .character), ("{a:1}", 1, .character),
        ("{'a':1}", 1, .character),
        ("{1:1}", 1, .character), ("{null:1}", 1, .character), ("{\"a\" 1}", 5, .character),
        ("{\"a\"=1}", 4, .character), ("{\"a\":1 \"b\":2}", 7, .character),
        ("{\"a\"::1}", 5, .character), ("{\"a\":1]", 6, .character), ("{[]:1}", 1, .character), ("}", 0, .character),
        ("{{}}", 1, .character),
        ("{\"a\":1,\"a\":1}", 7, .duplicate), ("{\"a\":1,\"b\":2,\"\\u0061\":3}", 13, .duplicate),
        ("{\"\":1,\"\":1}", 6, .duplicate),
        ("{\"x\":{\"a\":1,\"a\":1}}", 12, .duplicate), ("{\"K\":0,\"k\":1,\"K\":2}", 13, .duplicate),
        ("// a\n1", 0, .character), ("/* a */1", 0, .character), ("1/**/", 1, .trailing), ("#1", 0, .character),
        ("[1]//x", 3, .trailing),
        ("\u{FEFF}1", 0, .character), ("\u{A0}1", 0, .character), ("\u{0B}1", 0, .character), ("\01", 0, .character),
        ("\\u0031", 0, .character),
        ("[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]", 16, .depth), ("{\"a\":[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]}", 20, .depth),
    ]

    enum Fault: Equatable, Sendable {
        case end, character, trailing, number, control, escape, duplicate, depth, encoding, size

        init(_ error: JSONError) {
            switch error {
            case .tooLarge, .tooManyValues: self = .size
            case .invalidUTF8: self = .encoding
            case .unexpectedEnd: self = .end
            case .unexpectedCharacter, .commaMissing, .colonMissing: self = .character
            case .trailingContent: self = .trailing
            case .tooDeep: self = .depth
            case .duplicateMember: self = .duplicate
            case .invalidNumber: self = .number
            case .controlCharacter: self = .control
            case .invalidEscape: self = .escape
            }
        }
    }

    @Test(arguments: refused)
    func refusesEverythingElse(text: String, offset: Int, fault: Fault) throws {
        let error = try #require(throws: JSONError.self) { try JSONReader.parse(Array(text.utf8)) }
        #expect(Fault(error) == fault)
        #expect(error.position.byteOffset == offset)
        #expect(!error.description.isEmpty)
    }

    @Test(
        arguments: [
            ([0x22, 0x80, 0x22], 1), ([0x22, 0xC3, 0x22], 1), ([0x22, 0xC0, 0x80, 0x22], 1),
            ([0x22, 0xC1, 0xBF, 0x22], 1),
            ([0x22, 0xE0, 0x80, 0x80, 0x22], 1), ([0x22, 0xED, 0xA0, 0x80, 0x22], 1),
            ([0x22, 0x61, 0xF0, 0x80, 0x80, 0x80, 0x22], 2),
            ([0x22, 0xF4, 0x90, 0x80, 0x80, 0x22], 1), ([0x22, 0xF5, 0x80, 0x80, 0x80, 0x22], 1),
            ([0x22, 0xFF, 0x22], 1),
            ([0x22, 0xE2, 0x82], 1), ([0x31, 0xFE], 1), ([0xFF, 0xFE, 0x31, 0x00], 0),
            ([0x5B, 0x0A, 0x31, 0x0A, 0xA9, 0x5D], 4),
        ] as [([UInt8], Int)], [JSONDialect.strict, .json5])
    func refusesWhatIsNotUTF8(input: ([UInt8], Int), dialect: JSONDialect) throws {
        let error = try #require(throws: JSONError.self) { try JSONReader.parse(input.0, dialect: dialect) }
        #expect(Fault(error) == .encoding)
        #expect(error.position.byteOffset == input.1)
    }
}

extension JSONNode {
    /// The value as text without white space.
    var rewritten: String {
        var writer = JSONWriter()
        writer.node(self)
        return String(decoding: writer.bytes, as: UTF8.self)
    }
}
