package import ContentKeys

/// The outcome of a decision.
package enum DecisionOutcome: Equatable, Sendable {
    /// The decision is durable, so the answer may be sent.
    case recorded
    /// The same request of the same token or party was decided before. `answer` is its answer, and nothing was spent.
    /// `isRecorded` says whether a node's ledger is known to have its entry.
    case repeated(answer: [UInt8], isRecorded: Bool = false)
    /// Nothing was recorded and nothing spent.
    case denied(DecisionDenial)
}

/// The reason why shared state does not allow a license.
package enum DecisionDenial: Equatable, Sendable {
    /// The request was decided before, and this one comes after its retry window, from another party, or for another
    /// use.
    case replayed
    /// The token has been used as often as it may be for this key.
    case tokenUsed(limit: UInt32)
    /// The owner has the largest number of devices that is allowed.
    case deviceLimit(limit: UInt32)
    /// Another device was the first to use the token.
    case otherDevice
    /// The group has `current` counted playbacks, and at most `limit` are allowed.
    case slotsFull(current: UInt32, limit: UInt32)
    /// Another playback has taken this one's slot.
    case slotEvicted
    /// A later token of the session has been used already.
    case sessionSuperseded
    /// The rental has changed since the license was computed. The value is its record, nil if none is stored.
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

/// Makes decisions durable, each one atomically.
package protocol DecisionStore: Sendable {
    /// Records a decision, or returns the reason for a denial.
    ///
    /// Checks in this order, and the first denial decides: replay, rental, use of a session token, token use, device
    /// places, slot claims. Returns `recorded` only when the decision and its ledger entry are durable. If this throws,
    /// it is not known whether the decision was recorded, so the request must not be answered with a license.
    func commit(_ decision: LicenseDecision) async throws(StoreError) -> DecisionOutcome

    /// Records the decisions of one request, each independently as `commit(_:)` does, in one commit if the store can.
    /// Returns the outcomes in the order of the decisions.
    func commit(together decisions: [LicenseDecision]) async -> [Result<DecisionOutcome, StoreError>]
}

extension DecisionStore {
    /// Records the decisions one after the other.
    package func commit(together decisions: [LicenseDecision]) async -> [Result<DecisionOutcome, StoreError>] {
        var outcomes: [Result<DecisionOutcome, StoreError>] = []
        for decision in decisions { outcomes.append(await result(of: decision)) }
        return outcomes
    }

    package func result(of decision: LicenseDecision) async -> Result<DecisionOutcome, StoreError> {
        do throws(StoreError) { return .success(try await commit(decision)) } catch { return .failure(error) }
    }
}

/// Frees the slots of playbacks whose devices report that they have stopped.
package protocol PlaybackSlotStore: Sendable {
    /// Frees the slots that the playbacks of these claims hold.
    ///
    /// A slot that another device holds, and an evicted slot, stay unchanged. A playback without a slot is not an
    /// error. When this returns, the slots are free for all nodes.
    func release(_ claims: [SlotClaim], at now: Int64) async throws(StoreError)
}

/// Settles the part of a decision that all nodes share, if another store has the ledger.
package protocol SharedStateStore: Sendable {
    /// Settles a decision as `DecisionStore.commit` does, but without its ledger entry, in one round trip.
    func settle(_ decision: LicenseDecision) async throws(StoreError) -> DecisionOutcome

    /// Tells all nodes that a ledger has the entry of a settled request, so that no other node writes the entry again.
    ///
    /// Returns immediately. If the store cannot be reached, the note is lost, and a repetition on another node is
    /// recorded a second time.
    func noteRecorded(_ request: Pseudonym)
}
