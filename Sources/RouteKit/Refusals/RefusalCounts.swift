import Administration
import FairPlay
package import Licensing
import PackagerAPI
package import Records
import Synchronization
package import Telemetry

/// Counts refusals by code, issuer and credential.
///
/// Only names of the configuration become values of labels, and only so many of each: a reload that renames issuers
/// cannot make the table grow without end. Any other name is counted as "other", and a refusal of which nothing is
/// known as "none".
package final class RefusalCounts: Sendable {
    /// How many names of each kind get a value of their own.
    static let nameCountMaximum = 64
    /// How many combinations are counted for themselves; further ones are "other" for issuer and credential.
    static let seriesCountMaximum = 2048

    package static let other = "other"
    package static let none = "none"

    private struct Key: Hashable {
        let code: ProblemCode
        let issuer: String
        let credential: String
    }

    private struct State {
        var issuers: Set<String> = []
        var credentials: Set<String> = []
        var counts: [Key: UInt64] = [:]
    }

    private let state = Mutex(State())

    package init() {}

    package func register(in registry: MetricsRegistry) {
        registry.series(
            "latchkey_refusals_total",
            help:
                "Refusals by code, issuer of the token, and credential of the SPC or packager, as far as is known.",
            isCounter: true, labels: ["code", "issuer", "credential"]
        ) { [self] in
            state.withLock { state in
                state.counts.map { ([$0.code.rawValue, $0.issuer, $0.credential], Double($1)) }
            }
        }
    }

    /// Counts a refusal. Names count if `rules` have them.
    package func count(_ code: ProblemCode, _ facts: RefusalFacts, under rules: RefusalRules?) {
        let issuer = facts[.issuer]
        let credential = facts[.credential]
        let hasIssuer = issuer.map { name in rules?.issuers.contains(name) == true } ?? false
        let hasCredential =
            credential.map { name in
                rules?.credentials.credentials.contains { $0.name == name } == true
                    || rules?.packagers.hasPackager(actor: name) == true
            } ?? false
        state.withLock { state in
            var key = Key(
                code: code, issuer: Self.label(issuer, isKnown: hasIssuer, &state.issuers),
                credential: Self.label(credential, isKnown: hasCredential, &state.credentials))
            if state.counts[key] == nil, state.counts.count >= Self.seriesCountMaximum {
                key = Key(code: code, issuer: Self.other, credential: Self.other)
            }
            state.counts[key, default: 0] += 1
        }
    }

    private static func label(_ name: String?, isKnown: Bool, _ known: inout Set<String>) -> String {
        guard let name else { return none }
        if known.contains(name) { return name }
        guard isKnown, known.count < nameCountMaximum else { return other }
        known.insert(name)
        return name
    }
}
