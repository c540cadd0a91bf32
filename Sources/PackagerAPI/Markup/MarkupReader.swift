import ByteCoding
private import Foundation
private import FoundationXML

/// Reads XML documents from outside with FoundationXML's SAX parser.
///
/// `XMLParser.parse` returns true for documents that are not well-formed: text behind the root, a tag that does not
/// end, a prefix without a namespace. It reports these errors to its delegate. So each report refuses the document,
/// and the returned value is not trusted alone.
///
/// FoundationXML (Swift 6.3) never frees the text of an error that it reports, about 100 bytes. Parsing therefore ends
/// with the element in which the first error is. Only errors of namespaces can be more than one: at most one for each
/// attribute of that element, whose number `MarkupScan` limits.
enum MarkupReader {
    /// The document's root. Throws `MarkupError`.
    static func read(_ bytes: [UInt8]) throws(MarkupError) -> MarkupElement {
        let document = try MarkupScan.checked(bytes)
        let parser = XMLParser(data: Data(document))
        let builder = TreeBuilder()
        // Names come as they were written, and declarations as attributes: both are written again in an answer.
        parser.shouldProcessNamespaces = false
        parser.shouldReportNamespacePrefixes = false
        parser.shouldResolveExternalEntities = false
        parser.delegate = builder
        let hasParsed = parser.parse()
        if let failure = builder.failure { throw failure }
        guard hasParsed, let root = builder.root else { throw .notWellFormed }
        return root
    }
}

/// Builds the tree while the parser reports, and stops it at the first fault.
private final class TreeBuilder: NSObject, XMLParserDelegate {
    private(set) var root: MarkupElement?
    private(set) var failure: MarkupError?
    private var open: [MarkupElement] = []
    private var elementCount = 0
    private var pendingText = ""

    func parser(
        _ parser: XMLParser, didStartElement name: String, namespaceURI: String?, qualifiedName: String?,
        attributes: [String: String]
    ) {
        guard failure == nil else { return parser.abortParsing() }
        elementCount += 1
        guard elementCount <= MarkupLimits.elementCountMaximum else { return stop(parser, .tooManyElements) }
        guard open.count < MarkupLimits.depthMaximum else { return stop(parser, .tooDeep) }
        guard attributes.count <= MarkupLimits.attributeCountMaximum else { return stop(parser, .tooManyAttributes) }
        guard root == nil else { return stop(parser, .notWellFormed) }
        flushText()
        open.append(element(name, attributes))
    }

    func parser(_ parser: XMLParser, didEndElement name: String, namespaceURI: String?, qualifiedName: String?) {
        guard failure == nil else { return }
        flushText()
        guard let element = open.popLast() else { return }
        if open.isEmpty {
            root = element
        } else {
            open[open.count - 1].children.append(.element(element))
        }
    }

    func parser(_ parser: XMLParser, foundCharacters text: String) {
        append(text)
    }

    func parser(_ parser: XMLParser, foundCDATA data: Data) {
        append(String(decoding: data, as: UTF8.self))
    }

    /// The parser must not be stopped in here: libxml2 would free the input that it is reading.
    func parser(_ parser: XMLParser, parseErrorOccurred error: any Error) {
        failure = failure ?? .notWellFormed
    }

    private func stop(_ parser: XMLParser, _ error: MarkupError) {
        failure = error
        parser.abortParsing()
    }

    /// Text arrives in many pieces, one for each character reference at worst.
    private func append(_ text: String) {
        guard failure == nil, !open.isEmpty else { return }
        pendingText += text
    }

    private func flushText() {
        guard !pendingText.isEmpty, !open.isEmpty else { return }
        open[open.count - 1].children.append(.text(pendingText))
        pendingText = ""
    }

    private func element(_ name: String, _ attributes: [String: String]) -> MarkupElement {
        var own: [MarkupAttribute] = []
        var declarations: [NamespaceDeclaration] = []
        for (name, value) in attributes {
            if let prefix = Self.declaredPrefix(name) {
                declarations.append(NamespaceDeclaration(prefix: prefix, uri: value))
            } else {
                own.append(MarkupAttribute(name: name, value: value))
            }
        }
        let (prefix, localName) = Self.parts(of: name)
        return MarkupElement(
            prefix: prefix, localName: localName, namespace: namespace(of: prefix, declarations), attributes: own,
            declarations: declarations)
    }

    /// The prefix of a name, empty without one, and what stands behind the colon.
    private static func parts(of name: String) -> (prefix: String, localName: String) {
        guard let colon = name.utf8.firstIndex(of: UInt8(ascii: ":")) else { return ("", name) }
        return (String(name[..<colon]), String(name[name.utf8.index(after: colon)...]))
    }

    /// The prefix that an attribute declares; nil for an attribute that is not a declaration.
    private static func declaredPrefix(_ name: String) -> String? {
        guard name.utf8.starts(with: "xmlns".utf8) else { return nil }
        let (prefix, localName) = parts(of: name)
        if prefix.isEmpty { return localName.utf8.count == "xmlns".utf8.count ? "" : nil }
        return prefix.utf8.count == "xmlns".utf8.count ? localName : nil
    }

    /// The innermost declaration counts. The parser has refused a prefix that has none.
    private func namespace(of prefix: String, _ declarations: [NamespaceDeclaration]) -> String {
        if let own = declarations.first(where: { $0.prefix.hasSameUTF8(as: prefix) }) { return own.uri }
        for depth in open.indices.reversed() {
            let found = open[depth].declarations.first { $0.prefix.hasSameUTF8(as: prefix) }
            if let found { return found.uri }
        }
        return ""
    }
}

/// Why bytes are not an XML document that is read.
package enum MarkupError: Error, Equatable, Sendable {
    /// More than `MarkupLimits.sizeMaximum` bytes.
    case tooLarge
    /// Another encoding than UTF-8, by the bytes or by the XML declaration.
    case notUTF8
    /// A declaration such as `<!DOCTYPE` or `<!ENTITY`, in any place.
    case declaration
    /// A processing instruction without data, in any place.
    case emptyInstruction
    case tooDeep
    case tooManyElements
    case tooManyAttributes
    /// Not a well-formed document of XML 1.0 with namespaces.
    case notWellFormed
}

extension MarkupError: CustomStringConvertible {
    /// Words for the log.
    package var description: String {
        switch self {
        case .tooLarge: "it has more than \(MarkupLimits.sizeMaximum) bytes"
        case .notUTF8: "it is not in UTF-8"
        case .declaration: "it has a declaration such as <!DOCTYPE or <!ENTITY"
        case .emptyInstruction: "it has a processing instruction without data"
        case .tooDeep: "its elements nest too deep"
        case .tooManyElements: "it has too many elements"
        case .tooManyAttributes: "an element has too many attributes"
        case .notWellFormed: "it is not well-formed XML"
        }
    }
}

/// What a document from outside may be.
package enum MarkupLimits {
    /// 256 KiB.
    package static let sizeMaximum = 262_144
    /// How deep elements may nest. The root is at depth 1.
    package static let depthMaximum = 16
    /// 64 keys with three systems each need about 2,500 elements.
    package static let elementCountMaximum = 8_192
    /// Attributes of one element, namespace declarations included.
    package static let attributeCountMaximum = 64
}
