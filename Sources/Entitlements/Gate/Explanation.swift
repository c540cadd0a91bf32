/// The result of one check.
package struct CheckResult: Equatable, Sendable {
    package enum Verdict: Equatable, Sendable {
        case passed
        case failed(EntitlementError)
        /// The check needs a result that an earlier check did not produce.
        case notReached
    }

    /// The name of the check: one word, which does not change between versions.
    package let name: String
    package let verdict: Verdict
    /// The value that the check examines, and the value that it expects.
    package let values: CheckedValues

    package init(_ name: String, _ verdict: Verdict, _ values: CheckedValues = CheckedValues()) {
        self.name = name
        self.verdict = verdict
        self.values = values
    }

    /// Runs a check. The verdict is `passed`, unless `check` throws.
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

/// The results of all checks of a decision, including those after a refusal. No licence is issued.
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
