/// What is known of the wanted shape of an answer before the body of the request is read.
package struct AnswerPreference: Equatable, Sendable {
    /// The shape that the query names, or else the one that the address is configured for.
    package var explicit: AnswerShape?
    /// The values of the field `Accept`; empty at an address where they say something else.
    package var accepted: [String]

    package init(explicit: AnswerShape? = nil, accepted: [String] = []) {
        self.explicit = explicit
        self.accepted = accepted
    }

    /// The shape of the answer to a request (clients, section 2): what is explicit, then what the sender accepts, then
    /// the mirror of the request.
    ///
    /// A request with a name for each key is always mirrored: no other shape has a place for each result. The mirror of
    /// a form is bare Base64 if a part of it has no name, because react-native-video up to 6.4 sends such forms.
    package func shape(for request: RequestShape, hasUnnamedPart: Bool = false) -> AnswerShape {
        let mirror = hasUnnamedPart ? .base64 : AnswerShape(mirroring: request)
        if mirror.hasResultForEachKey { return mirror }
        return explicit ?? acceptable(insteadOf: mirror, for: request)
    }

    /// The shape of the answer to a request that was read.
    package func shape(for request: PlayerRequest) -> AnswerShape {
        shape(for: request.shape, hasUnnamedPart: request.hasUnnamedPart)
    }

    /// The mirror, unless the field `Accept` gives another type a larger weight (RFC 9110 section 12.5.1). Browsers
    /// accept `*/*`, which says nothing. A sender that accepts no type of ours gets the mirror too.
    private func acceptable(insteadOf mirror: AnswerShape, for request: RequestShape) -> AnswerShape {
        guard !accepted.isEmpty, accepted != ["*/*"] else { return mirror }
        let ranges = accepted.flatMap { $0.split(separator: ",") }.compactMap { MediaRange($0) }
        var best = (shape: mirror, weight: MediaRange.weight(of: mirror.mediaType, in: ranges))
        // NAGRA's players send a raw SPC and accept JSON alone.
        for shape in [request == .raw ? .nagra : .object(.spc), AnswerShape.raw] {
            let weight = MediaRange.weight(of: shape.mediaType, in: ranges)
            if weight > best.weight { best = (shape, weight) }
        }
        return best.shape
    }
}

/// One range of the field `Accept`, and its weight (RFC 9110 section 12.5.1).
private struct MediaRange {
    /// A type, `type/*` or `*/*`, in lower case and without parameters.
    private let types: String
    /// In thousandths. 0 excludes the types.
    private let weight: Int

    /// Nil for a range whose weight is not readable: it says nothing.
    init?(_ text: Substring) {
        let parts = text.split(separator: ";", omittingEmptySubsequences: false).map(Self.word)
        var weight: Int? = 1000
        for parameter in parts.dropFirst() where parameter.hasPrefix("q=") {
            weight = Self.thousandths(parameter.dropFirst(2))
        }
        guard let types = parts.first, let weight else { return nil }
        (self.types, self.weight) = (types, weight)
    }

    /// The weight of a type: that of the range that names it most closely, and 0 if none does.
    static func weight(of type: String, in ranges: [MediaRange]) -> Int {
        let family = type.prefix { $0 != "/" } + "/*"
        for name in [type, String(family), "*/*"] {
            let weights = ranges.lazy.filter { $0.types == name }.map(\.weight)
            if let weight = weights.max() { return weight }
        }
        return 0
    }

    private static func word(_ text: Substring) -> String {
        text.filter { $0 != " " && $0 != "\t" }.lowercased()
    }

    /// Reads a weight from 0 to 1 with at most three digits after the point; nil for any other text.
    private static func thousandths(_ text: Substring) -> Int? {
        let parts = text.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        let digits = parts.count == 2 ? parts[1] : ""
        guard ["0", "1"].contains(parts[0]), digits.utf8.count <= 3,
            digits.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }),
            let weight = Int(parts[0] + digits + String(repeating: "0", count: 3 - digits.utf8.count)), weight <= 1000
        else { return nil }
        return weight
    }
}
