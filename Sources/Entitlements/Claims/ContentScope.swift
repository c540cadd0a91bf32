/// The contents that the tokens of an issuer or a customer may open, in addition to the limits of each token.
///
/// The contents are given as content IDs and as prefixes of content IDs. Texts are compared byte for byte.
package struct ContentScope: Equatable, Sendable {
    private let ids: Set<[UInt8]>
    private let prefixes: [[UInt8]]

    package init(ids: [String], prefixes: [String]) {
        self.ids = Set(ids.map { Array($0.utf8) })
        self.prefixes = prefixes.map { Array($0.utf8) }
    }

    /// Reads elements as the configuration writes them: an ID, or a prefix with an asterisk after it.
    package init(_ elements: [String]) {
        self.init(
            ids: elements.filter { !$0.hasSuffix("*") },
            prefixes: elements.filter { $0.hasSuffix("*") }.map { String($0.dropLast()) })
    }

    /// The elements as the configuration writes them: first the sorted IDs, then the sorted prefixes.
    package var texts: [String] {
        ids.map { String(decoding: $0, as: UTF8.self) }.sorted()
            + prefixes.map { String(decoding: $0, as: UTF8.self) + "*" }.sorted()
    }

    package func covers(_ contentID: String) -> Bool {
        let bytes = Array(contentID.utf8)
        return ids.contains(bytes) || prefixes.contains { bytes.starts(with: $0) }
    }

    /// Whether a right can cover a content of the scope. The contents of key IDs are not known here, so rights with key
    /// IDs always can.
    func meets(_ selector: Right.Selector) -> Bool {
        switch selector {
        case .content(let name): return covers(name)
        case .keyIDs, .anything: return true
        case .contentPrefix(let text):
            let prefix = Array(text.utf8)
            return ids.contains { $0.starts(with: prefix) }
                || prefixes.contains { $0.starts(with: prefix) || prefix.starts(with: $0) }
        }
    }
}
