import ByteCoding

/// A form with an SPC, in each of the encodings that players use (clients, section 0, fact 5).
///
/// The value is Base64 in either alphabet, percent-encoded or not. A plus stays a plus, and a space is read as a plus.
/// Some players escape the whole body (`spc%3D…`). A part without a name is the asset id, as react-native-video sends
/// it.
struct Form {
    private let parts: [Part]

    private struct Part {
        let name: Name
        /// The value as it was sent, not decoded.
        let value: ArraySlice<UInt8>
    }

    /// What a part holds, as its name says.
    private enum Name: Equatable {
        case spc
        case asset
        case token
        /// The part has no name.
        case none
        case unknown
    }

    /// How many parts are read separately. Players send two or three.
    private static let partCountMaximum = 64

    /// Returns nil if the text is not a form: if no part has the name of an SPC or an asset.
    init?(_ text: ArraySlice<UInt8>) {
        let plain = Self.isEscapedWhole(text) ? PercentEncoding.decodeLeniently(Array(text))[...] : text
        parts = Self.parts(of: plain)
        guard parts.contains(where: { $0.name == .spc || $0.name == .asset }) else { return nil }
    }

    func request() throws(PlayerMessageError) -> PlayerRequest {
        guard let first = parts.firstIndex(where: { $0.name == .spc }) else { throw .formWithoutSPC }
        guard !parts[(first + 1)...].contains(where: { $0.name == .spc }) else { throw .ambiguous }
        let value = parts[first].value
        guard !value.isEmpty else { throw .formWithoutSPC }
        let spc = try PlayerMessageReader.spc(fromBase64: value.span, blank: .plus, escapes: true)
        return PlayerRequest(
            shape: .form, keys: [RequestedKey(spc: spc, assetHint: assetHint)], token: try token(),
            hasUnnamedPart: parts.contains { $0.name == .none })
    }

    private var assetHint: String? {
        let part = parts.first { $0.name == .asset } ?? parts.first { $0.name == .none }
        return part.map { Self.string($0.value) }
    }

    private func token() throws(PlayerMessageError) -> String? {
        let tokens = parts.lazy.filter { $0.name == .token }
        guard let token = tokens.first else { return nil }
        guard tokens.count == 1 else { throw .ambiguousToken }
        return Self.string(token.value)
    }

    // MARK: Parts and names

    private static let knownNames: [(text: [UInt8], name: Name)] =
        ["spc", "SPC", "spcMessage", "SpcMessage"].map { (Array($0.utf8), .spc) }
        + ["assetId", "contentId", "KID", "videoId"].map { (Array($0.utf8), .asset) } + [(Array("token".utf8), .token)]

    private static func parts(of text: ArraySlice<UInt8>) -> [Part] {
        var parts: [Part] = []
        var rest = text
        while parts.count < partCountMaximum, let size = rest.span.firstIndex(of: UInt8(ascii: "&")) {
            if size > 0 { parts.append(part(rest.prefix(size))) }
            rest = rest.dropFirst(size + 1)
        }
        if !rest.isEmpty { parts.append(part(rest)) }
        return parts
    }

    /// Reads a part. In a part without a name, `=` may be the padding of Base64. Then it stands farther from the start
    /// than in any part with a name.
    private static func part(_ text: ArraySlice<UInt8>) -> Part {
        guard let equals = text.prefix(nameSizeMaximum + 1).firstIndex(of: UInt8(ascii: "=")),
            equals > text.startIndex
        else { return Part(name: .none, value: text) }
        return Part(name: name(decoded(text[..<equals])), value: text[(equals + 1)...])
    }

    /// The longest text before a `=` that counts as a name, in bytes.
    private static let nameSizeMaximum = 40

    private static func name(_ text: ArraySlice<UInt8>) -> Name {
        for known in knownNames where known.text.count == text.count && text.elementsEqual(known.text) {
            return known.name
        }
        return .unknown
    }

    /// Decodes percent escapes. Most values have none, and are not copied.
    private static func decoded(_ value: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        guard value.contains(UInt8(ascii: "%")) else { return value }
        return PercentEncoding.decodeLeniently(Array(value))[...]
    }

    /// Whether the text begins with an escaped `spc=`.
    private static func isEscapedWhole(_ text: ArraySlice<UInt8>) -> Bool {
        guard let sign = text.prefix(nameSizeMaximum).firstIndex(of: UInt8(ascii: "%")), text.endIndex - sign >= 3,
            text[sign + 1] == UInt8(ascii: "3"), text[sign + 2] | 0x20 == UInt8(ascii: "d")
        else { return false }
        return name(text[..<sign]) == .spc
    }

    private static func string(_ value: ArraySlice<UInt8>) -> String {
        String(decoding: decoded(value), as: UTF8.self)
    }
}
