package import ContentKeys
package import Records
import Synchronization

/// The revocations of one node among many: those in the store of all nodes, and the node's own ones that the store does
/// not have yet.
///
/// A revocation is first made durable on this node, with its row in the node's ledger, and then sent to the shared
/// store. So it takes effect on this node immediately, even in an outage of the database. The node sends a pending
/// revocation again with each poll for changes, also after a restart.
package final class SharedRevocations: Sendable {
    private let shared: any RevocationStore
    private let pending: any PendingRevocations
    private let turns = Turns()

    package init(shared: any RevocationStore, pending: any PendingRevocations) {
        self.shared = shared
        self.pending = pending
    }

    /// Sends the pending revocations to the store, until one fails.
    private func shareAll() async {
        do throws(StoreError) {
            for revocation in try await pending.pendingRevocations() {
                guard await share(revocation) else { return }
            }
        } catch {
            // They stay pending, and have effect on this node, because `revocationChanges` returns them each time.
        }
    }
}

extension SharedRevocations: RevocationRecords {
    package func revoke(_ revocation: Revocation, recording entry: LedgerEntry) async throws(StoreError) {
        try await pending.keep(revocation, recording: entry)
    }

    package func share(_ revocation: Revocation) async -> Bool {
        await turns.enter()
        defer { turns.leave() }
        do throws(StoreError) {
            // A revocation that was lifted while this call waited for its turn must not come back.
            guard try await pending.pendingRevocations().contains(revocation) else { return true }
            try await shared.revoke(revocation)
            try await pending.drop(revocation)
            return true
        } catch {
            return false
        }
    }

    /// Lifts a revocation in the store first, and records the row after that, because a row says only what has
    /// happened. If the row cannot be written, the revocation is put back.
    package func lift(_ revocation: Revocation, recording entry: LedgerEntry) async throws(StoreError) -> Bool {
        await turns.enter()
        defer { turns.leave() }
        let key = RevocationKey(revocation)
        let wasPending = try await pending.pendingRevocations().contains { RevocationKey($0) == key }
        let wasShared = try await shared.lift(revocation.kind, revocation.value, of: revocation.issuer)
        guard wasShared || wasPending else { return false }
        do throws(StoreError) {
            try await pending.drop(key, recording: entry)
        } catch {
            if wasShared { try await shared.revoke(revocation) }
            throw error
        }
        return true
    }
}

/// The shared store together with the pending revocations.
extension SharedRevocations: RevocationStore {
    package func revoke(_ revocation: Revocation) async throws(StoreError) {
        try await shared.revoke(revocation)
    }

    package func lift(
        _ kind: Revocation.Kind, _ value: String, of issuer: String?
    ) async throws(StoreError) -> Bool {
        try await shared.lift(kind, value, of: issuer)
    }

    package func revocation(
        _ kind: Revocation.Kind, _ value: String, of issuer: String?
    ) async throws(StoreError) -> Revocation? {
        let key = RevocationKey(kind: kind.rawValue, issuer: issuer ?? "", value: value)
        if let own = try await pending.pendingRevocations().first(where: { RevocationKey($0) == key }) { return own }
        return try await shared.revocation(kind, value, of: issuer)
    }

    /// Returns a page of revocations. The last page has the pending ones too.
    package func revocations(after key: RevocationKey?, limit: Int) async throws(StoreError) -> RevocationPage {
        var page = try await shared.revocations(after: key, limit: limit)
        guard page.next == nil else { return page }
        let own = try await pending.pendingRevocations()
        let keys = Set(own.map { RevocationKey($0) })
        page.revocations = page.revocations.filter { !keys.contains(RevocationKey($0)) } + own
        return page
    }

    package func newestRevocations(limit: Int) async throws(StoreError) -> [Revocation] {
        let own = try await pending.pendingRevocations().sorted { $0.revokedAt > $1.revokedAt }
        let keys = Set(own.map { RevocationKey($0) })
        let others = try await shared.newestRevocations(limit: limit)
        return Array((own + others.filter { !keys.contains(RevocationKey($0)) }).prefix(limit))
    }

    package func revocationPosition() async throws(StoreError) -> RevocationPosition {
        try await shared.revocationPosition()
    }

    /// Returns the changes in the store, followed by the pending revocations.
    ///
    /// While any revocation is pending, the returned position stays before the last page. So that page is read again,
    /// in the store's own order, once the store has all revocations. Earlier pages are complete by themselves: what is
    /// pending now gets a later place in that order.
    package func revocationChanges(
        after position: RevocationPosition, limit: Int
    ) async throws(StoreError) -> RevocationNews {
        await shareAll()
        let before = try await pending.pendingRevocations()
        let news = try await shared.revocationChanges(after: position, limit: limit)
        // If there are more pages, the caller must read them now: while the database can only be read, revocations stay
        // pending, and the position would never pass them.
        guard case .changes(let changes, _, isComplete: true) = news else { return news }
        let own = try await pending.pendingRevocations()
        let all = own + before.filter { !own.contains($0) }
        guard !all.isEmpty else { return news }
        return .changes(changes + all.map { .revoked($0) }, through: position, isComplete: true)
    }
}

/// A lock for asynchronous callers: it admits one at a time, in the order in which they came.
private final class Turns: Sendable {
    private struct State {
        var isTaken = false
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Mutex(State())

    func enter() async {
        await withCheckedContinuation { caller in
            let isFree = state.withLock { state in
                guard state.isTaken else {
                    state.isTaken = true
                    return true
                }
                state.waiting.append(caller)
                return false
            }
            if isFree { caller.resume() }
        }
    }

    func leave() {
        let next = state.withLock { state -> CheckedContinuation<Void, Never>? in
            guard state.waiting.isEmpty else { return state.waiting.removeFirst() }
            state.isTaken = false
            return nil
        }
        next?.resume()
    }
}
