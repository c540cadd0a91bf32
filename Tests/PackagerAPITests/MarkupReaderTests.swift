import Testing

@testable import PackagerAPI

@Suite struct MarkupReaderTests {
    private static func error(_ text: String) -> MarkupError? { error(Array(text.utf8)) }

    private static func error(_ bytes: [UInt8]) -> MarkupError? {
        do throws(MarkupError) {
            _ = try MarkupReader.read(bytes)
            return nil
        } catch {
            return error
        }
    }

    private static func nested(_ depth: Int) -> String {
        String(repeating: "<a>", count: depth) + String(repeating: "</a>", count: depth)
    }

    /// Returns a document of exactly this many bytes.
    private static func sized(_ size: Int) -> String { "<a>" + String(repeating: "x", count: size - 7) + "</a>" }

    /// FoundationXML crashes on each of the first documents.
    @Test(
        arguments: [
            ("<?x?><a/>", MarkupError.emptyInstruction), ("<a><?x?></a>", .emptyInstruction),
            ("<a/><?x?>", .emptyInstruction),
            ("<a/><?XML?>", .emptyInstruction), ("<a/><?xml:y?>", .emptyInstruction), ("<?é?><a/>", .emptyInstruction),
            ("<?xml?><a/>", .emptyInstruction), ("<!-- <?x?> --><a/>", .emptyInstruction),
            ("<??><a/>", .emptyInstruction),
            ("<?x ?><a/>", nil), ("<a><?x y?></a>", nil), ("<a/><?x\ty?>", nil), ("<a/><?x ??>", nil),
            ("<?x", .notWellFormed), ("<a/><?x y", .notWellFormed), ("<? x?><a/>", .notWellFormed),
            ("<?x?y?><a/>", .notWellFormed), ("<?x\"?><a/>", .emptyInstruction),
        ] as [(String, MarkupError?)])
    func readsNoInstructionWithoutData(text: String, error: MarkupError?) {
        #expect(Self.error(text) == error)
    }

    @Test func readsNamesTextAndAttributesInOrder() throws {
        let root = try MarkupReader.read(
            Array(
                """
                <?xml version="1.0" encoding="utf-8"?><!-- <c/> -->
                <p:a xmlns:p="urn:p" xmlns="urn:d" z="1" p:b="&lt;2&#10;&quot;"><b>x&amp;<![CDATA[<y>]]>&#233;</b>
                <?other thing?><p:c xmlns:p="urn:q"/></p:a>
                """.utf8))
        #expect(root.isNamed("a", in: "urn:p"))
        #expect(root.attributes.map(\.name) == ["p:b", "z"])
        #expect(root.attributes.map(\.value) == ["<2\n\"", "1"])
        #expect(root.declarations.map(\.prefix) == ["", "p"])
        #expect(root.elements("b", in: "urn:d").map(\.text) == ["x&<y>\u{E9}"])
        #expect(root.elements("c", in: "urn:q").count == 1)
        #expect(root.elements("c", in: "urn:p").isEmpty)
        #expect(root.attribute("z") == "1")
        #expect(root.attribute("b") == nil)
    }

    @Test(
        arguments: [
            "<p:a xmlns:p=\"urn:p\" b=\"&#9;&#10;&#13;&lt;&amp;&quot;'\">\n<p:b/>&#13;&gt;<c xmlns=\"urn:x\"> </c></p:a>",
            "<a xmlns=\"urn:a\"><b xmlns=\"urn:b\"><c/></b>]]&gt;</a>", "<a>\u{1F511} \u{E9}</a>",
        ])
    func writesWhatItHasRead(text: String) throws {
        let root = try MarkupReader.read(Array(text.utf8))
        let written = MarkupWriter(root).bytes
        #expect(try MarkupReader.read(written) == root)
        #expect(MarkupWriter(try MarkupReader.read(written)).bytes == written)
    }

    /// The parser itself reports success for most of these.
    @Test(
        arguments: [
            "", " ", "x", "<a>", "<a></b>", "<a/><b/>", "<a/>x", "<a/><", "<a/><!-- ", "<a/><?x", "<p:a/>",
            "<a p:b=\"\"/>",
            "<a b=\"1\" b=\"2\"/>", "<a xmlns:p=\"urn:u\" xmlns:q=\"urn:u\" p:c=\"1\" q:c=\"2\"/>", "<a>&x;</a>",
            "<a>&#0;</a>",
            "<a xmlns:p=\"\"/>", "<a b=\"<\"/>", "<?xml version=\"1.1\"?><a/>", " <?xml version=\"1.0\"?><a/>", "<?xml",
            "<a>\u{1}</a>", "<a>]]></a>",
        ])
    func refusesWhatIsNotWellFormed(text: String) {
        #expect(Self.error(text) == .notWellFormed)
    }

    @Test func refusesEveryTruncation() throws {
        let document = try Documents.bytes("v2_live_fairplay_period.xml")
        let end = try #require(document.lastIndex(of: UInt8(ascii: ">")))
        for size in 0...end { #expect(Self.error(Array(document.prefix(size))) == .notWellFormed, "\(size) bytes") }
        #expect(Self.error(Array(document.prefix(end + 1))) == nil)
    }

    @Test(
        arguments: [
            "<!DOCTYPE a><a/>", "<!DOCTYPE a [<!ENTITY e SYSTEM \"file:///x\">]><a>&e;</a>", "<a/><!DOCTYPE a>",
            "<!ELEMENT a><a/>",
            "<a><!ENTITY e \"x\"></a>", "<!-- <!DOCTYPE a> --><a/>", "<!doctype a><a/>", "<!><a/>", "<!",
            "<![INCLUDE[]]><a/>",
        ])
    func refusesDeclarations(text: String) {
        #expect(Self.error(text) == .declaration)
    }

    private static let otherEncodings: [[UInt8]] = [
        [0x3C, 0x61, 0x3E, 0xFF, 0x3C, 0x2F, 0x61, 0x3E], [0x3C, 0x61, 0x3E, 0xC0, 0x80, 0x3C, 0x2F, 0x61, 0x3E],
        [0xFF, 0xFE, 0x3C, 0], [0xFE, 0xFF, 0, 0x3C], [0x3C, 0, 0x61, 0, 0x2F, 0, 0x3E, 0],
        [0, 0x3C, 0, 0x61, 0, 0x2F, 0, 0x3E], [0x3C, 0, 0, 0], [0x3C, 0x61, 0x3E, 0, 0x3C, 0x2F, 0x61, 0x3E],
        Array("<?xml version=\"1.0\" encoding=\"UTF-16\"?><a/>".utf8),
        Array("<?xml version='1.0' ENCODING='latin1' encoding='latin1'?><a/>".utf8),
        Array("<?xml version='1.0' encoding = 'ISO-8859-1' ?><a/>".utf8),
        Array("<?xml version='1.0' encoding=utf-8?><a/>".utf8),
    ]

    @Test(arguments: otherEncodings)
    func refusesOtherEncodings(document: [UInt8]) {
        #expect(Self.error(document) == .notUTF8)
    }

    @Test(
        arguments: [
            "<?xml version=\"1.0\"?><a/>", "<?xml version=\"1.0\" encoding=\"UTF-8\"?><a/>",
            "<?xml version='1.0' encoding = 'Utf-8' standalone='yes'?><a/>",
            "\u{FEFF}<a/>", "\u{FEFF}<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<a/>\n",
        ])
    func readsUTF8(text: String) {
        #expect(Self.error(text) == nil)
    }

    @Test func boundsSizeAndDepth() {
        #expect(Self.error(Self.sized(MarkupLimits.sizeMaximum)) == nil)
        #expect(Self.error(Self.sized(MarkupLimits.sizeMaximum + 1)) == .tooLarge)
        #expect(Self.error(Self.nested(16)) == nil)
        #expect(Self.error(Self.nested(17)) == .tooDeep)
        #expect(Self.error(String(repeating: "<a>", count: 80_000)) == .tooDeep)
    }

    @Test func boundsTheNumberOfElements() {
        func flat(_ count: Int) -> String { "<r>" + String(repeating: "<a/>", count: count - 1) + "</r>" }
        #expect(Self.error(flat(MarkupLimits.elementCountMaximum)) == nil)
        #expect(Self.error(flat(MarkupLimits.elementCountMaximum + 1)) == .tooManyElements)
    }

    /// Tens of thousands of attributes would keep the parser busy for a second. They are refused before the parser gets
    /// them.
    @Test func boundsAttributesAndDeclarations() throws {
        func attributes(_ count: Int, _ prefix: String) -> String {
            "<a " + (0..<count).map { "\(prefix)a\($0)=\"u:\"" }.joined(separator: " ") + "/>"
        }
        for prefix in ["", "xmlns:"] {
            #expect(Self.error(attributes(64, prefix)) == nil)
            #expect(Self.error(attributes(65, prefix)) == .tooManyAttributes)
            let many = Array(attributes(10_000, prefix).utf8)
            #expect(throws: MarkupError.tooManyAttributes) { _ = try MarkupScan.checked(many) }
        }
    }

    @Test func keepsTextOfManyReferences() throws {
        let text = String(repeating: "&#97;", count: 50_000)
        #expect(try MarkupReader.read(Array("<a>\(text)</a>".utf8)).text == String(repeating: "a", count: 50_000))
    }

    /// In Swift's comparison of strings, U+212A, the Kelvin sign, equals "K".
    @Test func comparesNamesByTheirBytes() throws {
        let root = try MarkupReader.read(Array("<a><Content\u{212A}ey/></a>".utf8))
        #expect(root.elements("ContentKey", in: "").isEmpty)
    }
}
