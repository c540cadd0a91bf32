package import ByteCoding
import Entitlements
import FairPlay
package import Licensing

/// Checks that belong together.
struct ExplainedSection {
    let name: String
    let checks: [ExplainedCheck]

    init(_ name: String, _ checks: [ExplainedCheck]) {
        self.name = name
        self.checks = checks
    }
}

/// One check with its verdict, and the code and cause of a refusal.
package struct ExplainedCheck {
    private enum Verdict {
        case passed
        case failed(LicenseError)
        case notReached
    }

    private let name: String
    private let verdict: Verdict

    init(_ result: CheckResult) {
        name = result.name
        verdict =
            switch result.verdict {
            case .passed: .passed
            case .failed(let error): .failed(.entitlement(error))
            case .notReached: .notReached
            }
    }

    init(_ result: LicenseExplanation.StageResult) {
        name = result.stage.rawValue
        verdict =
            switch result.verdict {
            case .passed: .passed
            case .failed(let error): .failed(error)
            case .notReached: .notReached
            }
    }

    init(_ terms: Result<LicenseTerms, LicenseTermsError>) {
        name = "expressible"
        verdict =
            switch terms {
            case .success: .passed
            case .failure(let error): .failed(.terms(error))
            }
    }

    init(_ sync: Result<SyncPermission, EntitlementError>) {
        name = "coverage"
        verdict =
            switch sync {
            case .success: .passed
            case .failure(let error): .failed(.entitlement(error))
            }
    }

    var line: String {
        switch verdict {
        case .passed: "\(name): passed"
        case .failed(let error): "\(name): \(Self.code(of: error)), \(Self.cause(of: error))"
        case .notReached: "\(name): not reached"
        }
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
    }

    package static func write(_ error: LicenseError, to writer: inout JSONWriter) {
        writer.member("code", code(of: error))
        writer.member("cause", cause(of: error))
    }

    /// What a client hears.
    package static func code(of error: LicenseError) -> String {
        error.code.rawValue
    }

    /// What no client hears: for an SPC that was rejected, the check that it failed.
    static func cause(of error: LicenseError) -> String {
        guard case .spc(.rejected(let rejection)) = error else { return error.cause.text }
        return rejection.explanation
    }
}
