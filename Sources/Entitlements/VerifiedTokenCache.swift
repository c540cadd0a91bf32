package import KeyCrypto
import Synchronization

/// Remembers what one verifier has verified, so that a token which many requests present costs one signature check.
///
/// Only what the verifier accepted gets in. An entry is found by the SHA-256 of the whole token, and its times are checked anew on each
/// hit, so a token works no longer with the cache than without. The cache belongs to its verifier: a new configuration gets a new one, and
/// requests still under way with the old one cannot bring back what the new one would refuse. It holds at most `capacity` tokens, however
/// many are presented, and may be used by all threads at once.
package final class VerifiedTokenCache: Sendable {
    package static let capacityDefault = 16_384

    private let verifier: TokenVerifier
    private let entries: Mutex<RecentClaims>

    /// `capacity` is at least 1.
    package init(verifier: TokenVerifier, capacity: Int = capacityDefault) {
        self.verifier = verifier
        entries = Mutex(RecentClaims(capacity: capacity))
    }

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
            try verifier.check(known.times, now: now)
            return known
        }
        let claims = try verifier.verify(token, now: now)
        entries.withLock { $0.insert(claims, for: digest, verifiedIn: generation) }
        return claims
    }

    /// Forgets everything, what is being verified at this moment included: for revocations and retired keys.
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
