package import KeyCrypto
import Synchronization

/// Remembers what one verifier has verified, so that a token which many requests present costs one signature check.
///
/// Only what the verifier accepted gets in. An entry is found by the SHA-256 of the whole token, and its times are checked anew on each
/// hit, and so is the retirement of its key: a token works no longer with the cache than without. A new verifier has a cache of its own, so
/// requests still under way with the old one cannot bring in what the new one would refuse. The cache holds at most `capacity` tokens,
/// however many are presented, and may be used by all threads at once.
package final class VerifiedTokenCache: Sendable {
    package static let capacityDefault = 16_384

    /// Verifies tokens that are not remembered.
    package let verifier: TokenVerifier
    private let entries: Mutex<RecentClaims>

    /// `capacity` is at least 1.
    package init(verifier: TokenVerifier, capacity: Int = capacityDefault) {
        self.verifier = verifier
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
        if let known {
            try verifier.check(known, now: now)
            return known
        }
        let claims = try verifier.verify(token, now: now)
        entries.withLock { $0.insert(claims, for: digest, verifiedIn: generation) }
        return claims
    }

    /// The claims of what a request presents: of a list, exactly one token grants contents. Throws as for one token, and `tokenAmbiguous`
    /// where two do.
    package func verify(
        _ presented: PresentedToken, now: Int64, crypto: CryptoContext
    ) throws(EntitlementError) -> Claims {
        guard let first = presented.tokens.first else { throw .tokenMalformed(.notThreeParts) }
        let claims = try verify(first, now: now, crypto: crypto)
        for other in presented.tokens.dropFirst() {
            _ = try verify(other, now: now, crypto: crypto)
            throw .tokenAmbiguous
        }
        return claims
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
