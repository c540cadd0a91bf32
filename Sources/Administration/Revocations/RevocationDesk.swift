package import ContentKeys
import KeyCrypto
package import Licensing
package import Records

/// Revokes, and lifts revocations, for operators. Each change is in the ledger with the operator's name. No row
/// describes a change that was not made.
package struct RevocationDesk: Sendable {
    private let store: any RevocationStore
    private let records: any RevocationRecords
    private let names: RevocationNames

    package init(store: any RevocationStore, records: any RevocationRecords, names: RevocationNames) {
        self.store = store
        self.records = records
        self.names = names
    }

    /// Revokes. Returns the revocation, and whether it is in the store of all nodes. If it is not, this node stores it
    /// there later.
    ///
    /// `hold` is called when the revocation is durable here, before other nodes are told. `now` is in seconds since
    /// 1970, as in the methods below; `actor` is as in `LedgerEntry`.
    package func add(
        _ order: RevocationOrder, by actor: String, now: Int64, hold: (Revocation) async -> Void = { _ in }
    ) async throws(StoreError) -> (revocation: Revocation, isShared: Bool) {
        let revocation = Revocation(
            kind: order.target.kind, issuer: order.target.issuer, value: try order.target.storedValue(names),
            until: order.until, revokedAt: now, reason: order.reason)
        try await records.revoke(
            revocation, recording: entry(.revoked, revocation, order.target, by: actor, now: now))
        await hold(revocation)
        return (revocation, await records.share(revocation))
    }

    /// Lifts a revocation and returns it; nil if there was none.
    package func lift(
        _ target: RevocationTarget, by actor: String, now: Int64
    ) async throws(StoreError) -> Revocation? {
        guard let known = try await known(target, at: now) else { return nil }
        let entry = try entry(.revocationLifted, known, target, by: actor, now: now)
        return try await records.lift(known, recording: entry) ? known : nil
    }

    /// The revocation of a target; nil if there is none. One that has ended is found too, but not by half of a digest.
    package func known(_ target: RevocationTarget, at now: Int64) async throws(StoreError) -> Revocation? {
        let value = try target.storedValue(names)
        return target.isHalf
            ? try await store.revocations(at: now).first { target.names($0, value) }
            : try await store.revocation(target.kind, value, of: target.issuer)
    }

    /// Returns at most `limit` of the newest revocations, the newest first.
    package func newest(limit: Int) async throws(StoreError) -> [Revocation] {
        try await store.newestRevocations(limit: limit)
    }

    /// Returns all revocations that have not ended at `now`.
    package func all(at now: Int64) async throws(StoreError) -> [Revocation] {
        try await store.revocations(at: now)
    }

    private func entry(
        _ kind: LedgerEntry.Kind, _ revocation: Revocation, _ target: RevocationTarget, by actor: String, now: Int64
    ) throws(StoreError) -> LedgerEntry {
        let id: LicenseID
        do throws(CryptoError) { id = try .naming(rowAt: now) } catch { throw .cryptographyFailed }
        var entry = LedgerEntry(kind: kind, at: now, license: id, detail: revocation.kind.rawValue)
        entry.until = revocation.until
        entry.actor = actor
        switch revocation.kind {
        case .tokenID: entry.tokenID = revocation.value
        case .content: entry.content = revocation.value
        case .subject: entry.subject = try target.pseudonym(names)
        case .hardware, .device: entry.device = try target.pseudonym(names)
        case .signingKey, .issuer, .session: entry.detail = "\(revocation.kind.rawValue) \(revocation.value.inASCII)"
        }
        return entry
    }
}

extension String {
    /// The text with a question mark for each character that is not printable ASCII.
    fileprivate var inASCII: String {
        String(String.UnicodeScalarView(unicodeScalars.map { (0x20..<0x7F).contains($0.value) ? $0 : "?" }))
    }
}
