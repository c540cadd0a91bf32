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
