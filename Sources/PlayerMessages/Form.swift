import ByteCoding

/// A form with an SPC, in each of the encodings that players use (clients, section 0, fact 5).
///
/// The value is Base64 with either alphabet, percent-encoded or not. A plus stays a plus, and a blank becomes one
/// again. Some players escape the whole body (`spc%3D…`). A part without a name is the asset id, as
/// react-native-video sends it.
struct Form {
    private let parts: [Part]

    private struct Part {
        let name: [UInt8]?
        /// As it was sent.
        let value: ArraySlice<UInt8>
    }

    /// The most parts that are looked at: players send two or three.
    private static let partCountMaximum = 64

    /// Nil if a text is no form: if no part of it is named as the values of this server's forms are.
    init?(_ text: ArraySlice<UInt8>) {
        let plain = Self.isEscapedWhole(text) ? PercentEncoding.decodeLeniently(Array(text))[...] : text
        let parts = Self.parts(of: plain)
        guard parts.contains(where: { $0.name.map(Self.isKnown) ?? false }) else { return nil }
        self.parts = parts
    }

    func request() throws(PlayerMessageError) -> PlayerRequest {
        let spcs = parts.filter { Self.isNamed($0, Self.spcNames) }
        guard let only = spcs.first else { throw .formWithoutSPC }
        guard spcs.count == 1 else { throw .ambiguous }
        let value = PercentEncoding.decodeLeniently(Array(only.value))
        guard !value.isEmpty else { throw .formWithoutSPC }
        let spc = try PlayerMessageReader.spc(fromBase64: value[...], blank: .plus)
        return PlayerRequest(
            shape: .form, keys: [RequestedKey(spc: spc)], assetHint: assetHint, token: try token(),
            hasUnnamedPart: parts.contains { $0.name == nil })
    }

    private var assetHint: String? {
        let part = parts.first { Self.isNamed($0, Self.assetNames) } ?? parts.first { $0.name == nil }
        return part.map { Self.string($0.value) }
    }

    private func token() throws(PlayerMessageError) -> String? {
        let tokens = parts.filter { Self.isNamed($0, ["token"]) }
        guard tokens.count <= 1 else { throw .ambiguousToken }
        return tokens.first.map { Self.string($0.value) }
    }

    private static let spcNames = ["spc", "SPC", "spcMessage", "SpcMessage"]
    private static let assetNames = ["assetId", "contentId", "KID", "videoId"]

    private static let knownNames = spcNames + assetNames

    private static func isKnown(_ name: [UInt8]) -> Bool {
        knownNames.contains { $0.utf8.elementsEqual(name) }
    }

    private static func isNamed(_ part: Part, _ names: [String]) -> Bool {
        guard let name = part.name else { return false }
        return names.contains { $0.utf8.elementsEqual(name) }
    }

    private static func parts(of text: ArraySlice<UInt8>) -> [Part] {
        text.split(separator: UInt8(ascii: "&"), maxSplits: partCountMaximum).map { part in
            guard let equals = part.firstIndex(of: UInt8(ascii: "=")), isName(part[..<equals]) else {
                return Part(name: nil, value: part)
            }
            return Part(
                name: PercentEncoding.decodeLeniently(Array(part[..<equals])), value: part[(equals + 1)...])
        }
    }

    /// The `=` of a part without a name may be the padding of Base64: then the text before it is longer than any name.
    private static func isName(_ text: ArraySlice<UInt8>) -> Bool { !text.isEmpty && text.count <= 40 }

    /// Whether the text begins with an escaped `spc=`.
    private static func isEscapedWhole(_ text: ArraySlice<UInt8>) -> Bool {
        escapedStarts.contains { text.starts(with: $0) }
    }

    private static let escapedStarts = spcNames.flatMap { [Array("\($0)%3D".utf8), Array("\($0)%3d".utf8)] }

    private static func string(_ value: ArraySlice<UInt8>) -> String {
        String(decoding: PercentEncoding.decodeLeniently(Array(value)), as: UTF8.self)
    }
}
