import ByteCoding
import ContentKeys
import KeyCrypto
package import Records

/// The numbers given out so that a sync report can prove that it is fresh: each is accepted once, within its life, from
/// the subject that it was given to, by any node of an installation.
package struct ServerChallenges: Sendable {
    /// How long one is open, in seconds.
    package static let life: Int64 = 300
    /// How many a holder may have open.
    package static let countPerHolder = 8

    package enum Issued: Equatable, Sendable {
        /// Never 0.
        case challenge(UInt64)
        /// The holder has as many as there may be. A place is free once one was used, and after so many seconds at the
        /// latest.
        case tooMany(retryAfterSeconds: Int64)
    }

    private let store: any ChallengeStore
    private let pseudonyms: Pseudonymizer

    package init(store: any ChallengeStore, pseudonyms: Pseudonymizer) {
        self.store = store
        self.pseudonyms = pseudonyms
    }

    /// Gives out a number that `draw` draws by chance, or says that there are too many. `now` is in seconds since 1970.
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

    /// Whether `challenge` is open and was given to this party; it is not open any more afterwards.
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
