import ByteCoding
import ContentKeys

/// Writes a tree as a document in UTF-8. The same tree gives the same bytes.
///
/// For each key the bytes have a place of 24 zero bytes, which is the size of its Base64.
struct MarkupWriter {
    /// The place for the Base64 of a key.
    struct KeyPlace: Sendable {
        static let size = Base64.encodedSize(of: ContentKey.size)

        let keyID: KeyID
        let offset: Int
    }

    private(set) var bytes: [UInt8] = []
    private(set) var keyPlaces: [KeyPlace] = []

    /// Writes a document with its XML declaration.
    init(_ root: MarkupElement) {
        bytes.reserveCapacity(4_096)
        append("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n")
        write(root)
        append("\n")
    }

    private mutating func write(_ element: MarkupElement) {
        append("<")
        writeName(of: element)
        for declaration in element.declarations {
            writeAttribute(declaration.prefix.isEmpty ? "xmlns" : "xmlns:\(declaration.prefix)", declaration.uri)
        }
        for attribute in element.attributes { writeAttribute(attribute.name, attribute.value) }
        guard !element.children.isEmpty else { return append("/>") }
        append(">")
        for child in element.children {
            switch child {
            case .element(let element): write(element)
            case .text(let text): escape(text, isAttribute: false)
            case .key(let keyID):
                keyPlaces.append(KeyPlace(keyID: keyID, offset: bytes.count))
                bytes.append(contentsOf: repeatElement(0, count: KeyPlace.size))
            }
        }
        append("</")
        writeName(of: element)
        append(">")
    }

    private mutating func writeName(of element: MarkupElement) {
        if !element.prefix.isEmpty {
            append(element.prefix)
            append(":")
        }
        append(element.localName)
    }

    private mutating func writeAttribute(_ name: String, _ value: String) {
        append(" ")
        append(name)
        append("=\"")
        escape(value, isAttribute: true)
        append("\"")
    }

    /// Escapes characters that a parser would read differently. In attributes, line ends and tabs would become spaces
    /// (XML 1.0, section 3.3.3). A carriage return would become a line feed (section 2.11).
    private mutating func escape(_ text: String, isAttribute: Bool) {
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "&"): append("&amp;")
            case UInt8(ascii: "<"): append("&lt;")
            case UInt8(ascii: ">"): append("&gt;")
            case 0x0D: append("&#13;")
            case UInt8(ascii: "\"") where isAttribute: append("&quot;")
            case 0x0A where isAttribute: append("&#10;")
            case 0x09 where isAttribute: append("&#9;")
            default: bytes.append(byte)
            }
        }
    }

    private mutating func append(_ text: String) {
        bytes.append(contentsOf: text.utf8)
    }
}
