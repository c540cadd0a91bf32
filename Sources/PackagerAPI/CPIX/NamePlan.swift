import ByteCoding

/// The namespace prefixes of the elements that an answer adds to a request's document.
///
/// A prefix of the request is used if the root declares it and no other element declares it differently. Otherwise the
/// root gets a declaration with a prefix that the document does not use. So a prefix has the same meaning on every
/// element.
struct NamePlan {
    private var prefixes: [String: String] = [:]

    /// Chooses the prefixes, and adds the missing declarations to the root.
    init(for namespaces: [Name], in root: inout MarkupElement) {
        var meanings: [String: Set<String>] = [:]
        root.forEachElement { element in
            for declaration in element.declarations {
                meanings[declaration.prefix, default: []].insert(declaration.uri)
            }
        }
        for name in namespaces {
            let usable = root.declarations.first { declaration in
                declaration.uri.hasSameUTF8(as: name.namespace) && meanings[declaration.prefix]?.count == 1
                    && !(declaration.prefix.isEmpty && name.needsPrefix)
            }
            if let usable {
                prefixes[name.namespace] = usable.prefix
                continue
            }
            let suffixes = [""] + (1...meanings.count + 1).map { String($0) }
            let candidates = suffixes.map { name.prefix + $0 }
            // One candidate is always free: there are more of them than prefixes in the document.
            guard let free = candidates.first(where: { meanings[$0] == nil }) else { continue }
            meanings[free] = [name.namespace]
            prefixes[name.namespace] = free
            root.declare(NamespaceDeclaration(prefix: free, uri: name.namespace))
        }
    }

    /// Makes an element in one of the planned namespaces.
    func element(
        _ localName: String, in namespace: String, attributes: [MarkupAttribute] = [], _ children: [MarkupNode] = []
    ) -> MarkupElement {
        MarkupElement(
            prefix: prefixes[namespace] ?? "", localName: localName, namespace: namespace, attributes: attributes,
            children: children)
    }

    /// A namespace and the preferred prefix for it.
    struct Name {
        let namespace: String
        let prefix: String
        /// Whether the prefix must not be empty: the public suite finds keys only in elements with a prefix (packagers,
        /// section 1.7).
        var needsPrefix = false
    }
}
