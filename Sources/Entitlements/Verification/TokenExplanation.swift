/// The results of all checks of a token, in the order of the verifier.
package struct TokenExplanation: Equatable, Sendable {
    /// The checks of a token, in their order.
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
    /// The claims of the token; nil if its signature or an earlier check fails, or if the claims cannot be read.
    package let claims: Claims?
    /// The claims that have no effect and were probably meant to have one.
    package internal(set) var ignored: [IgnoredClaim] = []

    /// The first failure, which is the error that the verifier throws.
    package var refusal: EntitlementError? {
        for check in checks {
            if case .failed(let error) = check.verdict { return error }
        }
        return nil
    }
}

/// Collects the results of the checks of a token.
struct TokenExplanationBuilder {
    private(set) var checks: [CheckResult] = []
    /// The values that the checks examine and expect, as far as they are known before the checks run.
    var values: [TokenExplanation.Check: CheckedValues] = [:]
    /// Returns the values of a check that has failed for an error, if they are not in `values`.
    var valuesOfRefusal: (EntitlementError) -> CheckedValues = { error in
        CheckedValues(found: error.claimName.map { "\($0): absent" })
    }

    /// Runs a check and notes its result. Returns the value of the check; nil if the check failed.
    mutating func step<Value>(
        _ check: TokenExplanation.Check, _ body: () throws(EntitlementError) -> Value
    ) -> Value? {
        do throws(EntitlementError) {
            let value = try body()
            checks.append(CheckResult(check.rawValue, .passed, values[check] ?? CheckedValues()))
            return value
        } catch {
            checks.append(CheckResult(check.rawValue, .failed(error), values[check] ?? valuesOfRefusal(error)))
            return nil
        }
    }

    /// Returns the explanation. Checks that were not run are shown as not reached.
    func finish(_ claims: Claims? = nil) -> TokenExplanation {
        let rest = TokenExplanation.Check.allCases.dropFirst(checks.count)
        let unreached = rest.map { CheckResult($0.rawValue, .notReached, values[$0] ?? CheckedValues()) }
        return TokenExplanation(checks: checks + unreached, claims: claims)
    }
}
