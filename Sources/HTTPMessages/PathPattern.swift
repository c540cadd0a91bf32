/// A pattern for the path of a URL, such as `/fps/license/{kid}` or `/*/contentlicenseservice/v1/licenses`.
///
/// A segment is a text, which is compared byte by byte, or a parameter: a name in braces, which matches one segment
/// that is not empty. An asterisk as the first segment matches one or more segments. Paths are compared without
/// decoding.
package struct PathPattern: Hashable, Sendable {
    package enum Segment: Hashable, Sendable {
        case literal(String)
        case parameter(String)
    }

    /// The most bytes that the text of a pattern may have.
    package static let sizeMaximum = 200
    /// The most bytes that the name of a parameter may have.
    package static let nameSizeMaximum = 32

    /// Whether the pattern begins with an asterisk, which is not in `segments`.
    package let hasWildcard: Bool
    package let segments: [Segment]

    /// Makes a pattern of the program itself, without checks.
    package init(hasWildcard: Bool = false, _ segments: [Segment]) {
        self.hasWildcard = hasWildcard
        self.segments = segments
    }

    /// Parses the text of a pattern; nil if it is not a pattern.
    ///
    /// A pattern begins with a slash, is not longer than `sizeMaximum`, and has a literal segment that is not empty. It
    /// has no `.` and `..`, no name twice, and no character that must be escaped in a path. Only the last segment may
    /// be empty, only the first one may be an asterisk, and braces may only be around a whole segment.
    package init?(_ text: String) {
        guard text.hasPrefix("/"), text.utf8.count <= Self.sizeMaximum else { return nil }
        var parts = text.dropFirst().split(separator: "/", omittingEmptySubsequences: false)[...]
        hasWildcard = parts.first == "*"
        if hasWildcard { parts = parts.dropFirst() }
        var segments: [Segment] = []
        for (index, part) in zip(parts.indices, parts) {
            guard let segment = Self.segment(part, isLast: index == parts.endIndex - 1) else { return nil }
            segments.append(segment)
        }
        let names = segments.compactMap(\.name)
        guard Set(names).count == names.count, segments.contains(where: \.isText) else { return nil }
        self.segments = segments
    }

    /// The names of the parameters, in their order.
    package var names: [String] { segments.compactMap(\.name) }

    /// Returns the values of the parameters in a path, in their order; nil if the path does not match.
    package func values(in path: String) -> [Substring]? {
        var rest = path[...]
        var values: [Substring] = []
        // The segments are compared from the end, because an asterisk at the beginning matches any number of them.
        for segment in segments.reversed() {
            guard let slash = rest.utf8.lastIndex(of: UInt8(ascii: "/")) else { return nil }
            let value = rest[rest.utf8.index(after: slash)...]
            switch segment {
            case .literal(let text): guard value.utf8.elementsEqual(text.utf8) else { return nil }
            case .parameter:
                guard !value.isEmpty else { return nil }
                values.append(value)
            }
            rest = rest[..<slash]
        }
        let isComplete = hasWildcard ? rest.utf8.count > 1 && rest.hasPrefix("/") && !rest.hasSuffix("/") : rest.isEmpty
        guard isComplete else { return nil }
        values.reverse()
        return values
    }

    /// Whether a path matches the pattern.
    package func fits(_ path: String) -> Bool { values(in: path) != nil }

    /// Whether a path can match both patterns.
    package func overlaps(_ other: PathPattern) -> Bool {
        let (short, long) = segments.count <= other.segments.count ? (self, other) : (other, self)
        let isAligned = zip(short.segments.reversed(), long.segments.reversed()).allSatisfy { $0.overlaps($1) }
        guard isAligned else { return false }
        if short.segments.count == long.segments.count { return hasWildcard == other.hasWildcard }
        return short.hasWildcard
    }

    private static func segment(_ part: Substring, isLast: Bool) -> Segment? {
        if part.hasPrefix("{") {
            guard part.hasSuffix("}") else { return nil }
            let name = part.dropFirst().dropLast()
            let isName =
                (1...nameSizeMaximum).contains(name.utf8.count) && name.utf8.allSatisfy { isLetter($0) }
            return isName ? .parameter(String(name)) : nil
        }
        guard !part.isEmpty || isLast, part != ".", part != "..", part.utf8.allSatisfy(isPlain) else { return nil }
        return .literal(String(part))
    }

    private static func isLetter(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        byte > 0x20 && byte < 0x7F && !#""<>\^`{|}?#%*"#.utf8.contains(byte)
    }
}

extension PathPattern: CustomStringConvertible {
    /// The text of the pattern, as the configuration writes it.
    package var description: String {
        let texts = segments.map { segment in
            switch segment {
            case .literal(let text): text
            case .parameter(let name): "{\(name)}"
            }
        }
        return (hasWildcard ? "/*/" : "/") + texts.joined(separator: "/")
    }
}

extension PathPattern.Segment {
    fileprivate var name: String? {
        switch self {
        case .literal: nil
        case .parameter(let name): name
        }
    }

    /// Whether the segment is a text that is not empty.
    fileprivate var isText: Bool {
        switch self {
        case .literal(let text): !text.isEmpty
        case .parameter: false
        }
    }

    fileprivate func overlaps(_ other: Self) -> Bool {
        switch (self, other) {
        case (.literal(let text), .literal(let otherText)): text == otherText
        case (.literal(let text), .parameter), (.parameter, .literal(let text)): !text.isEmpty
        case (.parameter, .parameter): true
        }
    }
}
