import ByteCoding
private import Foundation
private import FoundationXML

/// Reads XML documents from outside with FoundationXML's SAX parser.
///
/// `XMLParser.parse` returns true for some documents that are not well-formed: with text after the root, with a tag
/// that is not closed, or with a prefix without a namespace. But it reports these errors to its delegate. So any
/// reported error refuses the document, even if `parse` returns true.
///
/// FoundationXML (Swift 6.3) never frees the text of a reported error, about 100 bytes. So parsing stops at the element
/// with the first error. Such an element can still have several namespace errors: at most one for each attribute, and
/// `MarkupScan` limits the number of attributes.
enum MarkupReader {
    /// The document's root. Throws `MarkupError`.
    static func read(_ bytes: [UInt8]) throws(MarkupError) -> MarkupElement {
        let document = try MarkupScan.checked(bytes)
        let parser = XMLParser(data: Data(document))
        let builder = TreeBuilder()
        // With this, names are reported as they were written, and declarations as attributes. An answer repeats both.
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

/// Builds the tree from the parser's reports, and stops the parser at the first fault.
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

    /// Notes the error only. Stopping the parser here would make libxml2 free the input that it is reading.
    func parser(_ parser: XMLParser, parseErrorOccurred error: any Error) {
        failure = failure ?? .notWellFormed
    }

    private func stop(_ parser: XMLParser, _ error: MarkupError) {
        failure = error
        parser.abortParsing()
    }

    /// Collects text, which arrives in many pieces: at worst one for each character reference.
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

    /// Splits a name at its colon. The prefix is empty if there is no colon.
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

    /// The namespace of a prefix: the innermost declaration counts. The parser has already refused an undeclared
    /// prefix.
    private func namespace(of prefix: String, _ declarations: [NamespaceDeclaration]) -> String {
        if let own = declarations.first(where: { $0.prefix.hasSameUTF8(as: prefix) }) { return own.uri }
        for depth in open.indices.reversed() {
            let found = open[depth].declarations.first { $0.prefix.hasSameUTF8(as: prefix) }
            if let found { return found.uri }
        }
        return ""
    }
}

/// Why an XML document is refused.
package enum MarkupError: Error, Equatable, Sendable {
    /// It has more than `MarkupLimits.sizeMaximum` bytes.
    case tooLarge
    /// Its bytes or its XML declaration show another encoding than UTF-8.
    case notUTF8
    /// It has a declaration such as `<!DOCTYPE` or `<!ENTITY` in any place.
    case declaration
    /// It has a processing instruction without data in any place.
    case emptyInstruction
    case tooDeep
    case tooManyElements
    case tooManyAttributes
    /// It is not a well-formed document of XML 1.0 with namespaces.
    case notWellFormed
}

/// The limits of a document from outside.
package enum MarkupLimits {
    /// 256 KiB.
    package static let sizeMaximum = 262_144
    /// How deep elements may nest. The root is at depth 1.
    package static let depthMaximum = 16
    /// How many elements a document may have. 64 keys with three systems each need about 2,500.
    package static let elementCountMaximum = 8_192
    /// How many attributes an element may have, namespace declarations included.
    package static let attributeCountMaximum = 64
}
