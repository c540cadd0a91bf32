import ByteCoding
import ContentKeys
import Entitlements
package import EventLoops
import KeyCrypto
package import Records
import Synchronization
package import Telemetry

/// Records refusals of requests with good tokens: a row for each refusal, as often as a rate allows, and a row that
/// counts the others.
///
/// One viewer gets a tenth of the rate, so that a viewer that is refused again and again leaves rows for others.
///
/// A refusal before the token is verified has no row, because strangers could fill the disk with such rows. A refusal
/// is answered without waiting for its row. A row that cannot be written does not change the answer.
package final class RefusalRecorder: Sendable {
    private let ledger: any Ledger
    private let pseudonyms: Pseudonymizer
    private let loop: LoopContext
    /// The rate of rows; nil if no refusal gets a row.
    private let rate: Rate?
    private let rows: RateLimiter<Int>
    private let viewers: RateLimiter<Pseudonym>
    private let hasRoom: @Sendable () -> Bool
    private let omitted = Atomic<UInt64>(0)
    private let omittedSinceLastRow = Atomic<UInt64>(0)

    /// `perSecond` is the rate of rows; 0 or less writes none. Rows are written from tasks on `loop`. While `hasRoom`
    /// returns false, the disk is nearly full and no row is written.
    package init(
        ledger: any Ledger, pseudonyms: Pseudonymizer, perSecond: Int, on loop: LoopContext,
        clock: any MonotonicClock = SystemMonotonicClock(), hasRoom: @escaping @Sendable () -> Bool = { true }
    ) {
        self.hasRoom = hasRoom
        self.ledger = ledger
        self.pseudonyms = pseudonyms
        self.loop = loop
        rate = perSecond > 0 ? Rate(perSecond: perSecond, burst: 2 * perSecond) : nil
        rows = RateLimiter(capacity: 32, clock: clock)
        viewers = RateLimiter(capacity: 4096, clock: clock)
    }

    /// How many refusals of good tokens have no row.
    package var omittedCount: UInt64 { omitted.load(ordering: .relaxed) }

    /// Records a refusal, with what is known about it.
    ///
    /// `asset` is what the SPC asked for, and `device` what its device stated, if it was opened. `now` is in seconds
    /// since 1970. `request` is the request id that was told to the client.
    func note(
        _ error: LicenseError, _ claims: Claims, _ facts: RefusalFacts = RefusalFacts(),
        asset: AssetReference? = nil, from device: DeviceSummary? = nil, now: Int64, request: String? = nil
    ) {
        // A store that fails takes no row either.
        if case .store = error { return omit(1) }
        guard let rate, hasRoom(), takesShare(claims, of: rate), rows.take(0, at: rate) == nil else { return omit(1) }
        let before = omittedSinceLastRow.exchange(0, ordering: .relaxed)
        guard
            let entries = entries(
                for: error, claims, facts, asset: asset, from: device, omitted: before, now: now, request: request)
        else {
            return omit(before + 1)
        }
        loop.spawn { [self] in
            do throws(StoreError) {
                for entry in entries { try await ledger.append(entry) }
            } catch {
                omit(before + 1)
            }
        }
    }

    /// Counts a refusal of the viewer, which is a subject of an issuer. Returns false if the viewer has used up its
    /// share. Refusals without a subject are limited only by the rate of all rows.
    private func takesShare(_ claims: Claims, of rate: Rate) -> Bool {
        // If the pseudonym fails, it fails for the row too.
        guard let subject = claims.subject,
            let viewer = try? pseudonyms.subject(issuer: claims.issuer, subject)
        else { return true }
        let share = Rate(perSecond: max(1, rate.perSecond / 10), burst: max(2, rate.perSecond / 2))
        return viewers.take(viewer, at: share) == nil
    }

    private func omit(_ count: UInt64) {
        omitted.add(1, ordering: .relaxed)
        omittedSinceLastRow.add(count, ordering: .relaxed)
    }

    private func entries(
        for error: LicenseError, _ claims: Claims, _ facts: RefusalFacts, asset: AssetReference?,
        from device: DeviceSummary?, omitted: UInt64, now: Int64, request: String?
    ) -> [LedgerEntry]? {
        do throws(CryptoError) {
            var entry = LedgerEntry(
                kind: .licenseRefused, at: now, license: try .naming(rowAt: now), detail: error.code.rawValue)
            entry.subject = try claims.subject.map { subject throws(CryptoError) in
                try pseudonyms.subject(issuer: claims.issuer, subject)
            }
            (entry.tokenID, entry.cookie, entry.request) = (claims.tokenID, claims.cookie, request)
            entry.facts = facts
            entry.stated = device
            entry.facts[.cause] = error.cause.line
            // The key that was found, or else what the SPC named.
            entry.content = facts[.content]
            entry.keyID = facts[.keyID].flatMap { try? KeyID(parsing: $0) }
            for candidate in asset?.candidates ?? [] {
                switch candidate {
                case .alias: continue
                case .keyID(let keyID): entry.keyID = entry.keyID ?? keyID
                case .contentID, .track: entry.content = entry.content ?? candidate.contentID?.text
                }
            }
            guard omitted > 0 else { return [entry] }
            return [
                LedgerEntry(
                    kind: .refusalsOmitted, at: now, license: try .naming(rowAt: now), detail: String(omitted)),
                entry,
            ]
        } catch {
            return nil
        }
    }
}
