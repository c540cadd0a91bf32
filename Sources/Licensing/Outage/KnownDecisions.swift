import ContentKeys
import Records

/// The cells of the decisions that a node knows to be given, in memory.
struct KnownDecisions {
    private var stored: [CellKey: [UInt8]] = [:]

    /// Counts a decision that was given. Returns false if its request is known already.
    ///
    /// The database may have given it because it knew more, for example that a playback had stopped. If the rules deny
    /// it here, it counts without limits, beside everything that is known. The cells are then fuller than the limits
    /// allow. So they admit less, and what was given is not given again.
    mutating func note(_ decision: LicenseDecision) -> Bool {
        var (given, isLimited) = (decision, true)
        // No renewal is admitted here, so it does not matter which token of a session is the newest.
        given.sessionTokenUse = nil
        var cells = cells(of: given)
        while true {
            switch Self.settle(given, in: &cells) {
            case .recorded:
                for change in cells.changes { stored[change.key] = change.value?.bytes }
                return true
            case .repeated, .denied(.replayed), nil: return false
            case .denied(.rentalDiffers(let known)): given.rental = given.rental?.merged(over: known)
            case .denied where isLimited: (given, isLimited) = (given.unlimited, false)
            // A later playback of a full group has taken the place of this one, or the cell is full for all.
            case .denied: given.slotClaims = []
            }
        }
    }

    /// Decides about a decision by what was given, and by what may have been given besides. The decision is one of
    /// the uncertain ones. Changes nothing. Returns nil if a cell has no meaning.
    func outcome(of decision: LicenseDecision, beside uncertain: UncertainDecisions) -> DecisionOutcome? {
        var (decision, cells) = (decision, cells(of: decision))
        // What has no room beside what was given fills nothing more: the cell is full already.
        for other in uncertain.others(beside: &decision) { _ = Self.settle(other, in: &cells) }
        let outcome = Self.settle(decision, in: &cells)
        // Another node may have given the rental.
        guard outcome == .denied(.rentalDiffers(nil)) else { return outcome }
        decision.rental?.known = nil
        return Self.settle(decision, in: &cells)
    }

    private func cells(of decision: LicenseDecision) -> AccountCells {
        var cells = AccountCells()
        for named in AccountAction.settle(decision).cells { cells.add(named.key, stored[named.key]) }
        return cells
    }

    /// What is known is minutes old, so nothing with a long term has ended meanwhile. A clock that is wrong ends none
    /// of it either.
    private static func settle(_ decision: LicenseDecision, in cells: inout AccountCells) -> DecisionOutcome? {
        let time = AccountTime(now: decision.now, settled: .min)
        return try? AccountRules.apply(.settle(decision), to: &cells, at: time).outcome
    }
}

extension LicenseDecision {
    /// The same decision, but no limit denies it, and it takes the place of no other.
    fileprivate var unlimited: LicenseDecision {
        var decision = self
        decision.tokenUse?.limit = .max
        for index in devicePlaces.indices {
            // A full cell, which the largest limit does not prevent, is no denial either.
            (decision.devicePlaces[index].limit, decision.devicePlaces[index].kind) = (.max, .replacing)
        }
        for index in slotClaims.indices { decision.slotClaims[index].limit = .max }
        return decision
    }
}
