import ByteCoding

/// What is refused before the XML parser sees a document.
///
/// The parser (libxml2, by FoundationXML) takes its encoding from the first bytes and from the XML declaration, reads
/// document types, and compares each attribute of a tag with all others. So the encoding, declarations and the number
/// of attributes are checked here, by bytes: after this scan the document is UTF-8, has no entity but the five of XML,
/// and no tag that costs more than its size.
///
/// FoundationXML (Swift 6.3) reads the data of a processing instruction at address 0 if there is none, which ends the
/// process. So `<?name?>` is refused here too.
enum MarkupScan {
    private static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]
    /// Each attribute has two quotation marks. The text behind a tag may have some of its own.
    private static let quoteCountMaximum = 2 * MarkupLimits.attributeCountMaximum + 32

    /// The document without its byte order mark. Throws each case but those of structure.
    static func checked(_ bytes: [UInt8]) throws(MarkupError) -> [UInt8] {
        guard bytes.count <= MarkupLimits.sizeMaximum else { throw .tooLarge }
        let document = bytes.starts(with: byteOrderMark) ? Array(bytes.dropFirst(byteOrderMark.count)) : bytes
        // UTF-16 and UTF-32 without a mark have zeros, and are valid UTF-8 apart from that.
        guard !document.contains(0), String(validating: document, as: UTF8.self) != nil else { throw .notUTF8 }
        try checkEncoding(of: document)
        try checkTags(of: document)
        return document
    }

    /// The XML declaration names UTF-8 or nothing (XML 1.0, section 2.8).
    private static func checkEncoding(of document: [UInt8]) throws(MarkupError) {
        guard document.starts(with: "<?xml".utf8) else { return }
        guard let end = document.firstIndex(of: UInt8(ascii: ">")) else { throw .notWellFormed }
        let declaration = document[..<end].map { isUpperCase($0) ? $0 | 0x20 : $0 }
        guard let name = position(of: "encoding", in: declaration) else { return }
        let rest = declaration[name...].filter { !isSpace($0) }
        guard rest.starts(with: "encoding=\"utf-8\"".utf8) || rest.starts(with: "encoding='utf-8'".utf8) else {
            throw .notUTF8
        }
    }

    /// `<!` may begin a comment or a CDATA section only. Behind the name of a processing instruction there is a space.
    private static func checkTags(of document: [UInt8]) throws(MarkupError) {
        var quoteCount = 0
        for offset in document.indices {
            switch document[offset] {
            case UInt8(ascii: "<"):
                quoteCount = 0
                let rest = document[(offset + 1)...]
                switch rest.first {
                case UInt8(ascii: "!"):
                    guard rest.starts(with: "!--".utf8) || rest.starts(with: "![CDATA[".utf8) else {
                        throw .declaration
                    }
                case UInt8(ascii: "?"):
                    if isEmptyInstruction(rest.dropFirst()) { throw .emptyInstruction }
                default: continue
                }
            case UInt8(ascii: "\""), UInt8(ascii: "'"):
                quoteCount += 1
                guard quoteCount <= quoteCountMaximum else { throw .tooManyAttributes }
            default: continue
            }
        }
    }

    /// Whether the end of a processing instruction stands right behind its name.
    private static func isEmptyInstruction(_ rest: ArraySlice<UInt8>) -> Bool {
        let end = rest.firstIndex { isSpace($0) || $0 == UInt8(ascii: "?") }
        return end.map { rest[$0...].starts(with: "?>".utf8) } ?? false
    }

    /// The offset of the first byte of a name; nil if it does not occur.
    private static func position(of name: String, in bytes: [UInt8]) -> Int? {
        let name = Array(name.utf8)
        guard bytes.count >= name.count else { return nil }
        return (0...bytes.count - name.count).first { bytes[$0...].starts(with: name) }
    }

    private static func isSpace(_ byte: UInt8) -> Bool {
        byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D
    }

    private static func isUpperCase(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte)
    }
}
