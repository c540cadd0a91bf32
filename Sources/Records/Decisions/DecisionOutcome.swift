package import ContentKeys

/// What became of a decision.
package enum DecisionOutcome: Equatable, Sendable {
    /// It is durable: the answer may be sent.
    case recorded
    /// The same request of the same token or party was decided before: this is its answer, and nothing was spent.
    /// `isRecorded` says that some node's ledger is known to have its entry.
    case repeated(answer: [UInt8], isRecorded: Bool = false)
    /// Nothing was recorded and nothing spent.
    case denied(DecisionDenial)
}

/// Why shared state does not allow a licence.
package enum DecisionDenial: Equatable, Sendable {
    /// The request was decided before: outside its retry window, for another party, or for another use.
    case replayed
    /// The token has been used as often as it may be for this key.
    case tokenUsed(limit: UInt32)
    /// The owner's devices are as many as there may be.
    case deviceLimit(limit: UInt32)
    /// The token was used first by another device.
    case otherDevice
    /// So many playbacks count in the group, and no more may.
    case slotsFull(current: UInt32, limit: UInt32)
    /// Another playback has taken this one's slot.
    case slotEvicted
    /// A later token of the session has been used.
    case sessionSuperseded
    /// The rental is not what the licence was computed from, but this; nil if nothing is remembered of it.
    case rentalDiffers(RentalRecord?)
}

extension DecisionDenial: CustomStringConvertible {
    /// Words for the log.
    package var description: String {
        switch self {
        case .replayed: "this SPC was decided before, outside its retry window, for another party or for another use"
        case .tokenUsed(let limit): "the token has been used for this key as often as it may be, \(limit) times"
        case .deviceLimit(limit: 0): "the device is not registered, and the token takes registered devices alone"
        case .deviceLimit(let limit): "the subject has as many devices as it may have, \(limit)"
        case .otherDevice: "the token was first used by another device"
        case .slotsFull(let current, let limit): "\(current) playbacks run, and at most \(limit) may run at once"
        case .slotEvicted: "another playback has taken the slot of this one, or an operator has ended it"
        case .sessionSuperseded: "a later token of the session has been used"
        case .rentalDiffers: "another request has changed the rental meanwhile"
        }
    }
}

/// Where decisions become durable, each one atomically.
package protocol DecisionStore: Sendable {
    /// Records a decision, or says why not.
    ///
    /// Checks in this order, and the first denial decides: replay, rental, use of a session token, token use, device
    /// places, slot claims. Returns `recorded` only when the decision and its ledger entry would outlive a power cut.
    /// Throws when that cannot be known: nothing may be answered then.
    func commit(_ decision: LicenseDecision) async throws(StoreError) -> DecisionOutcome

    /// Records the decisions of one request, each for itself as `commit` does, and in one commit if the store can. The
    /// outcomes are in the order of the decisions.
    func commit(together decisions: [LicenseDecision]) async -> [Result<DecisionOutcome, StoreError>]
}

extension DecisionStore {
    /// One after the other.
    package func commit(together decisions: [LicenseDecision]) async -> [Result<DecisionOutcome, StoreError>] {
        var outcomes: [Result<DecisionOutcome, StoreError>] = []
        for decision in decisions { outcomes.append(await result(of: decision)) }
        return outcomes
    }

    package func result(of decision: LicenseDecision) async -> Result<DecisionOutcome, StoreError> {
        do throws(StoreError) { return .success(try await commit(decision)) } catch { return .failure(error) }
    }
}

/// Where playbacks give their slots back when their devices say that they have stopped.
package protocol PlaybackSlotStore: Sendable {
    /// Frees the slots that the playbacks of these claims hold themselves. A slot that another device holds, and one
    /// that was evicted, stays as it is; a playback without a slot is no error. When it returns, the slots are free for
    /// all nodes.
    func release(_ claims: [SlotClaim], at now: Int64) async throws(StoreError)
}

/// The part of a decision that all nodes share, if the ledger is another store's.
package protocol SharedStateStore: Sendable {
    /// As `DecisionStore.commit`, without the ledger entry. One round trip.
    func settle(_ decision: LicenseDecision) async throws(StoreError) -> DecisionOutcome

    /// Lets all nodes know that a ledger has the entry of a request that was settled, so that no other writes it again.
    /// Returns at once. A store that cannot be told forgets it: then a repetition on another node is written down a
    /// second time.
    func noteRecorded(_ request: Pseudonym)
}
