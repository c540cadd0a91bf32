import ByteCoding
package import ContentKeys
package import Entitlements
package import EventLoops
package import KeyCrypto
package import Records
import Synchronization
package import Telemetry

/// The pipelines of all loops, and the state that they share. Each request brings the `LicenseRules` that judge it.
package final class LicensePipelines: Sendable {
    /// What one loop has: its pipeline, or the reason why it has none.
    private final class LoopPart {
        let pipeline: Result<LicensePipeline, CryptoError>

        init(_ shared: SharedLicensing, on loop: LoopContext) {
            pipeline = Result { () throws(CryptoError) in try LicensePipeline(shared, on: loop) }
        }
    }

    private let shared: SharedLicensing
    private let perLoop: LoopLocal<LoopPart>

    package init(_ shared: SharedLicensing) {
        self.shared = shared
        perLoop = LoopLocal { loop in LoopPart(shared, on: loop) }
    }

    /// The pipeline of the loop on whose thread the caller runs.
    package func pipeline(on loop: LoopContext) throws(LicenseError) -> LicensePipeline {
        switch loop.value(of: perLoop).pipeline {
        case .success(let pipeline): return pipeline
        case .failure(let error): throw .internalFailure(error)
        }
    }

    /// Answers the SPCs of one request, and returns their outcomes in the same order.
    ///
    /// Each SPC waits for a turn of its own. All are unwrapped in one batch, and their decisions become durable in one
    /// commit. Throws if the request as a whole is refused.
    package func answer(
        _ admissions: [Admission], now: Int64, on loop: LoopContext
    ) async throws(LicenseError) -> [Result<LicenseOutcome, LicenseError>] {
        for admission in admissions {
            try await pipeline(on: loop).admissionControl.waitForTurn(of: admission)
        }
        let seats = DecisionCompany.seats(admissions.count, on: loop)
        return await withTaskGroup(of: (Int, Result<LicenseOutcome, LicenseError>).self) { group in
            for (index, seat) in seats.enumerated() {
                let admission = admissions[index].seated(at: seat)
                group.addTask { (index, await self.answer(admission, from: seat, now: now, on: loop)) }
            }
            var outcomes = admissions.map { _ in Result<LicenseOutcome, LicenseError>.failure(.overloaded) }
            for await (index, outcome) in group { outcomes[index] = outcome }
            return outcomes
        }
    }

    /// Runs as a child task of a loop's task, and so on the same loop.
    private func answer(
        _ admission: Admission, from seat: DecisionSeat, now: Int64, on loop: LoopContext
    ) async -> Result<LicenseOutcome, LicenseError> {
        defer { seat.leave() }
        do throws(LicenseError) {
            return .success(try await pipeline(on: loop).answerInTurn(admission, now: now))
        } catch {
            return .failure(error)
        }
    }

    /// Records sessions that a device reports as ended. `now` is in seconds since 1970.
    ///
    /// Without a recorder the outcome of each session is `failed`.
    package func record(
        _ sessions: [String], reportedBy sender: LicenseSender, now: Int64
    ) async -> [SessionReportOutcome] {
        guard let recorder = shared.recorder else { return sessions.map { _ in .failed } }
        return await recorder.record(sessions, reportedBy: sender, now: now)
    }

    /// The forms by which asset ids are read.
    package var assetForms: AssetForms { shared.keys.forms }

    package var queries: LicenseQueries { LicenseQueries(revocations: shared.revocations) }

    /// Returns an explainer of requests under these rules and the present revocations.
    package func explainer(under rules: LicenseRules) -> LicenseExplainer {
        LicenseExplainer(
            rules: rules, keys: shared.keys, periods: shared.periods,
            revocations: (try? shared.revocations.known()) ?? RevocationView(), operations: shared.operations,
            rentals: { [recorder = shared.recorder] claims, content, now async throws(StoreError) in
                try await recorder?.rental(of: claims, content, now: now)
            })
    }
}

/// The state that the pipelines of all loops share. It outlives a reload.
package struct SharedLicensing: Sendable {
    package let keys: RecentContentKeys
    /// Counts RSA private operations.
    let operations: RSAOperationCount
    /// Runs RSA private operations and checks of signatures side by side. If it is nil, OpenSSL runs them one after
    /// another.
    package var accelerator: CryptoAccelerator?
    /// The session keys of SPCs that were opened lately.
    let recentUnwraps: RecentUnwraps
    /// Counts requests that wait.
    let overload: OverloadCounts
    package let unwrapTimes = UnwrapTimes()
    let clock: any MonotonicClock
    let buckets: RateBuckets
    package let revocations: KnownRevocations

    /// If it is nil, no ledger is kept, and a token whose uses must be counted is refused.
    package var recorder: DecisionRecorder?
    package var refusals: RefusalRecorder?
    /// If it is nil, a refusal names no subject.
    package var pseudonyms: Pseudonymizer?
    /// If it is nil, the record of an offline renewal does not name the license before it.
    package var history: (any LicenseHistory)?
    /// If it is nil, no challenge is issued, and none is accepted.
    package var challenges: ServerChallenges?
    /// If it is nil, a playback that has stopped keeps its slot until its lease ends.
    package var slots: (any PlaybackSlotStore)?
    /// If it is nil, the wall clock is always trusted.
    package var trustedClock: TrustedClock?
    /// Which key periods of live contents are served. If it is nil, all of them are.
    package var livePeriods: RecentLivePeriods?

    /// Makes the backend of one loop.
    func makeUnwrapper() -> any RSAUnwrapper {
        guard let accelerator else { return OpenSSLRSAUnwrapper(counting: operations) }
        return AcceleratedRSAUnwrapper(accelerator, counting: operations)
    }

    var periods: ServedPeriods { ServedPeriods(recent: livePeriods, clock: trustedClock) }

    /// The look-ups of content keys by asset ids.
    package var keyLookups: CacheCount { keys.lookups }

    /// How many copies of SPCs were opened without an RSA operation of their own.
    package var copyCount: UInt64 { recentUnwraps.reusedCount }

    /// - Parameter copyLife: How long the session key of an SPC is remembered for copies of it.
    package init(
        keys: RecentContentKeys, operations: RSAOperationCount, overload: OverloadCounts = OverloadCounts(),
        revocations: KnownRevocations = KnownRevocations(), copyLife: Duration = .seconds(120),
        clock: any MonotonicClock = SystemMonotonicClock()
    ) {
        recentUnwraps = RecentUnwraps(life: copyLife)
        self.keys = keys
        self.operations = operations
        self.overload = overload
        self.revocations = revocations
        self.clock = clock
        buckets = RateBuckets(clock: clock)
    }
}

/// The present revocations. Until they are known for the first time, every token is refused.
package final class KnownRevocations: Sendable {
    private let view: Mutex<RevocationView?>
    private let clock: TrustedClock?
    private let standstill: Standstill?

    /// Without a clock, the time of each check decides whether a revocation has ended.
    package init(_ view: RevocationView? = nil, clock: TrustedClock? = nil, standstill: Standstill? = nil) {
        self.view = Mutex(view)
        self.clock = clock
        self.standstill = standstill
    }

    /// Replaces the revocations. Every check after this uses them, also for requests that are under way.
    package func replace(with view: RevocationView) {
        self.view.withLock { $0 = view }
    }

    /// Returns the revocations. Throws `store` before the first `replace`, and after a standstill until they have been
    /// read again.
    func known() throws(LicenseError) -> RevocationView {
        guard standstill?.isStale != true, var known = view.withLock({ $0 }) else {
            throw .store(.unavailable(.unreachable))
        }
        if let clock { known.settledTime = clock.endTime }
        return known
    }

    /// Throws if anything that the claims alone name is revoked.
    func check(_ claims: Claims, now: Int64) throws(LicenseError) {
        let known = try known()
        try wrap(LicenseError.entitlement, try known.check(claims, now: now))
    }
}

/// Answers questions about licenses that were given before.
package struct LicenseQueries: Sendable {
    let revocations: KnownRevocations

    /// Whether the holder's token would renew a license of the ledger at `now`. The device is not known, so its checks
    /// are left out. A session token renews only the license with which it was given.
    package func isRenewable(_ entry: LedgerEntry, by holder: TokenHolder, now: Int64) -> Bool {
        guard let facts = LicenseFacts(entry), facts.expiresAt != nil, let keyID = entry.keyID,
            let content = entry.content, let revocations = try? revocations.known()
        else { return false }
        let claims = holder.claims
        if let grant = claims.renewal, grant.license != entry.license.bytes { return false }
        var request = GateRequest(
            claims: claims, content: RequestedContent(contentID: content, keyID: keyID, trackLabels: []),
            use: facts.isPersistent ? .offline : .streaming, now: now)
        request.device = RequestingDevice(identifier: claims.device.pinned)
        request.origin = holder.origin
        request.rental = RentalStanding(memory: claims.renewal?.rental, isRunning: claims.renewal != nil)
        request.policy = holder.rules.entitlement.policy
        request.revocations = revocations
        return (try? Gate.authorize(request)) != nil
    }
}
