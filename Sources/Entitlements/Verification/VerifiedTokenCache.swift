package import KeyCrypto
import Synchronization
package import Telemetry

/// Caches the claims of verified tokens, so that many requests with the same token need only one signature check.
///
/// Only accepted tokens are cached. An entry is found by the SHA-256 of the whole token. On each hit, its times and the
/// retirement of its key are checked again, so that the cache never extends the life of a token. A new verifier begins
/// with an empty cache, so that a token which only the old verifier accepts cannot get into it. The cache holds at most
/// `capacity` tokens, and can be used by several threads at the same time.
///
/// Beside the claims, it remembers what was found about the last ES256 signatures: the valid ones that were checked in
/// a batch before their tokens are verified, and the invalid ones, so that a forged token costs one check, and not one
/// each time that it comes.
package final class VerifiedTokenCache: Sendable {
    package static let capacityDefault = 16_384

    /// The rules of session tokens; nil if this server does not use session tokens.
    package let sessions: SessionTokens?
    private let state: Mutex<State>
    private let lookups: CacheCount

    private struct State {
        var entries: RecentTokens<HeldClaims>
        var verdicts: RecentTokens<SignatureVerdict>
        /// Verifies tokens that are not in the cache.
        var verifier: TokenVerifier

        mutating func removeAll() {
            entries.removeAll()
            verdicts.removeAll()
        }
    }

    /// More than the tokens that wait for their verification at one time.
    private static let verdictCapacity = 4096

    /// `capacity` is at least 1. `lookups` goes on from the cache before.
    package init(verifier: TokenVerifier, capacity: Int = capacityDefault, lookups: CacheCount = CacheCount()) {
        sessions = verifier.sessions
        self.lookups = lookups
        state = Mutex(
            State(
                entries: RecentTokens(capacity: capacity), verdicts: RecentTokens(capacity: Self.verdictCapacity),
                verifier: verifier))
    }

    /// Verifies tokens that are not in the cache.
    package var verifier: TokenVerifier { state.withLock { $0.verifier } }

    /// Replaces the issuers of the verifier, and removes all entries.
    ///
    /// Tokens that are being verified at this moment are not added afterwards. Nothing else of the verifier changes.
    package func replaceIssuers(with issuers: IssuerSet) {
        let removed = state.withLock { state in
            let old = state
            state.verifier = TokenVerifier(
                issuers: issuers, enforced: old.verifier.enforced, sessions: old.verifier.sessions)
            state.removeAll()
            return old
        }
        // The entries are freed here, because requests wait for the lock.
        _ = consume removed
    }

    /// The number of cached tokens.
    package var count: Int {
        state.withLock { $0.entries.count }
    }

    /// Returns the claims of a token at `now`, in seconds since 1970. `crypto` belongs to the calling thread.
    ///
    /// Throws the errors of `TokenVerifier.verify`, and `cryptoFailed`.
    package func verify(_ token: [UInt8], now: Int64, crypto: CryptoContext) throws(EntitlementError) -> Claims {
        try held(token, now: now, crypto: crypto).claims
    }

    private func held(_ token: [UInt8], now: Int64, crypto: CryptoContext) throws(EntitlementError) -> HeldClaims {
        guard token.count <= Token.sizeMaximum else { throw .tokenMalformed(.tooLarge(size: token.count)) }
        let digest = try Self.digest(of: token, crypto)
        let (known, verdict, generation, verifier) = state.withLock { state in
            let known = state.entries.value(for: digest)
            let verdict = known == nil ? state.verdicts.value(for: digest) : nil
            return (known, verdict, state.entries.generation, state.verifier)
        }
        lookups.note(isHit: known != nil)
        if let known {
            try verifier.check(known.claims, now: now)
            return known
        }
        do throws(EntitlementError) {
            let claims = HeldClaims(try verifier.verify(token, now: now, knowing: verdict), of: digest)
            state.withLock { $0.entries.insert(claims, for: digest, verifiedIn: generation) }
            return claims
        } catch {
            if case .signatureInvalid = error, verdict == nil,
                let (_, key) = verifier.es256Key(of: token, now: now)
            {
                let forged = SignatureVerdict(key: key, isValid: false)
                state.withLock { $0.verdicts.insert(forged, for: digest, verifiedIn: generation) }
            }
            throw error
        }
    }

    /// Returns the check of a token's signature, for a batch: if nothing is known of the token, and if it names a good
    /// key of ES256. `crypto` belongs to the calling thread.
    package func pendingSignature(of token: [UInt8], now: Int64, crypto: CryptoContext) -> PendingSignature? {
        guard token.count <= Token.sizeMaximum, let digest = try? Self.digest(of: token, crypto) else { return nil }
        let (isKnown, generation, verifier) = state.withLock { state in
            let isKnown = state.entries.value(for: digest) != nil || state.verdicts.value(for: digest) != nil
            return (isKnown, state.entries.generation, state.verifier)
        }
        guard !isKnown, let check = verifier.es256Check(of: token, now: now, using: crypto) else { return nil }
        return PendingSignature(check: check, token: digest, generation: generation)
    }

    /// Remembers what a check has found, for the verification of its token.
    package func settle(_ pending: PendingSignature, isValid: Bool) {
        let verdict = SignatureVerdict(key: pending.check.key, isValid: isValid)
        state.withLock { $0.verdicts.insert(verdict, for: pending.token, verifiedIn: pending.generation) }
    }

    /// The claims of a token that was verified before, although it may have expired since; nil if it is not remembered.
    package func remembered(_ token: [UInt8], crypto: CryptoContext) -> Claims? {
        guard let digest = try? Self.digest(of: token, crypto) else { return nil }
        return state.withLock { $0.entries.value(for: digest) }?.claims
    }

    /// Returns the claims of the token that decides about a request. Throws the errors of `decide`.
    package func verify(
        _ presented: PresentedToken, now: Int64, crypto: CryptoContext
    ) throws(EntitlementError) -> Claims {
        try decide(presented, isRenewal: false, now: now, crypto: crypto).held.claims
    }

    /// Returns the token that decides about a request, and its claims.
    ///
    /// A list may have one content token and one session token. The content token decides, unless the request is a
    /// renewal, or the content token or its key has ended. If the session has ended or belongs to another server, the
    /// content token decides. Throws the errors for a single token, and `tokenAmbiguous` for two tokens of one kind.
    package func decide(
        _ presented: PresentedToken, isRenewal: Bool, now: Int64, crypto: CryptoContext
    ) throws(EntitlementError) -> (token: PresentedToken, held: HeldClaims) {
        guard let first = presented.tokens.first else { throw .tokenMalformed(.notThreeParts) }
        guard presented.tokens.count > 1 else { return (presented, try held(first, now: now, crypto: crypto)) }
        var list = TokenList(source: presented.source)
        for token in presented.tokens {
            do throws(EntitlementError) {
                try list.add(token, try held(token, now: now, crypto: crypto))
            } catch {
                try list.note(error)
            }
        }
        return try list.decisive(isRenewal: isRenewal)
    }

    /// Removes all entries. Tokens that are being verified at this moment are not added afterwards.
    ///
    /// It is called when revocations change.
    package func removeAll() {
        state.withLock { $0.removeAll() }
    }

    private static func digest(of token: [UInt8], _ crypto: CryptoContext) throws(EntitlementError) -> TokenDigest {
        do throws(CryptoError) {
            return try TokenDigest(of: token, using: crypto)
        } catch {
            throw .cryptoFailed
        }
    }
}

/// Collects the tokens of one list while they are verified one after another.
private struct TokenList {
    typealias Verified = (token: PresentedToken, held: HeldClaims)

    let source: TokenSource
    private var content: Verified?
    private var session: Verified?
    /// The reason for which a content token of the list is left out. It is thrown if the other token does not count
    /// either.
    private var contentFault: EntitlementError?
    private var sessionFault: EntitlementError?

    init(source: TokenSource) {
        self.source = source
    }

    mutating func add(_ token: [UInt8], _ held: HeldClaims) throws(EntitlementError) {
        let verified = (PresentedToken(source: source, tokens: [token]), held)
        guard (held.claims.renewal == nil ? content : session) == nil else { throw .tokenAmbiguous }
        if held.claims.renewal == nil { content = verified } else { session = verified }
    }

    /// Notes the fault of a token. Throws it, unless another token of the list can decide in its place.
    mutating func note(_ fault: EntitlementError) throws(EntitlementError) {
        switch fault {
        case .sessionEnded, .sessionOfAnotherServer: sessionFault = fault
        // The session token is this server's own. Whether its session needs that key is judged by itself.
        case .tokenExpired, .keyUnknown, .keyRetired, .keysUnavailable: contentFault = fault
        default: throw fault  // Every other fault is thrown, as for a single token.
        }
    }

    func decisive(isRenewal: Bool) throws(EntitlementError) -> Verified {
        if let verified = isRenewal ? session ?? content : content ?? session { return verified }
        throw contentFault ?? sessionFault ?? .tokenMalformed(.notThreeParts)
    }
}
