import ByteCoding

/// An XML element with its attributes, its namespace declarations and its content.
///
/// Comments and processing instructions are not kept. `MarkupWriter` can write everything else of a request again, so
/// an answer also has the parts that this server does not know (packagers, section 7).
struct MarkupElement: Equatable, Sendable {
    /// The prefix as it was written; empty for a name without one.
    var prefix: String
    var localName: String
    /// The namespace's URI; empty for a name in no namespace.
    var namespace: String
    /// The attributes, sorted by name, because the parser does not keep their order.
    private(set) var attributes: [MarkupAttribute]
    /// The namespace declarations on this element, sorted by prefix.
    private(set) var declarations: [NamespaceDeclaration]
    var children: [MarkupNode]

    init(
        prefix: String, localName: String, namespace: String, attributes: [MarkupAttribute] = [],
        declarations: [NamespaceDeclaration] = [], children: [MarkupNode] = []
    ) {
        self.prefix = prefix
        self.localName = localName
        self.namespace = namespace
        self.attributes =
            attributes.count < 2
            ? attributes : attributes.sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
        self.declarations =
            declarations.count < 2
            ? declarations : declarations.sorted { $0.prefix.utf8.lexicographicallyPrecedes($1.prefix.utf8) }
        self.children = children
    }

    /// Whether this is the element with this name in this namespace. Prefixes do not matter.
    func isNamed(_ localName: String, in namespace: String) -> Bool {
        self.localName.hasSameUTF8(as: localName) && self.namespace.hasSameUTF8(as: namespace)
    }

    /// The child elements with this name, in order.
    func elements(_ localName: String, in namespace: String) -> [MarkupElement] {
        children.compactMap { child in
            guard case .element(let element) = child, element.isNamed(localName, in: namespace) else { return nil }
            return element
        }
    }

    /// The value of an attribute without a prefix; nil if the element does not have it.
    func attribute(_ name: String) -> String? {
        attributes.first { $0.name.hasSameUTF8(as: name) }?.value
    }

    /// Sets an attribute, or removes it with nil.
    mutating func setAttribute(_ name: String, to value: String?) {
        attributes.removeAll { $0.name.hasSameUTF8(as: name) }
        guard let value else { return }
        let place = attributes.firstIndex { name.utf8.lexicographicallyPrecedes($0.name.utf8) } ?? attributes.endIndex
        attributes.insert(MarkupAttribute(name: name, value: value), at: place)
    }

    mutating func declare(_ declaration: NamespaceDeclaration) {
        let place = declarations.firstIndex { declaration.prefix.utf8.lexicographicallyPrecedes($0.prefix.utf8) }
        declarations.insert(declaration, at: place ?? declarations.endIndex)
    }

    /// Changes the child elements with this name in place.
    mutating func update<Failure: Error>(
        _ localName: String, in namespace: String, _ change: (inout MarkupElement) throws(Failure) -> Void
    ) throws(Failure) {
        for index in children.indices {
            guard case .element(var element) = children[index], element.isNamed(localName, in: namespace) else {
                continue
            }
            try change(&element)
            children[index] = .element(element)
        }
    }

    mutating func remove(_ localName: String, in namespace: String) {
        children.removeAll { child in
            guard case .element(let element) = child else { return false }
            return element.isNamed(localName, in: namespace)
        }
    }

    /// The text of this element and of all elements inside it.
    var text: String {
        children.reduce(into: "") { text, child in
            switch child {
            case .element(let element): text += element.text
            case .text(let part): text += part
            case .key: break
            }
        }
    }

    /// Calls `body` with this element and all elements inside it. The recursion is bounded, because elements nest at
    /// most 16 deep.
    func forEachElement(_ body: (MarkupElement) -> Void) {
        body(self)
        for case .element(let element) in children { element.forEachElement(body) }
    }
}

/// A part of an element's content.
indirect enum MarkupNode: Equatable, Sendable {
    case element(MarkupElement)
    case text(String)
    /// The place for the Base64 of the content key with this id. The key is filled in last, when the document is
    /// written.
    case key(KeyID)
}

/// An attribute. Its name is as it was written and includes the prefix. Attributes with a prefix are not interpreted.
struct MarkupAttribute: Equatable, Sendable {
    let name: String
    let value: String
}

/// `xmlns:prefix="uri"`, or `xmlns="uri"` with an empty prefix.
struct NamespaceDeclaration: Equatable, Sendable {
    let prefix: String
    let uri: String
}
