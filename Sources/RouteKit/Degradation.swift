/// A part that the daemon can run without, but then serves less.
///
/// The raw values are the names in `/readyz` and in `latchkey_degraded`.
package enum DegradedPart: String, CaseIterable, Sendable {
    /// PostgreSQL does not answer.
    case postgreSQL = "postgresql"
    /// The node's own ledger takes no writes.
    case ledger
    /// The disk of the node's ledger has little room left.
    case disk
    /// The copy of the ledger in PostgreSQL is behind, or contradicts the ledger.
    case ledgerCopy = "ledger_copy"
    /// The list of revocations has never been read since the start.
    case revocations
    /// The node's clock cannot be trusted, or differs from the database's.
    case clock
    /// A credential's external module has no worker.
    case credentials
    /// The keys of a live content's next period could not be made.
    case periods
    /// The keys of an issuer's URL were never fetched, or are too old.
    case issuerKeys = "issuer_keys"
}

extension DegradedPart {
    /// What an operator does about it, in whole sentences.
    var remedy: String {
        switch self {
        case .postgreSQL:
            "See whether the database of storage.url runs and answers from this machine: latchkey doctor tries to connect."
        case .ledger:
            "Look at the log, and at the disk of the ledger: the file of storage.url, or of storage.ledger with PostgreSQL."
        case .disk:
            "Free room on the disk of storage.url (or of storage.ledger with PostgreSQL), or shorten ledger.retention."
        case .ledgerCopy:
            "Look for ledger_shipping_failed and ledger_lost in the log. latchkey ledger rejoin continues a lost ledger."
        case .revocations:
            "See whether the store of the revocations answers. Until then only revocations of this node are known."
        case .clock:
            "Set the clock, or start the time service. latchkey clock show says what is wrong, and latchkey clock accept ends the waiting."
        case .credentials:
            "Look for the events of the external module in the log: its library, its data or its workers have failed."
        case .periods:
            "See whether the key store takes writes. latchkey keys rotate shows and changes the schedule of a content."
        case .issuerKeys:
            "See whether the keysURL (or OpenID document) of the issuer answers from this machine, and whether its certificate is trusted."
        }
    }
}

/// A fault that a part has now.
package struct Degradation: Equatable, Sendable {
    package let part: DegradedPart
    /// Why, for the log.
    package let cause: String
    /// Whether the node can issue no license at all as long as this lasts.
    package let stopsLicenses: Bool

    package init(part: DegradedPart, cause: String, stopsLicenses: Bool) {
        self.part = part
        self.cause = cause
        self.stopsLicenses = stopsLicenses
    }
}

/// Collects the current degradations from the parts.
package struct DegradationSource: Sendable {
    private let sources: [@Sendable () -> [Degradation]]

    package init(_ sources: [@Sendable () -> [Degradation]] = []) {
        self.sources = sources
    }

    /// In the order of `DegradedPart`.
    package var current: [Degradation] {
        let found = sources.flatMap { $0() }
        return DegradedPart.allCases.flatMap { part in found.filter { $0.part == part } }
    }
}
