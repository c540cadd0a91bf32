import ByteCoding

/// A key of a content by its track and period, as a key URI names it.
package struct NamedTrack: Hashable, Sendable {
    package let contentID: ContentID
    /// The track, which is compared without case; nil if the URI names none.
    package let label: TrackLabel?
    package let periodIndex: UInt32?

    package init(_ contentID: ContentID, label: TrackLabel? = nil, periodIndex: UInt32? = nil) {
        self.contentID = contentID
        self.label = label
        self.periodIndex = periodIndex
    }

    /// How well a key fits, 0 first; nil if the name does not mean it. The name means the key that fits best, if no
    /// other key fits as well. Stores order by the same rule.
    ///
    /// A label means the keys with exactly this label, then those that differ in case, then a key without a label,
    /// which serves every track. Without a period, a key without one fits best.
    package func rank(of key: ContentKeyAttributes) -> Int? {
        guard key.contentID == contentID, periodIndex == nil || periodIndex == key.periodIndex else { return nil }
        let later = periodIndex == nil && key.periodIndex != nil ? 1 : 0
        guard let label else { return (key.trackLabel == nil ? 0 : 2) + later }
        guard let other = key.trackLabel else { return 4 + later }
        if other == label { return later }
        return ASCII.equal(other.text.utf8, label.text.utf8) ? 2 + later : nil
    }

    /// Returns the key that the name means. `keys` are live, and begin with the one that fits best, if any fits.
    ///
    /// Throws `contentAmbiguous` if the first two fit equally well.
    package func only<Key>(
        of keys: [Key], _ attributes: (Key) -> ContentKeyAttributes
    ) throws(StoreError) -> Key? {
        guard let first = keys.first, let rank = rank(of: attributes(first)) else { return nil }
        if keys.count > 1, self.rank(of: attributes(keys[1])) == rank { throw .contentAmbiguous(contentID) }
        return first
    }
}

/// A form of asset ids, such as `skd://*/getckc?ContentId={content}&KeyId={kid}`, which says what their parts name.
///
/// Text is compared without case. Pairs of the query may have any order, and other pairs may stand between them. An
/// asset id fits with `skd:`, `https:` or `http:` and slashes at its beginning, or without them.
package struct AssetForm: Hashable, Sendable {
    /// The largest size of a form, in bytes.
    package static let sizeMaximum = 200

    /// The form as it was given.
    package let source: String
    private let path: KeyURIPattern
    private let query: Query
    private let isExact: Bool
    private let fields: Set<KeyURIField>

    private enum Query: Hashable, Sendable {
        case none
        case pairs([Pair])
        /// A query that does not consist of pairs.
        case text(KeyURIPattern)

        struct Pair: Hashable, Sendable {
            let name: [UInt8]
            let value: KeyURIPattern
        }

        var patterns: [KeyURIPattern] {
            switch self {
            case .none: []
            case .pairs(let pairs): pairs.map(\.value)
            case .text(let pattern): [pattern]
            }
        }
    }

    /// Reads a form of the configuration. Throws the errors of a template, `namesNothing` if the form names neither a
    /// key nor a content, and `notReadable` if two parts run into one another.
    package init(parsing text: String) throws(SKDTemplateError) {
        let parts = try KeyURIPart.parse(text, hasWildcards: true)
        self.init(parts, source: text, isExact: false)
        guard text.utf8.count <= Self.sizeMaximum else { throw .tooLong(text.utf8.count) }
        guard fields.contains(where: { $0.namesKey || $0 == .contentID }) else { throw .namesNothing }
        if ([path] + query.patterns).contains(where: \.isOpen) {
            throw .notReadable(unreadFields.first?.rawValue ?? "*", instead: nil)
        }
    }

    /// The form of the URIs that a template writes.
    init(_ parts: [KeyURIPart], source: String, isExact: Bool) {
        self.source = source
        self.isExact = isExact
        fields = Set(parts.compactMap { if case .field(let field) = $0 { field } else { nil } })
        var parts = parts
        if case .text(let text)? = parts.first {
            parts[0] = .text(String(decoding: AssetText.withoutAnyScheme(Array(text.utf8)), as: UTF8.self))
        }
        let sides = Self.split(parts, at: "?", maxSplits: 1)
        path = KeyURIPattern(sides[0], isExact: isExact)
        guard sides.count > 1 else {
            query = .none
            return
        }
        let pairs = Self.split(sides[1], at: "&").map { parts -> Query.Pair? in
            guard case .text(let text)? = parts.first, let sign = text.firstIndex(of: "=") else { return nil }
            let value = [.text(String(text[sign...].dropFirst()))] + parts.dropFirst()
            let pattern = KeyURIPattern(value.filter { $0 != .text("") }, isExact: isExact)
            return Query.Pair(name: Array(text[..<sign].utf8), value: pattern)
        }
        if pairs.contains(nil) {
            query = .text(KeyURIPattern(sides[1], isExact: isExact))
        } else {
            query = .pairs(pairs.compactMap(\.self))
        }
    }

    private static func split(_ parts: [KeyURIPart], at mark: Character, maxSplits: Int = .max) -> [[KeyURIPart]] {
        var sides: [[KeyURIPart]] = [[]]
        for part in parts {
            guard case .text(let text) = part else {
                sides[sides.count - 1].append(part)
                continue
            }
            let left = maxSplits == .max ? .max : maxSplits - (sides.count - 1)
            for (index, piece) in text.split(separator: mark, maxSplits: left, omittingEmptySubsequences: false)
                .enumerated()
            {
                if index > 0 { sides.append([]) }
                if !piece.isEmpty { sides[sides.count - 1].append(.text(String(piece))) }
            }
        }
        return sides
    }

    /// The fields that cannot be read, because they run into one another.
    var unreadFields: [KeyURIField] { ([path] + query.patterns).flatMap(\.unreadFields) }

    /// What a text of this form names.
    struct Names {
        /// The explicit key id; nil if the form has none.
        var keyID: KeyID?
        /// The content whose id has the same characters as the key id.
        var keyText: ContentID?
        var content: AssetCandidate?
    }

    /// Returns what a text names, which has no scheme; nil if it does not have this form.
    func names(in text: [UInt8]) -> Names? {
        let mark = text.firstIndex(of: UInt8(ascii: "?"))
        guard var values = path.values(in: text[..<(mark ?? text.endIndex)]) else { return nil }
        let query = mark.map { text[$0...].dropFirst() }
        switch (self.query, query) {
        case (.none, nil): break
        case (.text(let pattern), let query?):
            guard let more = pattern.values(in: query) else { return nil }
            values += more
        case (.pairs(let pairs), let query?):
            let given = query.split(separator: UInt8(ascii: "&"))
            for pair in pairs {
                guard let value = Self.value(of: pair.name, in: given), let more = pair.value.values(in: value) else {
                    return nil
                }
                values += more
            }
        case (.none, _?), (_, nil): return nil
        }
        return names(of: values)
    }

    /// Returns the value of a name; nil if the name is missing, or is repeated with another value.
    private static func value(of name: [UInt8], in pairs: [ArraySlice<UInt8>]) -> ArraySlice<UInt8>? {
        var found: ArraySlice<UInt8>?
        for pair in pairs {
            let sign = pair.firstIndex(of: UInt8(ascii: "=")) ?? pair.endIndex
            guard ASCII.equal(pair[..<sign], name) else { continue }
            let value = pair[sign...].dropFirst()
            if let found, !found.elementsEqual(value) { return nil }
            found = value
        }
        return found
    }

    private func names(of values: [(field: KeyURIField, value: ArraySlice<UInt8>)]) -> Names? {
        var names = Names()
        var (contentID, label, period): (ContentID?, TrackLabel?, UInt32?)
        for (field, value) in values {
            let bytes = field == .kidBase64 || field == .json ? Array(value) : PercentEncoding.decode(Array(value))
            guard let bytes else { return nil }
            switch field {
            case .iv, .authority: continue
            case .kid, .kidHex, .kidBase64, .json:
                let keyID = field == .json ? AssetText.objectKeyID(bytes) : AssetText.keyID(bytes)
                guard let keyID, names.keyID == nil || names.keyID == keyID else { return nil }
                names.keyID = keyID
                names.keyText = try? ContentID(bytes: bytes)
            case .contentID:
                guard let found = try? ContentID(bytes: bytes), contentID == nil || contentID == found else {
                    return nil
                }
                contentID = found
            case .track:
                let text = String(decoding: bytes, as: UTF8.self)
                guard let found = try? TrackLabel(text), label == nil || label == found else { return nil }
                label = found
            case .period:
                let found = UInt32(String(decoding: bytes, as: UTF8.self))
                guard let found, period == nil || period == found else { return nil }
                period = found
            }
        }
        names.content = contentID.map { contentID in
            // A template without a track writes only the keys without one. An older service may have named any.
            isExact || label != nil || period != nil
                ? .track(NamedTrack(contentID, label: label, periodIndex: period)) : .contentID(contentID)
        }
        return names.keyID == nil && names.content == nil ? nil : names
    }
}

/// The forms of asset ids that an installation reads: its own template of key URIs, and those of older services.
package struct AssetForms: Hashable, Sendable {
    package static let none = AssetForms()
    /// How many forms a configuration may have.
    package static let countMaximum = 32

    private var forms: [AssetForm] = []

    private init() {}

    package init(template: SKDTemplate, _ older: [AssetForm] = []) {
        forms = [template.form] + older
    }

    /// Returns what a text without its scheme names by the forms that it has: the first explicit key id, and the
    /// contents in the order of the forms.
    func names(in text: [UInt8]) -> (keyID: KeyID?, keyText: ContentID?, contents: [AssetCandidate]) {
        var found: (keyID: KeyID?, keyText: ContentID?, contents: [AssetCandidate]) = (nil, nil, [])
        for form in forms {
            guard let names = form.names(in: text) else { continue }
            if found.keyID == nil { (found.keyID, found.keyText) = (names.keyID, names.keyText) }
            if let content = names.content { found.contents.append(content) }
        }
        return found
    }
}
