/// What holds for every field of HTTP/2 (RFC 9113 section 8.2.1).
enum HTTP2FieldRules {
    /// What a field counts beside its bytes (RFC 9113 section 6.5.2).
    static let overhead = 32

    /// A token without upper case.
    static func checkName(_ name: Span<UInt8>) throws(HTTPProblem) {
        guard name.count > 0 else { throw .malformed(.fieldName) }
        for position in 0..<name.count where !name[position].isTokenCharacter || name[position].isUpperCase {
            throw .malformed(.fieldName)
        }
    }

    /// No control characters, no white space at either end.
    static func checkValue(_ value: Span<UInt8>) throws(HTTPProblem) {
        guard value.count > 0 else { return }
        for position in 0..<value.count where value[position].isForbiddenInFieldValue {
            throw .malformed(.controlCharacter)
        }
        if value[0].isWhitespace || value[value.count - 1].isWhitespace { throw .malformed(.foldedField) }
    }
}

extension UInt8 {
    fileprivate var isUpperCase: Bool { (0x41...0x5a).contains(self) }
}
