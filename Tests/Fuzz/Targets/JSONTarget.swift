import ByteCoding
import TestSupport

/// The strict JSON reader and its dialect for configurations. The input is one byte of plan, then the text.
///
///     offset  size  field
///          0     1  the dialect (bit 0: 0 strict, 1 JSON5), and how deep values may nest, less 1 (the next four bits)
///
/// A text has one meaning or one error. An accepted text is within the limits and has no name twice. If it is written
/// and read again, it has the same value. Its written form is one line without control characters, and does not change
/// if it is written again. A strict text means the same in the other dialect.
struct JSONTarget: FuzzTarget {
    private static let sizeMaximum = 4096
    private static let numberSizeMaximum = 128
    /// The limits of a rewritten text: each byte may become an escape of six bytes, and JSON5 may leave out a zero.
    private static let rewrittenLimits = JSONLimits(sizeMaximum: 7 * sizeMaximum, depthMaximum: 16)
    private static let mutation = JSONMutation(values: JSONMutation.oddValues)

    func check(_ input: [UInt8]) throws -> Verdict {
        guard let plan = input.first else { return .refused }
        let text = Array(input.dropFirst())
        let dialect: JSONDialect = plan & 1 == 0 ? .strict : .json5
        let limits = JSONLimits(sizeMaximum: Self.sizeMaximum, depthMaximum: Int(plan >> 1 & 0x0F) + 1)
        let outcome = Self.read(text, dialect, limits)
        try require(Self.isSame(outcome, Self.read(text, dialect, limits)), "a text has one meaning")
        switch outcome {
        case .failure(let error):
            if let offset = error.byteOffset {
                try require(offset <= text.count, "an error's position is within the text")
            }
            return .refused
        case .success(let node):
            try require(text.count <= limits.sizeMaximum, "an accepted text is within its size")
            var count = 0
            try check(node, text, depthMaximum: limits.depthMaximum, count: &count)
            try require(count <= text.count, "each value takes at least one byte")
            try checkRewriting(of: node)
            if case .strict = dialect { try checkOtherDialect(of: text, node, limits) }
            return .accepted
        }
    }

    private static func read(
        _ text: [UInt8], _ dialect: JSONDialect, _ limits: JSONLimits
    ) -> Result<JSONNode, JSONError> {
        do throws(JSONError) {
            return .success(try JSONReader.parse(text, dialect: dialect, limits: limits))
        } catch {
            return .failure(error)
        }
    }

    private func check(_ node: JSONNode, _ text: [UInt8], depthMaximum: Int, count: inout Int) throws {
        count += 1
        try require(node.position.byteOffset < text.count, "a value begins within the text")
        switch node.value {
        case .null, .bool: return
        case .number(let number): try check(number)
        case .string(let string): try require(string.utf8.count <= text.count, "no string is larger than the text")
        case .array(let elements):
            try require(depthMaximum > 0, "values nest no deeper than they may")
            for element in elements { try check(element, text, depthMaximum: depthMaximum - 1, count: &count) }
        case .object(let object):
            try require(depthMaximum > 0, "values nest no deeper than they may")
            let names = Set(object.members.map { Array($0.name.utf8) })
            try require(names.count == object.members.count, "no name occurs twice")
            for member in object.members {
                let found = try require(object[member.name], "each member is found by its name")
                try require(found.position == member.node.position, "a name finds its own value")
                try check(member.node, text, depthMaximum: depthMaximum - 1, count: &count)
            }
        }
    }

    /// Checks that the conversions agree with one another, and that the text is a number of RFC 8259.
    private func check(_ number: JSONNumber) throws {
        try require(number.text.utf8.count <= Self.numberSizeMaximum + 1, "a number is within its size")
        if let unsigned = number.unsigned {
            try require(number.double == Double(unsigned), "a whole number is the same as a fraction: \(number.text)")
            try require(number.signed == Int64(exactly: unsigned), "a number has one value: \(number.text)")
        } else if let signed = number.signed {
            try require(signed < 0, "a whole number that is not negative has no sign: \(number.text)")
            try require(number.double == Double(signed), "a whole number is the same as a fraction: \(number.text)")
        }
    }

    private func checkRewriting(of node: JSONNode) throws {
        let written = Self.written(node)
        try require(written.allSatisfy { $0 >= 0x20 && $0 != 0x7F }, "a written text has no control character")
        let again: JSONNode
        do throws(JSONError) {
            again = try JSONReader.parse(written, limits: Self.rewrittenLimits)
        } catch {
            throw PropertyViolation(description: "a value that was read can be written: \(error)")
        }
        try require(Self.isSame(node, again, withPositions: false), "a written value means the same")
        try require(Self.written(again) == written, "a written text does not change when it is written again")
    }

    private static func written(_ node: JSONNode) -> [UInt8] {
        var writer = JSONWriter()
        writer.node(node)
        return writer.bytes
    }

    private func checkOtherDialect(of text: [UInt8], _ node: JSONNode, _ limits: JSONLimits) throws {
        let other = Self.read(text, .json5, limits)
        try require(Self.isSame(.success(node), other), "a strict text means the same in JSON5")
    }

    // MARK: - Comparison

    private static func isSame(_ one: Result<JSONNode, JSONError>, _ other: Result<JSONNode, JSONError>) -> Bool {
        switch (one, other) {
        case (.success(let one), .success(let other)): isSame(one, other, withPositions: true)
        case (.failure(let one), .failure(let other)): one == other
        case (.success, .failure), (.failure, .success): false
        }
    }

    /// Compares strings byte by byte, because Swift's own comparison treats equivalent spellings as equal.
    private static func isSame(_ one: JSONNode, _ other: JSONNode, withPositions: Bool) -> Bool {
        guard !withPositions || one.position == other.position else { return false }
        switch (one.value, other.value) {
        case (.null, .null): return true
        case (.bool(let one), .bool(let other)): return one == other
        case (.number(let one), .number(let other)): return one.text == other.text
        case (.string(let one), .string(let other)): return one.utf8.elementsEqual(other.utf8)
        case (.array(let one), .array(let other)):
            return one.elementsEqual(other) { isSame($0, $1, withPositions: withPositions) }
        case (.object(let one), .object(let other)):
            return one.members.elementsEqual(other.members) {
                $0.name.utf8.elementsEqual($1.name.utf8) && isSame($0.node, $1.node, withPositions: withPositions)
            }
        case (.null, _), (.bool, _), (.number, _), (.string, _), (.array, _), (.object, _): return false
        }
    }

    // MARK: - Inputs

    func seeds() throws -> [[UInt8]] {
        let strict = [
            "{}", " [ 1 , -2.5e3 , 0 ] ", #""\u00e9\ud83d\ude00\n""#, "true",
            #"{"iss":"a","exp":1750000000,"rights":[{"content":"b","tracks":{"HD":{"hdcp":"type1"}}}]}"#,
            String(repeating: "[", count: 16) + String(repeating: "]", count: 16),
            "[" + JSONMutation.oddValues.joined(separator: ",\n") + "]",
            "{" + (0..<20).map { "\"\($0)\":null" }.joined(separator: ",") + "}",
        ]
        let json5 = ["{a: 0x1F, 'b': .5, /* c */ d: +1., // e\n}", "\u{FEFF}[1,]", "'\"'"]
        return strict.map { [0x1E] + Array($0.utf8) } + json5.map { [0x1F] + Array($0.utf8) }
    }

    /// Half of the changes are of values, the others of bytes. Sometimes the plan changes.
    func mutate(_ input: [UInt8], using generator: inout SeededGenerator) -> [UInt8] {
        guard var plan = input.first else { return ByteMutation.mutate(input, using: &generator) }
        let text = Array(input.dropFirst())
        if Int.random(in: 0..<16, using: &generator) == 0 { plan = UInt8.random(in: .min ... .max, using: &generator) }
        guard Bool.random(using: &generator) else { return [plan] + ByteMutation.mutate(text, using: &generator) }
        return [plan] + Self.mutation.mutate(text, using: &generator)
    }
}

extension JSONError {
    /// The position of the error in the text, or nil if it concerns the whole text.
    fileprivate var byteOffset: Int? {
        switch self {
        case .tooLarge: nil
        case .invalidUTF8(let position), .unexpectedEnd(let position), .unexpectedCharacter(let position),
            .commaMissing(let position), .colonMissing(let position), .trailingContent(let position),
            .tooDeep(let position), .tooManyValues(let position),
            .duplicateMember(let position, _),
            .invalidNumber(let position), .controlCharacter(let position), .invalidEscape(let position):
            position.byteOffset
        }
    }
}
