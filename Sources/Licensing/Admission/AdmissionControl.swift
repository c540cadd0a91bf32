import ByteCoding
package import Entitlements
import EventLoops
import KeyCrypto
package import POSIXSockets
import Telemetry

/// Decides which requests go on, in one order:
///
///     rate of the address -> token -> revocations -> clock -> container of the SPC -> rate of the subject -> waiting room
///
/// The address comes first, because its rate costs nothing to check. A subject is counted only once a signature vouches for it, so that
/// strangers use up no subject's rate. Both rates refuse at once: the party that exceeds one is alone the cause. The rate of all requests
/// together is no single party's fault, so there a request waits for its turn. While the clock is behind, only renewals by session tokens
/// pass.
///
/// Belongs to the loop of its pipeline. Everything but `waitForTurn` is done at once.
package final class AdmissionControl {
    private let crypto: CryptoContext
    private let buckets: RateBuckets
    private let revocations: KnownRevocations
    private let refusals: RefusalRecorder?
    private let room: RateRoom
    private let trustedClock: TrustedClock?

    init(_ shared: SharedLicensing, using crypto: CryptoContext, on loop: LoopContext) {
        self.crypto = crypto
        buckets = shared.buckets
        revocations = shared.revocations
        refusals = shared.refusals
        trustedClock = shared.trustedClock
        room = RateRoom(shared.buckets.all, shared.overload, shared.clock, on: loop)
    }

    /// Admits a request for a licence or with a sync report. `now` is in seconds since 1970.
    package func admit(
        _ request: LicenseRequest, presenting carriers: TokenCarriers, under rules: LicenseRules, now: Int64
    ) throws(LicenseError) -> Admission {
        try admit(from: request.origin.address, under: rules)
        return try admit(request, by: try token(in: carriers, rules), under: rules, now: now)
    }

    /// The same once the address is counted and the token found.
    package func admit(
        _ request: LicenseRequest, by token: PresentedToken?, under rules: LicenseRules, now: Int64
    ) throws(LicenseError) -> Admission {
        if let callback = rules.callback, let token, callback.decides(token) {
            try checkClock()
            // The container comes first: no rate is used up by a request without an SPC.
            let admission = try Admission(request, by: token, .undecided(callback), under: rules)
            try bound(token, from: request.origin.address, by: callback)
            return admission
        }
        guard let token else { throw .tokenMissing }
        let claims = try verify(token, under: rules, now: now, id: request.id)
        if claims.renewal == nil { try checkClock() }
        let admission = try Admission(request, by: token, .verified(claims), under: rules)
        try count(claims, isRenewal: admission.isRenewal, rules)
        return admission
    }

    /// Admits a request that costs no RSA, as long as its sender has a token of this server's issuers.
    /// `id` is the request's, for the row of a refusal.
    package func admitHolder(
        presenting carriers: TokenCarriers, from origin: RequestOrigin, under rules: LicenseRules, now: Int64,
        id: String? = nil
    ) throws(LicenseError) -> TokenHolder {
        try admit(from: origin.address, under: rules)
        guard let token = try token(in: carriers, rules) else { throw .tokenMissing }
        let claims = try verify(token, under: rules, now: now, id: id)
        try count(claims, isRenewal: false, rules)
        return TokenHolder(claims: claims, origin: origin, rules: rules)
    }

    /// Whether a request is refused whatever its body holds: its address has used up its rate, or it presents no token that this server
    /// accepts. A token that only the operator's service can read is not judged here.
    ///
    /// Counts nothing: `admit` counts the request, with its body or with its refusal. A good token is remembered, so looking at it twice
    /// costs one signature.
    package func refusesHead(
        presenting carriers: TokenCarriers, from address: IPAddress?, under rules: LicenseRules, now: Int64
    ) -> Bool {
        if let rate = rules.rates.perAddress, let address,
            buckets.addresses.wait(of: address.subscriber, at: rate) != nil
        {
            return true
        }
        do throws(LicenseError) {
            guard let token = try token(in: carriers, rules) else { return true }
            if let callback = rules.callback, callback.decides(token) { return false }
            let claims = try claims(of: token, under: rules, now: now)
            try revocations.check(claims, now: now)
            return false
        } catch {
            return true
        }
    }

    /// Counts a request of an address: all that can be said of one that presents no token.
    package func admit(from address: IPAddress?, under rules: LicenseRules) throws(LicenseError) {
        guard let rate = rules.rates.perAddress, let address,
            let wait = buckets.addresses.take(address.subscriber, at: rate)
        else { return }
        throw .tooOften(.address, wait)
    }

    /// Waits until the rate of all requests together allows this one, renewals first. Throws `overloaded` if that takes too long.
    func waitForTurn(of admission: Admission) async throws(LicenseError) {
        try await waitForTurn(isRenewal: admission.isRenewal, admission.rules)
    }

    /// The same for a request that costs no RSA.
    package func waitForTurn(of holder: TokenHolder) async throws(LicenseError) {
        try await waitForTurn(isRenewal: false, holder.rules)
    }

    private func waitForTurn(isRenewal: Bool, _ rules: LicenseRules) async throws(LicenseError) {
        guard let rate = rules.rates.all else { return }
        guard await room.enter(at: rate, isUrgent: isRenewal, limits: rules.overload) else { throw .overloaded }
    }

    private func checkClock() throws(LicenseError) {
        if let trustedClock, trustedClock.isBehind { throw .clockUntrusted }
    }

    // MARK: Tokens

    private func token(in carriers: TokenCarriers, _ rules: LicenseRules) throws(LicenseError) -> PresentedToken? {
        try wrap(LicenseError.entitlement, try rules.entitlement.finder.token(in: carriers))
    }

    /// The claims of a token of which nothing is revoked.
    private func verify(
        _ token: PresentedToken, under rules: LicenseRules, now: Int64, id: String?
    ) throws(LicenseError) -> Claims {
        let claims = try claims(of: token, under: rules, now: now)
        do throws(LicenseError) {
            try revocations.check(claims, now: now)
        } catch {
            refusals?.note(error, claims, now: now, request: id)
            throw error
        }
        return claims
    }

    private func claims(
        of token: PresentedToken, under rules: LicenseRules, now: Int64
    ) throws(LicenseError) -> Claims {
        _ = try revocations.known()
        do throws(EntitlementError) {
            return try rules.entitlement.tokens.verify(token, now: now, crypto: crypto)
        } catch {
            // A client must not throw away a good token because the clock here is wrong.
            if error.isAboutTime { try checkClock() }
            throw .entitlement(error)
        }
    }

    /// A renewal may go on if new licences have used up the rate: a picture that runs should not stop because others begin. A token
    /// without a subject has nothing to count by.
    private func count(_ claims: Claims, isRenewal: Bool, _ rules: LicenseRules) throws(LicenseError) {
        guard let rate = rules.rates.perSubject, let name = claims.subject else { return }
        let subject = RateBuckets.Subject(issuer: claims.issuer, name: name)
        if let wait = buckets.subjects.take(subject, at: rate, urgent: isRenewal) { throw .tooOften(.subject, wait) }
    }

    /// Bounds how much RSA is bought by tokens that this server cannot verify.
    private func bound(
        _ token: PresentedToken, from address: IPAddress?, by callback: CallbackDecider
    ) throws(LicenseError) {
        try callback.refuseDenied(token, using: crypto)
        if let address,
            let wait = buckets.unverifiedAddresses.take(address.subscriber, at: callback.settings.ratePerAddress)
        {
            throw .tooOften(.unverifiedTokens, wait)
        }
        if let wait = buckets.unverified.take(0, at: callback.settings.rate) {
            throw .tooOften(.unverifiedTokens, wait)
        }
    }
}

extension EntitlementError {
    /// Whether the same token may be good at another time.
    fileprivate var isAboutTime: Bool {
        if case .tokenExpired = self { return true }
        if case .tokenNotYetValid = self { return true }
        return false
    }
}

/// What the loops count together. The buckets outlive a reload, and each event brings the rate that is in force.
final class RateBuckets: Sendable {
    /// How many addresses and subjects are remembered.
    private static let partyCapacity = 65_536
    /// The least that a limiter takes, for one party.
    private static let singleCapacity = 32

    struct Subject: Hashable {
        let issuer: String
        let name: String
    }

    let all: RateLimiter<Int>
    let addresses: RateLimiter<IPAddress>
    let subjects: RateLimiter<Subject>
    /// Requests whose tokens only the operator's service can read.
    let unverified: RateLimiter<Int>
    let unverifiedAddresses: RateLimiter<IPAddress>

    init(clock: any MonotonicClock) {
        all = RateLimiter(capacity: Self.singleCapacity, clock: clock)
        addresses = RateLimiter(capacity: Self.partyCapacity, clock: clock)
        subjects = RateLimiter(capacity: Self.partyCapacity, clock: clock)
        unverified = RateLimiter(capacity: Self.singleCapacity, clock: clock)
        unverifiedAddresses = RateLimiter(capacity: Self.partyCapacity, clock: clock)
    }
}

extension LicenseError {
    /// Rounded up: a client that comes back too early is refused again.
    fileprivate static func tooOften(_ party: RatedParty, _ wait: Duration) -> LicenseError {
        .rateLimited(party, retryAfterSeconds: wait.components.seconds + 1)
    }
}
