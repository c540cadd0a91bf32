import ByteCoding
package import Entitlements
import EventLoops
import FairPlay
import KeyCrypto
package import POSIXSockets
package import Records
import Telemetry

/// Decides which requests go on, in one order:
///
///     rate of the address -> token -> revocations -> clock -> container of the SPC -> rate of the subject
///         -> waiting room
///
/// The rate of the address comes first, because checking it costs nothing. A subject is counted only after its token's
/// signature was verified, so that strangers cannot use up its rate. Both rates refuse immediately, because the party
/// that exceeds one is alone the cause. The rate of all requests together is no single party's fault: there a request
/// waits for its turn. While the clock is behind, only renewals by session tokens pass.
///
/// Belongs to the loop of its pipeline. Only `waitForTurn` and `check` suspend.
package final class AdmissionControl {
    private let crypto: CryptoContext
    private let buckets: RateBuckets
    private let revocations: KnownRevocations
    private let refusals: RefusalRecorder?
    private let pseudonyms: Pseudonymizer?
    private let room: RateRoom
    private let trustedClock: TrustedClock?
    /// Nil if no accelerator checks signatures.
    private let signatures: SignatureQueue?

    init(_ shared: SharedLicensing, using crypto: CryptoContext, on loop: LoopContext) {
        self.crypto = crypto
        buckets = shared.buckets
        revocations = shared.revocations
        refusals = shared.refusals
        pseudonyms = shared.pseudonyms
        trustedClock = shared.trustedClock
        room = RateRoom(shared.buckets.all, shared.overload, shared.clock, on: loop)
        signatures = shared.accelerator.map { SignatureQueue(verifier: AcceleratedES256Verifier($0), on: loop) }
    }

    /// Admits a request that asks for a license or brings a sync report. `now` is in seconds since 1970.
    package func admit(
        _ request: LicenseRequest, presenting carriers: TokenCarriers, under rules: LicenseRules, now: Int64
    ) throws(LicenseError) -> Admission {
        try admit(
            request,
            of: try admitSender(
                presenting: carriers, from: request.origin, renewal: request.renewal, under: rules, now: now,
                id: request.id))
    }

    /// Admits the head of a request for licenses: its address and its token. `admit(_:of:)` goes on with its SPCs.
    package func admitSender(
        presenting carriers: TokenCarriers, from origin: RequestOrigin, renewal: RenewalWish, under rules: LicenseRules,
        now: Int64, id: String?
    ) throws(LicenseError) -> LicenseSender {
        try admit(from: origin.address, under: rules)
        guard let token = try token(in: carriers, rules) else { throw .tokenMissing }
        if let callback = rules.callback, callback.decides(token) {
            try checkClock()
            return LicenseSender(
                token: token, standing: .undecided(callback), origin: origin, renewal: renewal, rules: rules)
        }
        let (decisive, held) = try verify(
            token, from: origin, isRenewal: renewal.isRenewal, under: rules, now: now, id: id)
        if held.claims.renewal == nil { try checkClock() }
        return LicenseSender(
            token: decisive, standing: .verified(held), origin: origin, renewal: renewal, rules: rules)
    }

    /// Admits the only SPC of a request. Reads the container first, so that a request without an SPC uses up no rate.
    package func admit(_ request: LicenseRequest, of sender: LicenseSender) throws(LicenseError) -> Admission {
        let admission = try Admission(
            request, by: sender.token, sender.standing, under: sender.rules, pseudonyms: pseudonyms)
        admission.credentialKey.use.note()
        try count(admission, of: sender)
        return admission
    }

    /// Admits the SPCs of one request, each on its own.
    ///
    /// Each SPC is counted in the rates, because each one costs an RSA operation. The rate of the address has already
    /// counted the first one. Throws if a rate refuses the first SPC whose container is good.
    package func admit(
        _ requests: [LicenseRequest], of sender: LicenseSender
    ) throws(LicenseError) -> [Result<Admission, LicenseError>] {
        var hasPlace = false
        var admissions: [Result<Admission, LicenseError>] = []
        for request in requests {
            let admission: Admission
            do throws(LicenseError) {
                admission = try Admission(
                    request, by: sender.token, sender.standing, under: sender.rules, pseudonyms: pseudonyms)
            } catch {
                admissions.append(.failure(error))
                continue
            }
            admission.credentialKey.use.note()
            guard hasPlace else {
                try count(admission, of: sender)
                hasPlace = true
                admissions.append(.success(admission))
                continue
            }
            admissions.append(further(admission, of: sender))
        }
        return admissions
    }

    /// Admits one more SPC of a request whose first SPC was counted. If a rate refuses it, only this SPC is refused.
    private func further(_ admission: Admission, of sender: LicenseSender) -> Result<Admission, LicenseError> {
        do throws(LicenseError) {
            try admit(from: sender.origin.address, under: sender.rules)
            try count(admission, of: sender)
            return .success(admission)
        } catch {
            return .failure(error)
        }
    }

    private func count(_ admission: Admission, of sender: LicenseSender) throws(LicenseError) {
        switch sender.standing {
        case .verified(let held):
            try count(held.claims, of: sender.token, isRenewal: admission.isRenewal, sender.rules)
        case .undecided(let callback): try bound(sender.token, from: sender.origin.address, by: callback)
        }
    }

    /// Counts a request that reports ended sessions, as it counts a request for a license.
    package func count(reportOf sender: LicenseSender) throws(LicenseError) {
        guard case .verified(let held) = sender.standing else { return }
        try count(held.claims, of: sender.token, isRenewal: false, sender.rules)
    }

    /// Admits a request that costs no RSA operation.
    ///
    /// A token that only the operator's service can read is admitted too. It counts against the rates of SPCs that are
    /// opened for unverified tokens.
    package func admitSender(
        presenting carriers: TokenCarriers, from origin: RequestOrigin, under rules: LicenseRules, now: Int64,
        id: String? = nil
    ) throws(LicenseError) -> TokenSender {
        try admit(from: origin.address, under: rules)
        guard let token = try token(in: carriers, rules) else { throw .tokenMissing }
        if let callback = rules.callback, callback.decides(token) {
            try checkClock()
            try bound(token, from: origin.address, by: callback)
            let party = try wrap(LicenseError.internalFailure, try callback.party(of: token, using: crypto))
            return TokenSender(token: token, standing: .undecided(callback), party: party, origin: origin, rules: rules)
        }
        let (decisive, held) = try verify(
            token, from: origin, isRenewal: false, under: rules, now: now, id: id)
        let party = try party(held.claims, of: decisive)
        try count(party, isRenewal: false, rules)
        return TokenSender(token: decisive, standing: .verified(held), party: party, origin: origin, rules: rules)
    }

    /// Whether a request is refused by its head alone, before its body is read.
    ///
    /// This is so if its address has used up its rate, or if it presents no token that this server accepts. A token
    /// that only the operator's service can read is not judged here. `mayBringToken` says that a token may come with
    /// the body.
    ///
    /// Counts nothing: `admit` counts the request later. A good token is remembered, so checking it twice costs one
    /// verification of its signature.
    package func refusesHead(
        presenting carriers: TokenCarriers, from address: IPAddress?, under rules: LicenseRules,
        mayBringToken: Bool = false, now: Int64
    ) -> Bool {
        if isTooOften(address, under: rules) { return true }
        do throws(LicenseError) {
            guard let token = try token(in: carriers, rules) else { return !mayBringToken }
            if let callback = rules.callback, callback.decides(token) { return false }
            // Of several tokens, a renewal may be decided by another one. The head does not say whether it is one.
            if isAccepted(token, isRenewal: false, under: rules, now: now) { return false }
            guard token.tokens.count > 1 else { return true }
            return !isAccepted(token, isRenewal: true, under: rules, now: now)
        } catch {
            return true
        }
    }

    private func isAccepted(
        _ token: PresentedToken, isRenewal: Bool, under rules: LicenseRules, now: Int64
    ) -> Bool {
        do throws(LicenseError) {
            try revocations.check(
                try decide(token, isRenewal: isRenewal, under: rules, now: now).held.claims, now: now)
            return true
        } catch {
            return false
        }
    }

    // MARK: Signatures ahead

    /// Whether an accelerator can check signatures before requests are admitted.
    package var checksSignaturesAhead: Bool { signatures?.isCollecting == true }

    /// The signatures of a request's tokens that can be checked in a batch before the request is admitted. There are
    /// none if nothing new is in the tokens, and if the address has used up its rate. To ask is worth it only if
    /// `checksSignaturesAhead`. `carriers` gets the token that was found.
    package func pendingSignatures(
        presenting carriers: inout TokenCarriers, from address: IPAddress?, under rules: LicenseRules, now: Int64
    ) -> [PendingSignature] {
        guard !isTooOften(address, under: rules), let presented = try? token(in: carriers, rules) else { return [] }
        carriers = carriers.with(found: presented)
        guard rules.callback?.decides(presented) != true else { return [] }
        return presented.tokens.compactMap { token in
            rules.entitlement.tokens.pendingSignature(of: token, now: now, crypto: crypto)
        }
    }

    /// Checks signatures together with those of other requests, so that the tokens' verification needs no check of its
    /// own.
    package func check(_ pending: [PendingSignature], under rules: LicenseRules) async {
        guard let signatures else { return }
        for signature in pending { await signatures.check(signature, for: rules.entitlement.tokens) }
    }

    /// Whether the address has used up its rate. Counts nothing.
    private func isTooOften(_ address: IPAddress?, under rules: LicenseRules) -> Bool {
        guard let rate = rules.rates.perAddress, let address else { return false }
        return buckets.addresses.wait(of: address.subscriber, at: rate) != nil
    }

    /// Counts a request of an address. For a request without a token there is nothing else to count.
    package func admit(from address: IPAddress?, under rules: LicenseRules) throws(LicenseError) {
        guard let rate = rules.rates.perAddress, let address,
            let wait = buckets.addresses.take(address.subscriber, at: rate)
        else { return }
        throw .tooOften(.address, wait)
    }

    /// Waits until the rate of all requests together allows this one. Renewals go first. Throws `overloaded` if the
    /// wait is too long.
    func waitForTurn(of admission: Admission) async throws(LicenseError) {
        try await waitForTurn(isRenewal: admission.isRenewal, admission.rules)
    }

    /// Does the same for a request that costs no RSA operation.
    package func waitForTurn(of sender: TokenSender) async throws(LicenseError) {
        try await waitForTurn(isRenewal: false, sender.rules)
    }

    private func waitForTurn(isRenewal: Bool, _ rules: LicenseRules) async throws(LicenseError) {
        guard let rate = rules.rates.all else { return }
        guard await room.enter(at: rate, isUrgent: isRenewal, limits: rules.overload) else { throw .overloaded }
    }

    private func checkClock() throws(LicenseError) {
        if let trustedClock, trustedClock.isBehind { throw .clockUntrusted }
    }

    // MARK: Refusals

    /// What is known of a request that its head, or the container of its SPC, has refused: where it came from, whose
    /// token it is, and what was found. Verifies no signature, unless the token was verified before and is forgotten.
    package func facts(
        of error: LicenseError, presenting carriers: TokenCarriers, from origin: RequestOrigin,
        under rules: LicenseRules, now: Int64
    ) -> RefusalFacts {
        var facts = facts(from: origin, under: rules)
        facts.add(CheckedValues(error, from: origin, carriers, under: rules))
        // An address that asks too often is refused before anything of the request is looked at.
        if case .rateLimited(.address, _) = error { return facts }
        guard let presented = try? token(in: carriers, rules), rules.callback?.decides(presented) != true else {
            return facts
        }
        for token in presented.tokens {
            if let claims = claims(of: token, refusedFor: error, under: rules, now: now) {
                facts.add(claims, pseudonyms)
                facts.add(revocationValues(of: claims, error, now: now))
            }
            guard case .entitlement(let refusal) = error else { continue }
            let diagnosis = rules.entitlement.tokens.verifier.diagnosis(of: token, refusedFor: refusal, now: now)
            facts[.tokenKey] = facts[.tokenKey] ?? diagnosis.keyID
            facts[.issuer] = facts[.issuer] ?? diagnosis.issuer
            facts.add(diagnosis.values)
        }
        return facts
    }

    /// Where a request came from, and the player's own names.
    package func facts(from origin: RequestOrigin, under rules: LicenseRules) -> RefusalFacts {
        RefusalFacts(origin, rules, pseudonyms)
    }

    /// The claims of a token that was verified before.
    ///
    /// New revocations empty the cache. A token that they refuse may be gone from it before its refusal is described,
    /// and is then verified again.
    private func claims(
        of token: [UInt8], refusedFor error: LicenseError, under rules: LicenseRules, now: Int64
    ) -> Claims? {
        let tokens = rules.entitlement.tokens
        if let claims = tokens.remembered(token, crypto: crypto) { return claims }
        guard case .entitlement(let refusal) = error, refusal.isAboutRevocation else { return nil }
        return try? tokens.verify(token, now: now, crypto: crypto)
    }

    /// The same of one SPC among several, whose sender was admitted.
    package func facts(of error: LicenseError, from sender: LicenseSender) -> RefusalFacts {
        var facts = facts(from: sender)
        facts.add(CheckedValues(error, from: sender.origin, nil, under: sender.rules))
        return facts
    }

    /// What is known of a sender whose body cannot be read.
    package func facts(from sender: LicenseSender) -> RefusalFacts {
        var facts = RefusalFacts(sender.origin, sender.rules, pseudonyms)
        if case .verified(let held) = sender.standing { facts.add(held.claims, pseudonyms) }
        return facts
    }

    /// Which of the things that a token names is revoked, for a refusal that is about one of them.
    private func revocationValues(of claims: Claims, _ error: LicenseError, now: Int64) -> CheckedValues {
        guard case .entitlement(let refusal) = error, refusal.isAboutRevocation, let known = try? revocations.known()
        else { return CheckedValues() }
        return CheckedValues(found: known.revoked(by: claims, now: now), expected: "not revoked")
    }

    // MARK: Tokens

    private func token(in carriers: TokenCarriers, _ rules: LicenseRules) throws(LicenseError) -> PresentedToken? {
        if let found = carriers.found { return found }
        return try wrap(LicenseError.entitlement, try rules.entitlement.finder.token(in: carriers))
    }

    /// The token that decides, and its claims. Throws if anything that the claims name is revoked.
    private func verify(
        _ presented: PresentedToken, from origin: RequestOrigin, isRenewal: Bool, under rules: LicenseRules,
        now: Int64, id: String?
    ) throws(LicenseError) -> (token: PresentedToken, held: HeldClaims) {
        let (token, held) = try decide(presented, isRenewal: isRenewal, under: rules, now: now)
        do throws(LicenseError) {
            try revocations.check(held.claims, now: now)
        } catch {
            if let refusals {
                var facts = RefusalFacts(origin, rules, pseudonyms)
                facts.add(held.claims, pseudonyms)
                facts.add(revocationValues(of: held.claims, error, now: now))
                refusals.note(error, held.claims, facts, now: now, request: id)
            }
            throw error
        }
        return (token, held)
    }

    private func decide(
        _ presented: PresentedToken, isRenewal: Bool, under rules: LicenseRules, now: Int64
    ) throws(LicenseError) -> (token: PresentedToken, held: HeldClaims) {
        _ = try revocations.known()
        do throws(EntitlementError) {
            return try rules.entitlement.tokens.decide(presented, isRenewal: isRenewal, now: now, crypto: crypto)
        } catch {
            // A client must not throw away a good token because this node's clock is wrong.
            if error.isAboutTime { try checkClock() }
            throw .entitlement(error)
        }
    }

    /// Counts a request of the token's subject, or of the token itself if it names no subject.
    func count(
        _ claims: Claims, of token: PresentedToken, isRenewal: Bool, _ rules: LicenseRules
    ) throws(LicenseError) {
        guard rules.rates.perSubject != nil else { return }
        try count(try party(claims, of: token), isRenewal: isRenewal, rules)
    }

    /// A renewal may pass even if new licenses have used up the rate: a running playback should not stop because others
    /// begin.
    private func count(_ party: TokenParty, isRenewal: Bool, _ rules: LicenseRules) throws(LicenseError) {
        guard let rate = rules.rates.perSubject else { return }
        if let wait = buckets.subjects.take(party, at: rate, urgent: isRenewal) { throw .tooOften(.subject, wait) }
    }

    private func party(_ claims: Claims, of token: PresentedToken) throws(LicenseError) -> TokenParty {
        try wrap(LicenseError.internalFailure, try TokenParty(claims, of: token, using: crypto))
    }

    /// Limits how many RSA operations are spent for tokens that this server cannot verify.
    private func bound(
        _ token: PresentedToken, from address: IPAddress?, by callback: CallbackDecider
    ) throws(LicenseError) {
        _ = try CallbackDecider.single(token)
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
    /// Whether something that the token names is revoked.
    fileprivate var isAboutRevocation: Bool {
        [.tokenRevoked, .keyRevoked, .subjectDisabled, .deviceRevoked, .contentRevoked, .sessionKilled].contains(self)
    }

    /// Whether the same token may be good at another time.
    fileprivate var isAboutTime: Bool {
        if case .tokenExpired = self { return true }
        if case .tokenNotYetValid = self { return true }
        return false
    }
}

/// The token buckets that all loops share. They outlive a reload, so each request brings the rate that is in force.
final class RateBuckets: Sendable {
    /// How many addresses and subjects are remembered.
    private static let partyCapacity = 65_536
    /// The smallest capacity that a limiter allows, for a bucket with one party.
    private static let singleCapacity = 32

    let all: RateLimiter<Int>
    let addresses: RateLimiter<IPAddress>
    let subjects: RateLimiter<TokenParty>
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
    /// The wait is rounded up, because a client that comes back too early is refused again.
    fileprivate static func tooOften(_ party: RatedParty, _ wait: Duration) -> LicenseError {
        .rateLimited(party, retryAfterSeconds: wait.components.seconds + 1)
    }
}
