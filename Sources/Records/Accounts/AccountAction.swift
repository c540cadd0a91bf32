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

    /// The cells that the action reads or changes. The last one is the widest: many actions at the same time may be on
    /// it, for example on the group of a subject.
    package var keys: [CellKey] {
        switch self {
        case .settle(let decision): decision.keys
        case .noteRecorded(let request): [CellKey(.request, request)]
        case .giveBack(let decision):
            [
                decision.replay.map { CellKey(.request, $0.request) }, decision.tokenUse?.cell,
                decision.rental.map { CellKey(.rental, $0.name) },
            ].compactMap(\.self)
        case .release(let claims): claims.map { CellKey(.playbacks, $0.group) }
        case .change(.removeDevice(let owner, _)): [CellKey(.devices, owner)]
        case .change(.endPlayback(let position)): [CellKey(.playbacks, position.group)]
        case .change(.forgetRental(_, let name)): [CellKey(.rental, name)]
        case .openChallenge(_, let holder, _, _), .takeChallenge(_, let holder): [CellKey(.challenges, holder)]
        }
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
    /// The cells of the decision, the widest one last.
    fileprivate var keys: [CellKey] {
        var keys: [CellKey] = []
        if let replay { keys.append(CellKey(.request, replay.request)) }
        if let sessionTokenUse { keys.append(CellKey(.session, sessionTokenUse.session)) }
        if let tokenUse { keys.append(tokenUse.cell) }
        if let rental { keys.append(CellKey(.rental, rental.name)) }
        keys += devicePlaces.map { CellKey(.devices, $0.owner) }
        keys += slotClaims.map { CellKey(.playbacks, $0.group) }
        return keys
    }
}

extension TokenUse {
    fileprivate var cell: CellKey { CellKey(.uses, UseCount.name(token, keyID)) }
}
