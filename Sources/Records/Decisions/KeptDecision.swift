package import ContentKeys

/// A decision as a node keeps it beside its ledger, for as long as the nodes' database may lack it.
package struct KeptDecision: Sendable {
    /// In which order it was kept, from 1.
    package let number: Int64
    /// What it spends; of its ledger entry only kind, time and licence.
    package let decision: LicenseDecision

    package init(number: Int64, decision: LicenseDecision) {
        self.number = number
        self.decision = decision
    }
}

/// A node's own ledger, which also keeps what decisions spend.
///
/// Each kept decision has a mark, a number that the node counts up in the nodes' database: the decision was settled
/// before the next number was sent. So a database that has a later number has the decision too. A decision without a
/// mark was not settled, and is owed.
package protocol DecisionKeeping: Ledger {
    /// Returns when entry and decision would outlive a power cut.
    func append(_ entry: LedgerEntry, keeping decision: LicenseDecision, mark: Int64?) async throws(StoreError)

    /// The first decisions that are owed.
    func owedDecisions(limit: Int) async throws(StoreError) -> [KeptDecision]

    /// The first decisions behind `number` that have this mark or a later one.
    func keptDecisions(from mark: Int64, behind number: Int64, limit: Int) async throws(StoreError) -> [KeptDecision]

    /// The latest mark of a kept decision; 0 for none.
    func latestMark() async throws(StoreError) -> Int64

    /// Gives decisions a mark, because they are settled now.
    func noteSettled(_ numbers: [Int64], mark: Int64) async throws(StoreError)

    /// Forgets decisions with marks before this one.
    func forgetKept(before mark: Int64) async throws(StoreError)
}

/// What nodes share, with what is needed to count again.
package protocol RecountedStore: SharedStateStore {
    /// Takes back what a settled decision has spent of its token, and forgets its request. Changes nothing if the
    /// request was settled with another answer. Returns whether it was found.
    func giveBack(_ decision: LicenseDecision) async throws(StoreError) -> Bool

    /// Replaces the node's mark, but only if the database has `expected` or a later one. Returns the mark that was
    /// there; 0 for none.
    func replaceMark(of node: NodeID, with mark: Int64, expected: Int64) async throws(StoreError) -> Int64
}
