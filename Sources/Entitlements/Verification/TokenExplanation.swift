import ByteCoding

/// Every check of a token, in the order of the verifier.
package struct TokenExplanation: Equatable, Sendable {
    /// The questions that a verifier asks of a token, in their order.
    package enum Check: String, Sendable, CaseIterable {
        case form
        case key
        case keyState = "key_state"
        case algorithm
        case signature
        case time
        case life
        case issuerAndAudience = "issuer_and_audience"
        case claims
        case restrictions
    }

    package let checks: [CheckResult]
    /// Nil if the token is not signed by the key that it names: then nothing that it says is believed.
    package let claims: Claims?

    /// The first refusal, which is what the verifier throws.
    package var refusal: EntitlementError? {
        for check in checks {
            if case .failed(let error) = check.verdict { return error }
        }
        return nil
    }
}

/// Collects results; after the first step that gives nothing, no later step is reached.
struct TokenExplanationBuilder {
    private(set) var checks: [CheckResult] = []
    /// What the checks look at and want, as far as it is known beforehand.
    var values: [TokenExplanation.Check: CheckedValues] = [:]
    /// Shows the claim of a path, for a token that is refused for it.
    var claim: (String) -> String? = { _ in nil }

    /// Notes the result of a step that the later ones need; nil if it failed.
    mutating func step<Value>(
        _ check: TokenExplanation.Check, _ body: () throws(EntitlementError) -> Value
    ) -> Value? {
        do throws(EntitlementError) {
            let value = try body()
            checks.append(CheckResult(check.rawValue, .passed, values[check] ?? CheckedValues()))
            return value
        } catch {
            checks.append(CheckResult(check.rawValue, .failed(error), shown(check, error)))
            return nil
        }
    }

    private func shown(_ check: TokenExplanation.Check, _ error: EntitlementError) -> CheckedValues {
        if let values = values[check] { return values }
        guard let name = error.claimName else { return CheckedValues() }
        return CheckedValues(found: "\(name): \(claim(name) ?? "absent")")
    }

    /// The explanation, with everything that was not noted as not reached.
    func finish(_ claims: Claims? = nil) -> TokenExplanation {
        let rest = TokenExplanation.Check.allCases.dropFirst(checks.count)
        let unreached = rest.map { CheckResult($0.rawValue, .notReached, values[$0] ?? CheckedValues()) }
        return TokenExplanation(checks: checks + unreached, claims: claims)
    }
}

/// What explanations show of values: for the operator's eyes, bounded, and without control characters that a terminal
/// would obey.
enum ExplainedText {
    private static let sizeMaximum = 160

    static func shown(_ text: String) -> String {
        let scalars = text.unicodeScalars.prefix(sizeMaximum).map { scalar -> Unicode.Scalar in
            scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value) ? "?" : scalar
        }
        let isCut = text.unicodeScalars.count > sizeMaximum
        return String(String.UnicodeScalarView(scalars)) + (isCut ? "…" : "")
    }

    static func shown(_ node: JSONNode) -> String {
        if let text = node.string { return "\"\(shown(text))\"" }
        if let number = node.number { return shown(number.text) }
        if let bool = node.bool { return "\(bool)" }
        if let array = node.array {
            return shown("[" + array.prefix(8).map { shown($0) }.joined(separator: ", ") + "]")
        }
        return node.isNull ? "null" : "an object"
    }

    static func list(_ values: [String]) -> String {
        let shownValues = values.prefix(16).map { shown($0) }.joined(separator: ", ")
        return values.isEmpty ? "none" : shownValues + (values.count > 16 ? ", …" : "")
    }

    /// A time as RFC 3339 writes it.
    static func time(_ seconds: Int64) -> String {
        UnixTime(seconds: seconds, nanoseconds: 0).map { RFC3339.format($0, precision: .seconds) } ?? "\(seconds)"
    }
}

/// What a check has looked at and what it wants, in words for the operator.
package struct CheckedValues: Equatable, Sendable {
    package let found: String?
    package let expected: String?

    package init(found: String? = nil, expected: String? = nil) {
        self.found = found
        self.expected = expected
    }
}
