import ByteCoding

/// What one check of `latchkey doctor` or `latchkey credentials prove` found.
struct DoctorFinding: Equatable, Sendable {
    enum Verdict: String, Sendable {
        case good
        /// It works, and will not for long, or not as the operator thinks.
        case warning
        /// It does not work, or lets strangers in.
        case bad
        /// The check was not made.
        case skipped
    }

    /// The part and what was checked, such as `tls.served`.
    let check: String
    let verdict: Verdict
    /// The values that were found.
    let found: String
    /// What to do about it; nil if nothing.
    var remedy: String?

    static func good(_ check: String, _ found: String) -> Self { Self(check: check, verdict: .good, found: found) }

    static func warning(_ check: String, _ found: String, remedy: String) -> Self {
        Self(check: check, verdict: .warning, found: found, remedy: remedy)
    }

    static func bad(_ check: String, _ found: String, remedy: String) -> Self {
        Self(check: check, verdict: .bad, found: found, remedy: remedy)
    }

    static func skipped(_ check: String, _ found: String, remedy: String? = nil) -> Self {
        Self(check: check, verdict: .skipped, found: found, remedy: remedy)
    }

    /// Two lines at most.
    var text: String {
        let mark = verdict.rawValue + String(repeating: " ", count: 8 - verdict.rawValue.count)
        let first = "\(mark)\(check): \(found)"
        return remedy.map { "\(first)\n        -> \($0)" } ?? first
    }

    func write(to writer: inout JSONWriter) {
        writer.member("check", check)
        writer.member("verdict", verdict.rawValue)
        writer.member("found", found)
        writer.member("remedy", remedy)
    }
}
