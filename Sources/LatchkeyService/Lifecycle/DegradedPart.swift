/// A part of the daemon without which it serves less. The raw values are the names in `/readyz` and in
/// `latchkey_degraded`.
enum DegradedPart: String, CaseIterable, Sendable {
    /// PostgreSQL answers nothing.
    case postgreSQL = "postgresql"
    /// The node's own ledger takes no writes.
    case ledger
    /// The copy of the ledger in PostgreSQL is behind, or contradicts the ledger.
    case ledgerCopy = "ledger_copy"
    /// What is revoked was never read.
    case revocations
    /// The node's clock cannot be trusted, or differs from the database's.
    case clock
    /// A credential's external module has no worker.
    case credentials
    /// The keys of a live content's next period could not be made.
    case periods
}

/// What is wrong with a part now.
struct Degradation: Equatable, Sendable {
    let part: DegradedPart
    /// Why, for the log.
    let cause: String
    /// Whether the node can issue no licence at all as long as this lasts.
    let stopsLicences: Bool
}

/// What is wrong now, as the parts themselves tell it.
struct DegradationSource: Sendable {
    private let sources: [@Sendable () -> [Degradation]]

    init(_ sources: [@Sendable () -> [Degradation]] = []) {
        self.sources = sources
    }

    /// In the order of `DegradedPart`.
    var current: [Degradation] {
        let found = sources.flatMap { $0() }
        return DegradedPart.allCases.flatMap { part in found.filter { $0.part == part } }
    }
}
