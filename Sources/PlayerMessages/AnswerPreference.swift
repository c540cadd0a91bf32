import ByteCoding

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
        guard !canPreferNothing(over: mirror) else { return mirror }
        let ranges = accepted.flatMap { MediaRange.list($0) }
        var best = (shape: mirror, weight: MediaRange.weight(of: mirror.mediaType, in: ranges))
        // NAGRA's players send a raw SPC and accept only JSON.
        for shape in [request == .raw ? .nagra : .object(.spc), AnswerShape.raw] {
            let weight = MediaRange.weight(of: shape.mediaType, in: ranges)
            if weight > best.weight { best = (shape, weight) }
        }
        return best.shape
    }

    /// Whether the field is absent, accepts everything alike, or names only this shape's type, as most players send it.
    /// No other shape can then be preferred, and the ranges need not be read.
    private func canPreferNothing(over shape: AnswerShape) -> Bool {
        switch accepted.count {
        case 0: true
        case 1: accepted[0] == "*/*" || accepted[0].hasSameUTF8(as: shape.mediaType)
        default: false
        }
    }
}

/// One range of the field `Accept`, and its weight (RFC 9110 section 12.5.1).
private struct MediaRange {
    /// A type, `type/*` or `*/*`, in lower case and without parameters.
    private let types: ArraySlice<UInt8>
    /// The weight in thousandths. 0 excludes the types.
    private let weight: Int

    /// Reads the ranges of a field's value. A range whose weight cannot be read is ignored.
    static func list(_ value: String) -> [MediaRange] {
        var text: [UInt8] = []
        text.reserveCapacity(value.utf8.count)
        for byte in value.utf8 where byte != UInt8(ascii: " ") && byte != UInt8(ascii: "\t") {
            text.append((UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte)
        }
        return text.split(separator: UInt8(ascii: ",")).compactMap { MediaRange($0) }
    }

    /// Returns nil for a range whose weight cannot be read. `text` is in lower case and has no white space.
    private init?(_ text: ArraySlice<UInt8>) {
        let parts = text.split(separator: UInt8(ascii: ";"), omittingEmptySubsequences: false)
        var weight: Int? = 1000
        for parameter in parts.dropFirst() where parameter.starts(with: "q=".utf8) {
            weight = Self.thousandths(parameter.dropFirst(2))
        }
        guard let types = parts.first, let weight else { return nil }
        (self.types, self.weight) = (types, weight)
    }

    /// The weight of a type: the weight of the most specific range that matches it, or 0 if no range does.
    static func weight(of type: String, in ranges: [MediaRange]) -> Int {
        let type = Array(type.utf8)
        let family = type.prefix { $0 != UInt8(ascii: "/") } + Array("/*".utf8)
        for name in [type[...], family[...], Array("*/*".utf8)[...]] {
            let weights = ranges.lazy.filter { $0.types == name }.map(\.weight)
            if let weight = weights.max() { return weight }
        }
        return 0
    }

    /// Reads a weight from 0 to 1 with at most three digits after the point; nil for any other text.
    private static func thousandths(_ text: ArraySlice<UInt8>) -> Int? {
        let parts = text.split(separator: UInt8(ascii: "."), maxSplits: 1, omittingEmptySubsequences: false)
        let digits = parts.count == 2 ? parts[1] : []
        guard parts[0].elementsEqual("0".utf8) || parts[0].elementsEqual("1".utf8), digits.count <= 3,
            digits.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) })
        else { return nil }
        var weight = Int(parts[0][parts[0].startIndex] - UInt8(ascii: "0"))
        for place in 0..<3 {
            weight = weight * 10 + (place < digits.count ? Int(digits[digits.startIndex + place] - 0x30) : 0)
        }
        return weight <= 1000 ? weight : nil
    }
}
