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

/// The value that a check examined and the value that it expects, as text for the operator.
package struct CheckedValues: Equatable, Sendable {
    package let found: String?
    package let expected: String?

    package init(found: String? = nil, expected: String? = nil) {
        self.found = found
        self.expected = expected
    }
}
