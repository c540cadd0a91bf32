import ByteCoding

/// The parameters of a token request, from the query and from the body (`application/x-www-form-urlencoded`).
///
/// Names are case-sensitive. As in ExpressPlay's service, unknown names are ignored, unless they have this server's own
/// prefix.
package struct ExpressPlayForm: Sendable {
    /// The names of the parameters: ExpressPlay's own and, with a prefix, those that this server adds.
    enum Name: String, CaseIterable, Sendable {
        case customerAuthenticator, errorFormat, generalFlags, contentKey, kek, ek, kid, iv
        case rentalDuration, fpExtension, expirationTime, cookie
        case lease = "latchkey.lease"
        case device = "latchkey.device"
        case binding = "latchkey.bind"
        case uses = "latchkey.uses"
        case hdcp = "latchkey.hdcp"
    }

    /// The prefix of the names that this server adds.
    static let ownPrefix = "latchkey."

    /// The format in which the caller wants errors.
    package enum ErrorFormat: String, Sendable, CaseIterable {
        case html
        case json
    }

    private struct Pair: Sendable {
        let name: [UInt8]
        let value: [UInt8]
        let isInURL: Bool
    }

    private let pairs: [Pair]
    /// Whether query or body has more parameters than a query may have. The form is then not complete.
    package let hasTooManyParameters: Bool

    package init(query: String?, body: [UInt8]) {
        let texts = [Array((query ?? "").utf8), body]
        let maximum = QueryPairs.countMaximum
        hasTooManyParameters = texts.contains { text in text.count { $0 == UInt8(ascii: "&") } >= maximum }
        pairs =
            hasTooManyParameters
            ? [] : Self.pairs(texts[0], areInURL: true) + Self.pairs(texts[1], areInURL: false)
    }

    private static func pairs(_ text: [UInt8], areInURL: Bool) -> [Pair] {
        text.split(separator: UInt8(ascii: "&")).map { pair in
            let parts = pair.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            return Pair(name: decode(parts[0]), value: parts.count > 1 ? decode(parts[1]) : [], isInURL: areInURL)
        }
    }

    /// Decodes a name or a value. In a form, a plus sign stands for a space.
    private static func decode(_ text: ArraySlice<UInt8>) -> [UInt8] {
        PercentEncoding.decodeLeniently(text.map { $0 == UInt8(ascii: "+") ? 0x20 : $0 })
    }

    /// The format of errors: `html`, unless the caller asks for another known format.
    package var errorFormat: ErrorFormat {
        (try? readErrorFormat()) ?? .html
    }

    package func readErrorFormat() throws(ExpressPlayCode) -> ErrorFormat {
        guard let value = try value(of: .errorFormat, else: .errorFormatInvalid) else { return .html }
        guard let format = ErrorFormat(rawValue: String(decoding: value, as: UTF8.self)) else {
            throw .errorFormatInvalid
        }
        return format
    }

    /// Throws `authenticatorMissing`, and `authenticatorInvalid` if there are two.
    package func readAuthenticator() throws(ExpressPlayCode) -> [UInt8] {
        let value = try value(of: .customerAuthenticator, else: .authenticatorInvalid)
        guard let value, !value.isEmpty else { throw .authenticatorMissing }
        return value
    }

    /// The first unknown name that has this server's own prefix; nil if the form has no such name.
    ///
    /// The name is cut before its first byte that is not a letter, a digit, a dot, a hyphen or an underscore.
    ///
    /// The caller must refuse the request: if a misspelt limit were ignored, the token would be less strict than was
    /// asked for.
    package var unknownOwnName: String? {
        let known = Set(Name.allCases.map { Array($0.rawValue.utf8) })
        let unknown = pairs.first { $0.name.starts(with: Self.ownPrefix.utf8) && !known.contains($0.name) }
        return unknown.map { String(decoding: $0.name.prefix(64).prefix(while: Self.isNameByte), as: UTF8.self) }
    }

    private static func isNameByte(_ byte: UInt8) -> Bool {
        (0x61...0x7A).contains(byte | 0x20) || (0x30...0x39).contains(byte) || "._-".utf8.contains(byte)
    }

    // MARK: Values

    /// Returns the value of a name; nil if the name is missing. Throws `code` if it has several values.
    func value(of name: Name, else code: ExpressPlayCode) throws(ExpressPlayCode) -> [UInt8]? {
        try value(of: name.rawValue, else: code)
    }

    func value(of name: String, else code: ExpressPlayCode) throws(ExpressPlayCode) -> [UInt8]? {
        let values = values(of: name)
        guard values.count <= 1 else { throw code }
        return values.first
    }

    func values(of name: String) -> [[UInt8]] {
        pairs.filter { $0.name.elementsEqual(name.utf8) }.map(\.value)
    }

    /// Whether the name is in the query. Servers and proxies write the query into their logs.
    func isInURL(_ name: Name) -> Bool {
        pairs.contains { $0.isInURL && $0.name.elementsEqual(name.rawValue.utf8) }
    }
}
