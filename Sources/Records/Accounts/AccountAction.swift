import ContentKeys

/// Anything that reads or changes the state that decisions share.
package enum AccountAction: Sendable {
    /// Settles a license decision, without its ledger entry.
    case settle(LicenseDecision)
    /// Notes that a node's ledger has the entry of a request.
    case noteRecorded(Pseudonym)
    /// Takes back what a settled decision has spent, because its license was not given.
    case giveBack(LicenseDecision)
    /// Frees the slots of playbacks that have stopped.
    case release([SlotClaim])
    /// Makes an operator's change.
    case change(AccountChange)
    case openChallenge(UInt64, holder: Pseudonym, expiresAt: Int64, limit: Int)
    case takeChallenge(UInt64, holder: Pseudonym)

    /// The cells that the action reads or changes, as it makes those that are not stored. The last one is the widest:
    /// many actions at the same time may be on it, for example on the group of a subject.
    package var cells: [NamedCell] {
        switch self {
        case .settle(let decision): decision.cells
        case .noteRecorded(let request): [NamedCell(.request, request)]
        case .giveBack(let decision):
            [
                decision.replay.map { NamedCell(.request, $0.request) },
                decision.tokenUse.map { NamedCell(.uses, UseCount.name($0.token, $0.keyID)) },
                decision.rental.map { NamedCell(.rental, $0.name) },
            ].compactMap(\.self)
        case .release(let claims): claims.map { NamedCell(.playbacks, $0.group) }
        case .change(.removeDevice(let owner, _)): [NamedCell(.devices, owner)]
        case .change(.endPlayback(let position)): [NamedCell(.playbacks, position.group)]
        case .change(.forgetRental(_, let name)): [NamedCell(.rental, name)]
        case .openChallenge(_, let holder, let expiresAt, _): [NamedCell(.challenges, holder, end: expiresAt)]
        case .takeChallenge(_, let holder): [NamedCell(.challenges, holder)]
        }
    }
}

/// A cell that an action names.
package struct NamedCell: Sendable {
    package let key: CellKey
    /// The owner and the end of the cell if the action makes it. A store that must make the cell before it has the
    /// value then need not change them later.
    package let owner: Pseudonym?
    package let end: Int64

    init(_ kind: CellKey.Kind, _ name: Pseudonym, owner: Pseudonym? = nil, end: Int64 = 0) {
        key = CellKey(kind, name)
        self.owner = owner
        self.end = end
    }
}

/// The answer to an action.
package enum AccountAnswer: Equatable, Sendable {
    case outcome(DecisionOutcome)
    /// Whether the action changed anything.
    case done(Bool)

    /// The outcome of a decision.
    package var outcome: DecisionOutcome {
        guard case .outcome(let outcome) = self else {
            preconditionFailure("a decision is answered with its outcome")
        }
        return outcome
    }

    /// Whether an action that is not a decision changed anything.
    package var hasChanged: Bool {
        guard case .done(let hasChanged) = self else {
            preconditionFailure("a change is answered with whether it was one")
        }
        return hasChanged
    }
}

extension LicenseDecision {
    fileprivate var cells: [NamedCell] {
        var cells: [NamedCell] = []
        if let replay { cells.append(NamedCell(.request, replay.request, end: replay.keptUntil)) }
        if let use = sessionTokenUse { cells.append(NamedCell(.session, use.session, end: use.keptUntil)) }
        if let use = tokenUse {
            cells.append(NamedCell(.uses, UseCount.name(use.token, use.keyID), end: use.keptUntil))
        }
        if let rental {
            cells.append(NamedCell(.rental, rental.name, owner: rental.owner, end: rental.keptUntil))
        }
        cells += devicePlaces.map { NamedCell(.devices, $0.owner, end: $0.keptUntil ?? .max) }
        cells += slotClaims.map {
            NamedCell(.playbacks, $0.group, owner: $0.description?.owner, end: $0.heldUntil)
        }
        return cells
    }
}
