/// What became of one check.
package struct CheckResult: Equatable, Sendable {
    package enum Verdict: Equatable, Sendable {
        case passed
        case failed(EntitlementError)
        /// The check needs something that an earlier one did not give.
        case notReached
    }

    /// A stable word.
    package let name: String
    package let verdict: Verdict
    /// What the check looked at, or would have looked at, and what it wants.
    package let values: CheckedValues

    package init(_ name: String, _ verdict: Verdict, _ values: CheckedValues = CheckedValues()) {
        self.name = name
        self.verdict = verdict
        self.values = values
    }

    /// Passed, unless `check` throws.
    init(
        _ name: String, _ values: CheckedValues = CheckedValues(), _ check: () throws(EntitlementError) -> Void
    ) {
        do throws(EntitlementError) {
            try check()
            self.init(name, .passed, values)
        } catch {
            self.init(name, .failed(error), values)
        }
    }
}

extension CheckResult: CustomStringConvertible {
    /// One line, without any text of the token.
    package var description: String {
        switch verdict {
        case .passed: "\(name): passed"
        case .failed(let error): "\(name): \(error)"
        case .notReached: "\(name): not reached"
        }
    }
}

/// Every check of a decision, whether or not an earlier one has already refused. It issues nothing.
package struct GateExplanation: Equatable, Sendable {
    /// Of one right of the token, by its place there.
    package struct OfRight: Equatable, Sendable {
        package let index: Int
        package let checks: [CheckResult]
    }

    /// The checks of the whole request, in their order.
    package let checks: [CheckResult]
    package let rights: [OfRight]
    /// What the gate would decide.
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
