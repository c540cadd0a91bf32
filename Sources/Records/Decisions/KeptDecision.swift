package import ContentKeys

/// A decision that a node keeps beside its ledger while the nodes' database may lack it.
package struct KeptDecision: Sendable {
    /// Its place in the order in which decisions were kept, from 1.
    package let number: Int64
    /// The spending of the decision. Its ledger entry has only kind, time and license.
    package let decision: LicenseDecision

    package init(number: Int64, decision: LicenseDecision) {
        self.number = number
        self.decision = decision
    }
}

/// A node's own ledger, which also keeps what decisions spend.
///
/// Each kept decision has a mark. A mark is a number that the node increases in the nodes' database. The decision was
/// settled before the next larger number was sent, so a database with a larger number has the decision too. A decision
/// without a mark has not been settled yet: it is owed.
package protocol DecisionKeeping: Ledger {
    /// Appends an entry and keeps its decision. Both are durable when this returns.
    func append(_ entry: LedgerEntry, keeping decision: LicenseDecision, mark: Int64?) async throws(StoreError)

    /// Returns the first decisions that are owed.
    func owedDecisions(limit: Int) async throws(StoreError) -> [KeptDecision]

    /// Returns the first decisions after `number` whose mark is `mark` or larger.
    func keptDecisions(from mark: Int64, behind number: Int64, limit: Int) async throws(StoreError) -> [KeptDecision]

    /// Returns the largest mark of a kept decision; 0 if there is none.
    func latestMark() async throws(StoreError) -> Int64

    /// Gives decisions a mark, because they are settled.
    func noteSettled(_ numbers: [Int64], mark: Int64) async throws(StoreError)

    /// Deletes decisions whose marks are smaller than this one.
    func forgetKept(before mark: Int64) async throws(StoreError)
}

/// The state that nodes share, with the calls that are needed to count again.
package protocol RecountedStore: SharedStateStore {
    /// The number of the newest connection that decisions can use now; 0 if there is none. Each new connection has a
    /// larger number, and may lead to another database.
    var newestConnection: Int { get }

    /// Whether a lost connection may be back in a moment: no attempt to connect has failed.
    var isReconnecting: Bool { get }

    /// Settles a decision as `settle(_:)` does, but only on a connection with one of these numbers; nil for any. If
    /// none of them is connected, throws `unavailable(.unreachable)`.
    func settle(
        _ decision: LicenseDecision, on connections: ClosedRange<Int>?
    ) async throws(StoreError) -> DecisionOutcome

    /// Takes back one use of the token that a settled decision has spent, and forgets its request. Changes nothing if
    /// the request was settled with another answer, or if another node has recorded it since. Returns whether the use
    /// was taken back.
    func giveBack(_ decision: LicenseDecision) async throws(StoreError) -> Bool

    /// Replaces the node's mark, but only if the database has `expected` or a larger one. Returns the previous mark; 0
    /// if there was none. Uses only a connection with one of these numbers; nil for any.
    func replaceMark(
        of node: NodeID, with mark: Int64, expected: Int64, on connections: ClosedRange<Int>?
    ) async throws(StoreError) -> Int64
}
