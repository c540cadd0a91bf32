import Synchronization

/// How often a service was asked, and what came of it.
package final class CallbackCounts: Sendable {
    package enum Outcome: Int, Sendable, CaseIterable {
        case allowed
        case denied
        /// An answer that was given lately was believed.
        case remembered
        /// A renewal went on while the service did not answer.
        case grace
        case failed
    }

    private let counts = Mutex([UInt64](repeating: 0, count: Outcome.allCases.count))

    package init() {}

    package subscript(outcome: Outcome) -> UInt64 { counts.withLock { $0[outcome.rawValue] } }

    func note(_ outcome: Outcome) {
        counts.withLock { $0[outcome.rawValue] += 1 }
    }
}
