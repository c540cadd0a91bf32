/// Which grammar a text follows.
package enum JSONDialect: Sendable {
    /// RFC 8259 and nothing else, for everything that comes from outside.
    case strict

    /// The part of JSON5 (spec.json5.org) that people need in a configuration file: comments, trailing commas, unquoted
    /// ASCII names, single quotes, hexadecimal numbers, a leading "+" or ".", a trailing ".".
    ///
    /// Left out, because a typing error must not pass: `Infinity` and `NaN`, strings over several lines, escapes that
    /// stand for themselves, raw control characters.
    case json5
}

/// What a text may cost.
package struct JSONLimits: Sendable {
    /// The most bytes that a text may have; memory stays below about 60 times as many.
    package var sizeMaximum: Int

    /// The most arrays and objects that may lie within one another, at most 128.
    package var depthMaximum: Int

    /// 64 KiB and 16 levels, which is plenty for claims and bodies, unless told otherwise.
    package init(sizeMaximum: Int = 65_536, depthMaximum: Int = 16) {
        self.sizeMaximum = sizeMaximum
        self.depthMaximum = depthMaximum
    }
}

/// The one reader of JSON: every text has one meaning or none.
package enum JSONReader {
    /// Reads a text that is one value, of any kind, with white space around it.
    ///
    /// Refused beyond the grammar: repeated member names, bytes that are not UTF-8, escapes of half a surrogate pair,
    /// numbers of more than 128 bytes, and everything that exceeds the limits. A byte order mark is refused in strict
    /// texts.
    package static func parse(
        _ bytes: [UInt8], dialect: JSONDialect = .strict, limits: JSONLimits = JSONLimits()
    ) throws(JSONError) -> JSONNode {
        precondition((0...128).contains(limits.depthMaximum), "the reader recurses once for each level")
        guard bytes.count <= limits.sizeMaximum else {
            throw .tooLarge(size: bytes.count, maximum: limits.sizeMaximum)
        }
        try requireUTF8(bytes)
        var parser = JSONParser(bytes: bytes, dialect: dialect, depthMaximum: limits.depthMaximum)
        return try parser.parseDocument()
    }

    /// Checks the whole text at once, so that the parser may take strings out of it as they are.
    private static func requireUTF8(_ bytes: [UInt8]) throws(JSONError) {
        do throws(UTF8.ValidationError) {
            _ = try UTF8Span(validating: bytes.span)
        } catch {
            var cursor = TextCursor(bytes: bytes)
            while cursor.offset < error.byteOffsets.lowerBound { cursor.advance() }
            throw .invalidUTF8(at: cursor.position)
        }
    }
}
