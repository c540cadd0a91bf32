package import ContentKeys
import KeyCrypto
package import Licensing
package import Records

/// Where operators revoke and give back: each change is in the ledger before it is made.
///
/// A row whose change then failed tells of something that was not done; that is the lesser evil, and the operator hears of the failure.
package struct RevocationDesk: Sendable {
    package let store: any RevocationStore
    private let ledger: any Ledger
    private let names: RevocationNames

    package init(store: any RevocationStore, ledger: any Ledger, names: RevocationNames) {
        self.store = store
        self.ledger = ledger
        self.names = names
    }

    /// `now` is in seconds since 1970, here and below.
    package func add(_ order: RevocationOrder, now: Int64) async throws(StoreError) -> Revocation {
        let revocation = Revocation(
            kind: order.target.kind, issuer: order.target.issuer, value: try order.target.storedValue(names),
            until: order.until, revokedAt: now, reason: order.reason)
        try await ledger.append(entry(.revoked, revocation, order.target, now: now))
        try await store.revoke(revocation)
        return revocation
    }

    /// What was given back; nil where nothing of the kind was revoked.
    package func lift(_ target: RevocationTarget, now: Int64) async throws(StoreError) -> Revocation? {
        let value = try target.storedValue(names)
        let known = try await store.revocations(at: now).first {
            $0.kind == target.kind && $0.issuer == target.issuer && $0.value == value
        }
        guard let known else { return nil }
        try await ledger.append(entry(.revocationLifted, known, target, now: now))
        return try await store.lift(known.kind, known.value, of: known.issuer) ? known : nil
    }

    private func entry(
        _ kind: LedgerEntry.Kind, _ revocation: Revocation, _ target: RevocationTarget, now: Int64
    ) throws(StoreError) -> LedgerEntry {
        let id: LicenseID
        do throws(CryptoError) { id = try .naming(rowAt: now) } catch { throw .cryptographyFailed }
        var entry = LedgerEntry(kind: kind, at: now, license: id, detail: revocation.kind.rawValue)
        entry.until = revocation.until
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
    /// With a question mark for each character that is not printable ASCII.
    fileprivate var inASCII: String {
        String(String.UnicodeScalarView(unicodeScalars.map { (0x20..<0x7F).contains($0.value) ? $0 : "?" }))
    }
}
