import ByteCoding
import ContentKeys
import KeyCrypto
package import Records

/// Issues and accepts challenges, with which a sync report proves that it is fresh.
///
/// Any node of an installation accepts a challenge: once, within its life, and only from the party to which it was
/// issued.
package struct ServerChallenges: Sendable {
    /// How long a challenge is open, in seconds.
    package static let life: Int64 = 300
    /// How many open challenges a holder may have.
    package static let countPerHolder = 8

    package enum Issued: Equatable, Sendable {
        /// Never 0.
        case challenge(UInt64)
        /// The holder has the maximum of open challenges. It may get another one when it has used one, and at the
        /// latest after this many seconds.
        case tooMany(retryAfterSeconds: Int64)
    }

    private let store: any ChallengeStore
    private let pseudonyms: Pseudonymizer

    package init(store: any ChallengeStore, pseudonyms: Pseudonymizer) {
        self.store = store
        self.pseudonyms = pseudonyms
    }

    /// Issues a random challenge that `draw` returns, or says that the holder has too many. `now` is in seconds since
    /// 1970.
    func issue(
        to party: TokenParty, now: Int64, drawing draw: () throws(CryptoError) -> UInt64
    ) async throws(LicenseError) -> Issued {
        let holder = try holder(party)
        let challenge = try Self.drawChallenge(draw)
        let isOpen = try await wrapAsync(
            LicenseError.store,
            try await store.open(
                challenge, for: holder, now: now, expiresAt: now + Self.life, limit: Self.countPerHolder))
        return isOpen ? .challenge(challenge) : .tooMany(retryAfterSeconds: Self.life)
    }

    /// Returns whether `challenge` is open and was issued to this party. Afterwards it is no longer open.
    func accept(_ challenge: UInt64, from party: TokenParty, now: Int64) async throws(LicenseError) -> Bool {
        let holder = try holder(party)
        return try await wrapAsync(LicenseError.store, try await store.take(challenge, from: holder, now: now))
    }

    private static func drawChallenge(_ draw: () throws(CryptoError) -> UInt64) throws(LicenseError) -> UInt64 {
        try wrap(LicenseError.internalFailure) { () throws(CryptoError) in
            var challenge = try draw()
            while challenge == 0 { challenge = try draw() }
            return challenge
        }
    }

    private func holder(_ party: TokenParty) throws(LicenseError) -> Pseudonym {
        try wrap(LicenseError.internalFailure) { () throws(CryptoError) in try party.pseudonym(by: pseudonyms) }
    }
}
