/// The preferred shape of an answer, as far as it is known before the body of the request is read.
package struct AnswerPreference: Equatable, Sendable {
    /// The shape that the query names, or else the shape that is configured for the path; nil if neither says it.
    package var explicit: AnswerShape?
    /// The values of the field `Accept`; empty for a path that ignores this field.
    package var accepted: [String]

    package init(explicit: AnswerShape? = nil, accepted: [String] = []) {
        self.explicit = explicit
        self.accepted = accepted
    }

    /// The shape of the answer to a request (clients, section 2): the explicit shape, else the one that the sender
    /// accepts, else the mirror of the request's shape.
    ///
    /// A request with a name for each key is always mirrored, because no other shape has a place for each result. The
    /// mirror of a form is bare Base64 if a part of the form has no name, because react-native-video up to 6.4 sends
    /// such forms.
    package func shape(for request: RequestShape, hasUnnamedPart: Bool = false) -> AnswerShape {
        let mirror = hasUnnamedPart ? .base64 : AnswerShape(mirroring: request)
        if mirror.hasResultForEachKey { return mirror }
        return explicit ?? acceptable(insteadOf: mirror, for: request)
    }

    /// The shape of the answer to a request that was read.
    package func shape(for request: PlayerRequest) -> AnswerShape {
        shape(for: request.shape, hasUnnamedPart: request.hasUnnamedPart)
    }

    /// The mirror, unless the field `Accept` gives another type a larger weight (RFC 9110 section 12.5.1).
    ///
    /// Browsers accept `*/*`, which says nothing. A sender that accepts none of the available types gets the mirror
    /// too.
    private func acceptable(insteadOf mirror: AnswerShape, for request: RequestShape) -> AnswerShape {
        guard !accepted.isEmpty, accepted != ["*/*"] else { return mirror }
        let ranges = accepted.flatMap { $0.split(separator: ",") }.compactMap { MediaRange($0) }
        var best = (shape: mirror, weight: MediaRange.weight(of: mirror.mediaType, in: ranges))
        // NAGRA's players send a raw SPC and accept only JSON.
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
    /// The weight in thousandths. 0 excludes the types.
    private let weight: Int

    /// Returns nil for a range whose weight cannot be parsed. Such a range is ignored.
    init?(_ text: Substring) {
        let parts = text.split(separator: ";", omittingEmptySubsequences: false).map(Self.word)
        var weight: Int? = 1000
        for parameter in parts.dropFirst() where parameter.hasPrefix("q=") {
            weight = Self.thousandths(parameter.dropFirst(2))
        }
        guard let types = parts.first, let weight else { return nil }
        (self.types, self.weight) = (types, weight)
    }

    /// The weight of a type: the weight of the most specific range that matches it, or 0 if no range does.
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
