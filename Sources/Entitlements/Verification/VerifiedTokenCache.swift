package import KeyCrypto
import Synchronization
package import Telemetry

/// Remembers what one verifier has verified, so that a token which many requests present costs one signature check.
///
/// Only what the verifier accepted gets in. An entry is found by the SHA-256 of the whole token, and its times are
/// checked again on each hit, and so is the retirement of its key: a token works no longer with the cache than without.
/// A new verifier has a cache of its own, so requests still under way with the old one cannot bring in what the new one
/// would refuse. The cache holds at most `capacity` tokens, however many are presented, and may be used by all threads
/// at once.
package final class VerifiedTokenCache: Sendable {
    package static let capacityDefault = 16_384

    /// Verifies tokens that are not remembered.
    package let verifier: TokenVerifier
    private let entries: Mutex<RecentClaims>
    private let lookups: CacheCount

    /// `capacity` is at least 1. `lookups` goes on from the cache before.
    package init(verifier: TokenVerifier, capacity: Int = capacityDefault, lookups: CacheCount = CacheCount()) {
        self.verifier = verifier
        self.lookups = lookups
        entries = Mutex(RecentClaims(capacity: capacity))
    }

    /// The session tokens that this server gives; nil if it gives none.
    package var sessions: SessionTokens? { verifier.sessions }

    /// How many tokens are remembered.
    package var count: Int {
        entries.withLock { $0.count }
    }

    /// The claims of a token at `now`, in seconds since 1970; `crypto` is the calling thread's own.
    ///
    /// Throws what `TokenVerifier.verify` throws, and `cryptoFailed`.
    package func verify(_ token: [UInt8], now: Int64, crypto: CryptoContext) throws(EntitlementError) -> Claims {
        guard token.count <= Token.sizeMaximum else { throw .tokenMalformed(.tooLarge(size: token.count)) }
        let digest = try Self.digest(of: token, crypto)
        let (known, generation) = entries.withLock { ($0.claims(for: digest), $0.generation) }
        lookups.note(isHit: known != nil)
        if let known {
            try verifier.check(known, now: now)
            return known
        }
        let claims = try verifier.verify(token, now: now)
        entries.withLock { $0.insert(claims, for: digest, verifiedIn: generation) }
        return claims
    }

    /// The claims of the token that decides about a request. Throws as `decide` does.
    package func verify(
        _ presented: PresentedToken, now: Int64, crypto: CryptoContext
    ) throws(EntitlementError) -> Claims {
        try decide(presented, isRenewal: false, now: now, crypto: crypto).claims
    }

    /// The one token that decides about a request, and its claims.
    ///
    /// A list may have one content token and one session token. The content token decides, unless the request is a
    /// renewal or the content token has expired. A session that has ended, or that another server keeps, leaves the
    /// decision to the content token. Throws as for one token, and `tokenAmbiguous` for two tokens of one kind.
    package func decide(
        _ presented: PresentedToken, isRenewal: Bool, now: Int64, crypto: CryptoContext
    ) throws(EntitlementError) -> (token: PresentedToken, claims: Claims) {
        guard let first = presented.tokens.first else { throw .tokenMalformed(.notThreeParts) }
        guard presented.tokens.count > 1 else { return (presented, try verify(first, now: now, crypto: crypto)) }
        var list = TokenList(source: presented.source)
        for token in presented.tokens {
            do throws(EntitlementError) {
                try list.add(token, try verify(token, now: now, crypto: crypto))
            } catch {
                try list.note(error)
            }
        }
        return try list.decisive(isRenewal: isRenewal)
    }

    /// Forgets everything, what is being verified at this moment included: for revocations.
    package func removeAll() {
        entries.withLock { $0.removeAll() }
    }

    private static func digest(of token: [UInt8], _ crypto: CryptoContext) throws(EntitlementError) -> TokenDigest {
        do throws(CryptoError) {
            return TokenDigest(try crypto.sha256(token))
        } catch {
            throw .cryptoFailed
        }
    }
}

/// The tokens of one list, as they are verified one after another.
private struct TokenList {
    typealias Verified = (token: PresentedToken, claims: Claims)

    let source: TokenSource
    private var content: Verified?
    private var session: Verified?
    /// Why a token of the list does not count; it is thrown if no other one does.
    private var contentFault: EntitlementError?
    private var sessionFault: EntitlementError?

    init(source: TokenSource) {
        self.source = source
    }

    mutating func add(_ token: [UInt8], _ claims: Claims) throws(EntitlementError) {
        let verified = (PresentedToken(source: source, tokens: [token]), claims)
        guard (claims.renewal == nil ? content : session) == nil else { throw .tokenAmbiguous }
        if claims.renewal == nil { content = verified } else { session = verified }
    }

    /// Throws every fault that another token of the list does not make good.
    mutating func note(_ fault: EntitlementError) throws(EntitlementError) {
        switch fault {
        case .sessionEnded, .sessionOfAnotherServer: sessionFault = fault
        case .tokenExpired: contentFault = fault
        default: throw fault  // The list of other faults is that of one token.
        }
    }

    func decisive(isRenewal: Bool) throws(EntitlementError) -> Verified {
        if let verified = isRenewal ? session ?? content : content ?? session { return verified }
        throw contentFault ?? sessionFault ?? .tokenMalformed(.notThreeParts)
    }
}
