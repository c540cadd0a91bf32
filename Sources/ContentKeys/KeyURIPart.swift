import ByteCoding

/// A field of key URIs, which stands in braces in a template (`SKDTemplate`) and in a form of asset ids (`AssetForm`).
enum KeyURIField: String, Hashable, Sendable {
    case contentID = "contentId"
    case kid
    case kidHex
    /// The Base64 of the key id without percent-encoding, as Shaka Packager writes it.
    case kidBase64
    case iv
    case period
    case track
    case authority
    /// The Base64 of a JSON object with content id, key id and IV, the form of AWS MediaPackage.
    case json

    /// `{content}` is another spelling of `{contentId}`.
    init?(named name: Substring) {
        guard let field = name == "content" ? .contentID : Self(rawValue: String(name)) else { return nil }
        self = field
    }

    var namesKey: Bool {
        switch self {
        case .kid, .kidHex, .kidBase64, .json: true
        case .contentID, .iv, .period, .track, .authority: false
        }
    }
}

/// A part of a template or of a form.
enum KeyURIPart: Hashable, Sendable {
    case text(String)
    case field(KeyURIField)
    /// An asterisk in a form: one or more characters but `/`, `?`, `&` and `#`.
    case anything

    /// Splits a text into its parts. An asterisk is `anything` only if `hasWildcards` is true.
    ///
    /// Throws `unknownField` for braces with an unknown name or without a name. Throws `invalidCharacter` for
    /// characters that a quoted string of a playlist cannot contain.
    static func parse(_ text: String, hasWildcards: Bool = false) throws(SKDTemplateError) -> [KeyURIPart] {
        var parts: [KeyURIPart] = []
        var rest = text[...]
        while let opening = rest.firstIndex(of: "{") {
            if opening > rest.startIndex { parts.append(.text(String(rest[..<opening]))) }
            let name = rest[opening...].dropFirst().prefix { $0 != "}" }
            guard name.endIndex < rest.endIndex, let field = KeyURIField(named: name) else { throw .unknownField }
            parts.append(.field(field))
            rest = rest[name.endIndex...].dropFirst()
        }
        if !rest.isEmpty { parts.append(.text(String(rest))) }
        for case .text(let text) in parts {
            guard text.utf8.allSatisfy(Self.isAllowed), !text.contains("}") else { throw .invalidCharacter }
        }
        return hasWildcards ? parts.flatMap(\.withWildcards) : parts
    }

    private var withWildcards: [KeyURIPart] {
        guard case .text(let text) = self else { return [self] }
        let pieces = text.split(separator: "*", omittingEmptySubsequences: false).map { KeyURIPart.text(String($0)) }
        return Array(pieces.map { [$0] }.joined(separator: [.anything])).filter { $0 != .text("") }
    }

    /// Whether the byte is printable ASCII, but not a space or a quotation mark (RFC 8216, section 4.2).
    private static func isAllowed(_ byte: UInt8) -> Bool {
        (0x21...0x7E).contains(byte) && byte != UInt8(ascii: "\"")
    }
}

/// Text with fields that is read from both ends, so that each field has one possible value.
///
/// A field ends at the character after it, which must not be a character of the field. From the right, the same holds
/// for the character before it. Key ids and IVs of a fixed size need no such character. Reading costs one pass.
struct KeyURIPattern: Hashable, Sendable {
    /// Whether values are as a template writes them: percent-encoded, and the key id as a UUID. Otherwise they may have
    /// any character that does not separate parts of a URI, and the key id may have any spelling.
    let isExact: Bool
    private let parts: [Part]
    /// The parts before this one are read from the left.
    private let leftEnd: Int
    /// The parts from this one on are read from the right.
    private let rightStart: Int

    /// A part with its text as bytes in lower case.
    fileprivate enum Part: Hashable, Sendable {
        case text([UInt8])
        case field(KeyURIField)
        case anything
    }

    init(_ parts: [KeyURIPart], isExact: Bool) {
        self.isExact = isExact
        self.parts = parts.map { part in
            switch part {
            case .text(let text): .text(text.utf8.map(ASCII.lowercased))
            case .field(let field): .field(field)
            case .anything: .anything
            }
        }
        let parts = self.parts
        var left = 0
        while left < parts.count {
            let next = left + 1 < parts.count ? parts[left + 1].firstByte : nil
            let isLast = left + 1 == parts.count
            guard isLast || Self.ends(parts[left], at: next, isExact) else { break }
            left += 1
        }
        var right = parts.count
        while right > left {
            let before = right >= 2 ? parts[right - 2].lastByte : nil
            guard right - 1 == left || Self.ends(parts[right - 1], at: before, isExact) else { break }
            right -= 1
        }
        leftEnd = left
        rightStart = right
    }

    /// Whether a part ends at a byte of its neighbour.
    private static func ends(_ part: Part, at byte: UInt8?, _ isExact: Bool) -> Bool {
        if case .text = part { return true }
        if part.size(isExact) != nil { return true }
        return byte.map { !part.contains($0, isExact) } ?? false
    }

    /// The fields that cannot be read, because they run into one another.
    var unreadFields: [KeyURIField] {
        parts[leftEnd..<rightStart].compactMap { if case .field(let field) = $0 { field } else { nil } }
    }

    /// Whether some part cannot be read.
    var isOpen: Bool { leftEnd < rightStart }

    /// Returns the values of the fields that can be read; nil if the text does not have this form.
    func values(in text: ArraySlice<UInt8>) -> [(field: KeyURIField, value: ArraySlice<UInt8>)]? {
        var rest = text
        var values: [(KeyURIField, ArraySlice<UInt8>)] = []
        for index in parts[..<leftEnd].indices {
            let part = parts[index]
            let size =
                index + 1 == parts.count
                ? rest.count : part.size(isExact) ?? rest.prefix { part.contains($0, isExact) }.count
            guard let value = part.take(rest.prefix(size), isExact) else { return nil }
            rest = rest.dropFirst(size)
            if case .field(let field) = part { values.append((field, value)) }
        }
        for index in parts[rightStart...].indices.reversed() {
            let part = parts[index]
            let size =
                index == leftEnd
                ? rest.count : part.size(isExact) ?? rest.reversed().prefix { part.contains($0, isExact) }.count
            guard let value = part.take(rest.suffix(size), isExact) else { return nil }
            rest = rest.dropLast(size)
            if case .field(let field) = part { values.append((field, value)) }
        }
        return rest.isEmpty || isOpen ? values : nil
    }
}

extension KeyURIPattern.Part {
    fileprivate var firstByte: UInt8? { if case .text(let text) = self { text.first } else { nil } }
    fileprivate var lastByte: UInt8? { if case .text(let text) = self { text.last } else { nil } }

    /// The size of the part, if all values have the same one.
    fileprivate func size(_ isExact: Bool) -> Int? {
        switch self {
        case .text(let text): text.count
        case .field(.kid): isExact ? 36 : nil
        case .field(.kidHex), .field(.iv): 32
        case .field(.kidBase64): 24
        case .field, .anything: nil
        }
    }

    /// Returns the bytes if they fit the part; otherwise nil.
    fileprivate func take(_ bytes: ArraySlice<UInt8>, _ isExact: Bool) -> ArraySlice<UInt8>? {
        if case .text(let text) = self { return text.elementsEqual(bytes.lazy.map(ASCII.lowercased)) ? bytes : nil }
        if let size = size(isExact), bytes.count != size { return nil }
        return !bytes.isEmpty && bytes.allSatisfy { contains($0, isExact) } ? bytes : nil
    }

    /// Whether a value of the part may have the byte.
    fileprivate func contains(_ byte: UInt8, _ isExact: Bool) -> Bool {
        switch self {
        case .text: false
        case .field(.period): (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
        case .field(.kidBase64), .field(.json): ASCII.isAlphanumeric(byte) || ASCII.has("+/=-_", byte)
        case .field(.authority), .anything: (0x21...0x7E).contains(byte) && !ASCII.has("/?&#", byte)
        case .field(.kid) where !isExact: (0x21...0x7E).contains(byte) && !ASCII.has("/?&#:;,", byte)
        case .field:
            isExact
                ? ASCII.isAlphanumeric(byte) || ASCII.has("-._~%", byte)
                : (0x21...0x7E).contains(byte) && !ASCII.has("/?&#:;,=", byte)
        }
    }
}

/// Characters of names, which are compared without case.
enum ASCII {
    static func lowercased(_ byte: UInt8) -> UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
    }

    static func isAlphanumeric(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
            || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(lowercased(byte))
    }

    static func has(_ characters: StaticString, _ byte: UInt8) -> Bool {
        characters.withUTF8Buffer { unsafe $0.contains(byte) }
    }

    static func equal(_ first: some Sequence<UInt8>, _ second: some Sequence<UInt8>) -> Bool {
        first.lazy.map(lowercased).elementsEqual(second.lazy.map(lowercased))
    }
}
