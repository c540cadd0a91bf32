package import ContentKeys
package import Records
import Synchronization

/// The revocations of one node among many: all nodes' store, and what this node has revoked and that store has not
/// taken yet.
///
/// A revocation is durable on this node, with the row of its ledger, before the shared store hears of it. So it holds
/// here at once even while the database is away, and the node brings it there later: with each look for changes, and
/// after a restart.
package final class SharedRevocations: Sendable {
    private let shared: any RevocationStore
    private let pending: any PendingRevocations
    private let turns = Turns()

    package init(shared: any RevocationStore, pending: any PendingRevocations) {
        self.shared = shared
        self.pending = pending
    }

    /// Brings the store what it has not taken yet, as far as it takes it.
    private func shareAll() async {
        do throws(StoreError) {
            for revocation in try await pending.pendingRevocations() {
                guard await share(revocation) else { return }
            }
        } catch {
            // They stay pending, and hold on this node: `revocationChanges` names them each time.
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
            // One that was lifted while this one waited for its turn must not come back.
            guard try await pending.pendingRevocations().contains(revocation) else { return true }
            try await shared.revoke(revocation)
            try await pending.drop(revocation)
            return true
        } catch {
            return false
        }
    }

    /// The store's answer comes first: a row says only what has happened. If the row cannot be written, the revocation
    /// is put back.
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

/// What the shared store has, with what is pending beside it.
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

    /// What is pending comes with the last page.
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

    /// As long as anything is pending, it follows the store's changes, and the position stays where it was: the changes
    /// are read again once the store has all of them, in the order in which it took them.
    package func revocationChanges(
        after position: RevocationPosition, limit: Int
    ) async throws(StoreError) -> RevocationNews {
        await shareAll()
        let before = try await pending.pendingRevocations()
        let news = try await shared.revocationChanges(after: position, limit: limit)
        guard case .changes(let changes, _, _) = news else { return news }
        let own = try await pending.pendingRevocations()
        let all = own + before.filter { !own.contains($0) }
        guard !all.isEmpty else { return news }
        return .changes(changes + all.map { .revoked($0) }, through: position, isComplete: true)
    }
}

/// Lets one caller after the other do what must not happen at the same time, in the order in which they came.
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
