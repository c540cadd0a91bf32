import ByteCoding

/// Refuses dangerous documents before the XML parser sees them.
///
/// The parser (libxml2, used by FoundationXML) detects the encoding from the first bytes and the XML declaration. It
/// reads document types, and compares each attribute of a tag with all others. So this scan checks the encoding, the
/// declarations and the number of attributes. After it, the document is UTF-8 and has no entities except the five of
/// XML, and parsing a tag costs time in proportion to its size.
///
/// FoundationXML (Swift 6.3) reads from address 0 if a processing instruction has no data, which ends the process. So
/// `<?name?>` is refused here too.
enum MarkupScan {
    private static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]
    /// How many quotation marks may stand between two `<`. Each attribute has two, and the text after the tag may have
    /// some.
    private static let quoteCountMaximum = 2 * MarkupLimits.attributeCountMaximum + 32

    /// Returns the document without its byte order mark. Throws `tooLarge`, `notUTF8`, `declaration`,
    /// `emptyInstruction`, `tooManyAttributes` and `notWellFormed`.
    static func checked(_ bytes: [UInt8]) throws(MarkupError) -> [UInt8] {
        guard bytes.count <= MarkupLimits.sizeMaximum else { throw .tooLarge }
        let document = bytes.starts(with: byteOrderMark) ? Array(bytes.dropFirst(byteOrderMark.count)) : bytes
        // ASCII text in UTF-16 or UTF-32 without a mark is valid UTF-8, but has zero bytes.
        guard !document.contains(0), String(validating: document, as: UTF8.self) != nil else { throw .notUTF8 }
        try checkEncoding(of: document)
        try checkTags(of: document)
        return document
    }

    /// Throws if the XML declaration names another encoding than UTF-8 (XML 1.0, section 2.8).
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

    /// Throws if `<!` begins anything except a comment or a CDATA section, if a processing instruction has no data, or
    /// if a tag has too many attributes.
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

    /// Whether a processing instruction ends directly after its name.
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
