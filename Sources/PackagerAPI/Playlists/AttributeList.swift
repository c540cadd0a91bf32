/// The attributes of a tag (RFC 8216, section 4.2) in the order in which they stand.
///
///     METHOD=SAMPLE-AES,URI="skd://movie-1"
///
/// A name has A to Z, 0 to 9 and "-". No name occurs twice. No space stands around a name, a sign or a value.
package struct AttributeList: Hashable, Sendable {
    package struct Attribute: Hashable, Sendable {
        package let name: String
        package let value: AttributeValue
    }

    /// 1 to `PlaylistLimits.attributeCountMaximum` of them.
    package let attributes: [Attribute]

    /// Reads the text after the colon of a tag. The bytes must be valid UTF-8.
    init(parsing text: ArraySlice<UInt8>) throws(AttributeListError) {
        var rest = text
        var attributes: [Attribute] = []
        while true {
            let attribute = try Self.attribute(&rest)
            guard attributes.count < PlaylistLimits.attributeCountMaximum else { throw .tooMany }
            guard !attributes.contains(where: { $0.name == attribute.name }) else { throw .repeated(attribute.name) }
            attributes.append(attribute)
            guard let next = rest.popFirst() else { break }
            guard next == UInt8(ascii: ",") else { throw .textBehindValue(attribute.name) }
        }
        self.attributes = attributes
    }

    package subscript(name: String) -> AttributeValue? {
        attributes.first { $0.name == name }?.value
    }

    private static func attribute(_ rest: inout ArraySlice<UInt8>) throws(AttributeListError) -> Attribute {
        let name = rest.prefix(while: isNameByte)
        guard !name.isEmpty else { throw .nameMissing }
        let text = String(decoding: name, as: UTF8.self)
        rest = rest[name.endIndex...]
        guard rest.popFirst() == UInt8(ascii: "=") else { throw .valueMissing(text) }
        return Attribute(name: text, value: try value(of: text, &rest))
    }

    private static func value(
        of name: String, _ rest: inout ArraySlice<UInt8>
    ) throws(AttributeListError) -> AttributeValue {
        let quote = UInt8(ascii: "\"")
        guard rest.first == quote else {
            let plain = rest.prefix { $0 > 0x20 && $0 != UInt8(ascii: ",") && $0 != quote }
            guard !plain.isEmpty else { throw .valueMissing(name) }
            rest = rest[plain.endIndex...]
            return .plain(String(decoding: plain, as: UTF8.self))
        }
        let inner = rest.dropFirst()
        guard let end = inner.firstIndex(of: quote) else { throw .quoteNotClosed(name) }
        rest = inner[(end + 1)...]
        return .quoted(String(decoding: inner[..<end], as: UTF8.self))
    }

    /// Whether it is a capital letter, a digit or a hyphen.
    static func isNameByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"): true
        default: false
        }
    }
}

/// The value of an attribute.
package enum AttributeValue: Hashable, Sendable {
    /// The text between the quotation marks; it may be empty.
    case quoted(String)
    /// A number, a resolution or a word: at least one character, without quotation marks, commas and spaces.
    case plain(String)

    package var text: String {
        switch self {
        case .quoted(let text), .plain(let text): text
        }
    }

    package var isQuoted: Bool {
        switch self {
        case .quoted: true
        case .plain: false
        }
    }
}

/// Why a text is not a list of attributes.
package enum AttributeListError: Error, Equatable, Sendable {
    /// There is no name: a space, a small letter or the end stands in its place.
    case nameMissing
    /// No "=" follows the name, or no value follows the "=".
    case valueMissing(String)
    case quoteNotClosed(String)
    /// A character other than a comma follows the value.
    case textBehindValue(String)
    case repeated(String)
    /// There are more than `PlaylistLimits.attributeCountMaximum` attributes.
    case tooMany
}
