package import ByteCoding
import Entitlements
import FairPlay
package import Licensing

/// A named group of checks.
struct ExplainedSection {
    let name: String
    let checks: [ExplainedCheck]

    init(_ name: String, _ checks: [ExplainedCheck]) {
        self.name = name
        self.checks = checks
    }
}

/// One check with its verdict, and with code and cause if it failed.
package struct ExplainedCheck {
    private enum Verdict {
        case passed
        case failed(LicenseError)
        case notReached
    }

    private let name: String
    private let verdict: Verdict
    private let values: CheckedValues

    init(_ result: CheckResult) {
        name = result.name
        values = result.values
        verdict =
            switch result.verdict {
            case .passed: .passed
            case .failed(let error): .failed(.entitlement(error))
            case .notReached: .notReached
            }
    }

    init(_ result: LicenseExplanation.StageResult) {
        name = result.stage.rawValue
        values = CheckedValues()
        verdict =
            switch result.verdict {
            case .passed: .passed
            case .failed(let error): .failed(error)
            case .notReached: .notReached
            }
    }

    init(_ terms: Result<LicenseTerms, LicenseTermsError>, of term: (LicenseTermsError) -> LimitedTerm?) {
        name = "expressible"
        switch terms {
        case .success:
            verdict = .passed
            values = CheckedValues()
        case .failure(let error):
            verdict = .failed(.terms(error, of: term(error)))
            values = CheckedValues(error, term(error))
        }
    }

    init(_ sync: Result<SyncPermission, EntitlementError>) {
        name = "coverage"
        values = CheckedValues()
        verdict =
            switch sync {
            case .success: .passed
            case .failure(let error): .failed(.entitlement(error))
            }
    }

    var line: String {
        switch verdict {
        case .passed: "\(name): passed"
        case .failed(let error): "\(name): \(Self.code(of: error)), \(Self.cause(of: error))\(shownValues)"
        case .notReached: "\(name): not reached\(shownValues)"
        }
    }

    /// The found and the expected value, for a check that has not passed.
    private var shownValues: String {
        let words = [values.found.map { "found \($0)" }, values.expected.map { "expected \($0)" }].compactMap(\.self)
        return words.isEmpty ? "" : " (\(words.joined(separator: "; ")))"
    }

    package func write(to writer: inout JSONWriter) {
        writer.member("name", name)
        switch verdict {
        case .passed: writer.member("verdict", "passed")
        case .failed(let error):
            writer.member("verdict", "failed")
            Self.write(error, to: &writer)
        case .notReached: writer.member("verdict", "not_reached")
        }
        if let found = values.found { writer.member("found", found) }
        if let expected = values.expected { writer.member("expected", expected) }
    }

    package static func write(_ error: LicenseError, to writer: inout JSONWriter) {
        writer.member("code", code(of: error))
        writer.member("cause", cause(of: error))
    }

    /// The code that a client gets.
    package static func code(of error: LicenseError) -> String {
        error.code.rawValue
    }

    /// The cause, which no client gets. For a rejected SPC, it is the check that the SPC failed.
    static func cause(of error: LicenseError) -> String {
        guard case .spc(.rejected(let rejection)) = error else { return error.cause.text }
        return rejection.explanation
    }

    /// What an operator does about it.
    static func remedy(of error: LicenseError) -> String {
        guard case .spc(.rejected(let rejection)) = error else {
            return RefusalReport.remedy(causedBy: error.cause.text) ?? error.code.remedy
        }
        return rejection.remedy
    }
}
