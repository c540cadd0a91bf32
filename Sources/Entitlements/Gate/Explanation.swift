/// The results of all checks of a decision, including those after a refusal. No license is issued.
package struct GateExplanation: Equatable, Sendable {
    /// The checks of one right of the token. `index` is the position of the right in the token.
    package struct OfRight: Equatable, Sendable {
        package let index: Int
        package let checks: [CheckResult]
    }

    /// The checks of the whole request, in the order in which they run.
    package let checks: [CheckResult]
    package let rights: [OfRight]
    /// The decision that the gate would make.
    package let decision: Result<Authorization, EntitlementError>
}

extension Gate {
    /// Explains what `authorize` would decide, and why.
    package static func explain(_ request: GateRequest) -> GateExplanation {
        let rights = request.claims.rights.enumerated().map { index, right in
            GateExplanation.OfRight(
                index: index,
                checks: RightCheck.allCases.map { check in
                    CheckResult(check.rawValue, check.values(right, request)) { () throws(EntitlementError) in
                        try check.check(right, request)
                    }
                })
        }
        let checks = RequestCheck.allCases.map { check in
            CheckResult(check.rawValue, check.values(request)) { () throws(EntitlementError) in
                try check.check(request)
            }
        }
        return GateExplanation(
            checks: checks, rights: rights,
            decision: Result { () throws(EntitlementError) in try authorize(request) })
    }
}
