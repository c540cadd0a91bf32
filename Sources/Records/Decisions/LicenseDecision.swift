package import ByteCoding

/// Everything that granting one licence spends and says. It is recorded whole or not at all:
/// nothing is spent when something else in it is denied, and nothing is answered that was not recorded.
///
/// Times are seconds since 1970.
package struct LicenseDecision: Sendable {
    /// When the decision is made: what ends at this second or before has ended.
    package var now: Int64
    /// Known again when the same request comes twice; nil if a repetition spends nothing.
    package var replay: ReplayRecord?
    /// The same for a licence that spends nothing: only this node knows the request again, and only for its retry
    /// window.
    package var localReplay: ReplayRecord?
    package var tokenUse: TokenUse?
    /// In their order: each finds what the one before has taken.
    package var devicePlaces: [DevicePlace]
    /// In their order, as the device places.
    package var slotClaims: [SlotClaim]
    /// The session token that the licence renews; nil for any other token.
    package var sessionTokenUse: SessionTokenUse?
    /// What the licence makes of a rental; nil if its right has no such memory.
    package var rental: RentalClaim?
    /// What the ledger will say.
    package var entry: LedgerEntry

    package init(
        now: Int64, replay: ReplayRecord? = nil, tokenUse: TokenUse? = nil, devicePlaces: [DevicePlace] = [],
        slotClaims: [SlotClaim] = [], entry: LedgerEntry
    ) {
        self.now = now
        self.replay = replay
        self.tokenUse = tokenUse
        self.devicePlaces = devicePlaces
        self.slotClaims = slotClaims
        self.entry = entry
    }

    /// Whether other nodes must agree. Otherwise the node's own ledger is all that has to take the decision.
    package var needsSharedState: Bool {
        replay != nil || tokenUse != nil || !devicePlaces.isEmpty || !slotClaims.isEmpty
            || sessionTokenUse != nil || rental != nil
    }
}

/// By what a repeated request is known, and what it is answered with (entitlement, section 4.7).
package struct ReplayRecord: Equatable, Sendable {
    /// SHA-256 of the SPC.
    package var request: Pseudonym
    /// SHA-256 of the token presented with it.
    package var token: Pseudonym
    /// Of the token's issuer and subject, whose other tokens count as the same one; nil for a token without a subject.
    package var party: Pseudonym?
    /// How long the same request of the same token or party gets the same answer, in seconds from the first: before,
    /// and not at, that end.
    package var retryWindow: Int64
    /// Until when the request is remembered, to be refused after the window; from then on it is a new one.
    package var keptUntil: Int64
    /// The answer, as the maker of the decision encodes it: at most 1 KiB. The store does not look into it.
    package var answer: [UInt8]

    package init(
        request: Pseudonym, token: Pseudonym, party: Pseudonym? = nil, retryWindow: Int64, keptUntil: Int64,
        answer: [UInt8]
    ) {
        self.request = request
        self.token = token
        self.party = party
        self.retryWindow = retryWindow
        self.keptUntil = keptUntil
        self.answer = answer
    }
}

/// One use of a token that may be used so often for each key.
package struct TokenUse: Equatable, Sendable {
    /// Of issuer and token id.
    package var token: Pseudonym
    package var keyID: KeyID
    /// At least 1.
    package var limit: UInt32
    /// When the token ends: from then on its uses begin again. The latest end that was told counts.
    package var keptUntil: Int64

    package init(token: Pseudonym, keyID: KeyID, limit: UInt32, keptUntil: Int64) {
        self.token = token
        self.keyID = keyID
        self.limit = limit
        self.keptUntil = keptUntil
    }
}

/// A place among the devices of a subject, or of a token: a device that has one keeps it.
///
/// A limit of 1 is a binding by first use, and one of 0 lets in no device without a place.
package struct DevicePlace: Equatable, Sendable {
    /// Whose devices are counted.
    package var owner: Pseudonym
    /// Of HU.
    package var device: Pseudonym
    /// How many devices there may be before another one is denied.
    package var limit: UInt32
    /// When the place is free again unless it is taken again; nil for never. The latest end that was told counts.
    package var keptUntil: Int64?
    package var kind: Kind

    /// What becomes of a device for which there is no place.
    package enum Kind: UInt8, Sendable, CaseIterable {
        /// It is denied: the owner is a subject, and has as many devices as it may.
        case counted = 0
        /// It is denied: the owner is a token, which is good for the device that used it first.
        case binding = 1
        /// It takes the place of the owner's oldest device, if `limit` is at least 1.
        case replacing = 2
    }

    package init(owner: Pseudonym, device: Pseudonym, limit: UInt32, keptUntil: Int64?, kind: Kind = .counted) {
        self.owner = owner
        self.device = device
        self.limit = limit
        self.keptUntil = keptUntil
        self.kind = kind
    }

    /// The denial of a device without a place.
    package var denial: DecisionDenial { kind == .binding ? .otherDevice : .deviceLimit(limit: limit) }
}

/// A place among the playbacks that may run at once in one group (entitlement, section 4.8).
///
/// What holds a slot is one playback of one device: its session, or its content if it tells no session. The rules, in
/// their order. "Live" means not evicted and with its end after `now`. A slot is as old as its count, or as
/// itself while it counts nothing; of several slots the oldest one that counts is meant, and the oldest one if no slot
/// counts:
///
/// 1. A slot of this playback is taken up again; if it was evicted, the claim is denied.
/// 2. A relayed playback joins a live slot of the same content, which any device may hold, and leaves it to its holder.
/// 3. Another playback of the same device and content takes over the live slot of the one before.
///
/// A slot that was found so and counts stays as old as it is, and the claim is granted. If none was found, or one
/// that counts nothing yet, the next rules decide on it, for the device that holds it:
///
/// 4. A provisional claim of a device that holds a confirmed slot is granted beside it and counts nothing: it is the
///    next episode. There are at most `limit` such slots of a device; any more go on to the next rule.
/// 5. If there are fewer live counted slots than `limit`, it counts from now on.
/// 6. If the device itself holds live counted slots, its oldest ones are evicted, as many as it takes: a device
///    never stands in its own way.
/// 7. If those are not enough, `whenFull` decides: denial, with none evicted, or eviction of the oldest ones of
///    others too.
///
/// An evicted slot counts nothing, and is remembered until its end, so that its renewal is refused. A slot that is
/// claimed again is confirmed once one of its claims was, has the content of its last claim, and ends at the latest end
/// that was claimed for it.
package struct SlotClaim: Equatable, Sendable {
    package enum WhenFull: String, Sendable, CaseIterable {
        case denyNew = "deny_new"
        case evictOldest = "evict_oldest"
    }

    /// What holds a slot.
    package struct Playback: Equatable, Sendable {
        /// Of HU.
        package var device: Pseudonym
        /// The playback session that the SPC tells; nil if it tells none, and device and content are all there is.
        package var session: UInt64?
        /// Of the content id.
        package var content: Pseudonym
        /// The device that asks is a screen or an adapter in between (AirPlay, the digital AV adapter): not the
        /// viewer's.
        package var isRelayed: Bool

        package init(device: Pseudonym, session: UInt64?, content: Pseudonym, isRelayed: Bool = false) {
            self.device = device
            self.session = session
            self.content = content
            self.isRelayed = isRelayed
        }
    }

    /// Of subject and group name.
    package var group: Pseudonym
    /// How many slots there may be; at least 1.
    package var limit: UInt32
    package var whenFull: WhenFull
    package var playback: Playback
    /// Playing, and not only ready to.
    package var isConfirmed: Bool
    /// The lease's end with its grace: when the slot is free without a renewal.
    package var heldUntil: Int64
    /// What operators are told of the playback; nil for none. It decides nothing.
    package var description: Description?

    /// Whose playback it is, and of what, for lists of a subject's playbacks.
    package struct Description: Equatable, Sendable {
        /// Of issuer and subject.
        package var owner: Pseudonym
        /// The group's name, at most 200 bytes.
        package var groupName: String
        /// The content id, at most 200 bytes.
        package var content: String

        package init(owner: Pseudonym, groupName: String, content: String) {
            self.owner = owner
            self.groupName = groupName
            self.content = content
        }
    }

    package init(
        group: Pseudonym, limit: UInt32, whenFull: WhenFull, playback: Playback, isConfirmed: Bool, heldUntil: Int64
    ) {
        self.group = group
        self.limit = limit
        self.whenFull = whenFull
        self.playback = playback
        self.isConfirmed = isConfirmed
        self.heldUntil = heldUntil
    }
}

/// The use of one of a session's tokens. Each renewal gives the next one, and the one before stays good until that is
/// used: so an answer that is lost costs nothing, and a token that was copied is soon worth nothing.
package struct SessionTokenUse: Equatable, Sendable {
    /// Of the session.
    package var session: Pseudonym
    /// Which of its tokens it is. One before the latest that was used is denied.
    package var generation: UInt32
    /// Until when the session is remembered. The latest end that was told counts.
    package var keptUntil: Int64

    package init(session: Pseudonym, generation: UInt32, keptUntil: Int64) {
        self.session = session
        self.generation = generation
        self.keptUntil = keptUntil
    }
}
