package import ByteCoding

/// Everything that granting one license spends and records.
///
/// It is recorded as a whole or not at all. If one part is denied, nothing is spent. A license is sent only after its
/// decision was recorded.
///
/// Times are seconds since 1970.
package struct LicenseDecision: Sendable {
    /// When the decision is made. What ends at this second or before has ended.
    package var now: Int64
    /// Identifies the request if it comes again; nil if a repetition may count as a new request.
    package var replay: ReplayRecord?
    /// The replay record of a license that spends nothing. Only this node recognises the request, and only within its
    /// retry window.
    package var localReplay: ReplayRecord?
    package var tokenUse: TokenUse?
    /// The device places in their order: a later one sees the places that earlier ones have taken.
    package var devicePlaces: [DevicePlace]
    /// The slot claims in their order, as with device places.
    package var slotClaims: [SlotClaim]
    /// The session token that the license renews; nil for any other token.
    package var sessionTokenUse: SessionTokenUse?
    /// The license's change of a rental; nil if the token has no rental to remember.
    package var rental: RentalClaim?
    /// The ledger entry of the license.
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

    /// Whether the decision needs state that all nodes share. Otherwise it is recorded only in the node's own ledger.
    package var needsSharedState: Bool {
        replay != nil || tokenUse != nil || !devicePlaces.isEmpty || !slotClaims.isEmpty
            || sessionTokenUse != nil || rental != nil
    }
}

/// Identifies a repeated request, and holds its answer (entitlement, section 4.7).
package struct ReplayRecord: Equatable, Sendable {
    /// The name of the request. Its maker decides what makes two requests the same one.
    package var request: Pseudonym
    /// How long a repeated request gets the same answer, in seconds from the first request. From the end of that time
    /// on, it is refused.
    package var retryWindow: Int64
    /// Until when the request is remembered, and refused after the retry window. From then on it counts as a new
    /// request.
    package var keptUntil: Int64
    /// The answer, in the encoding of the decision's maker: at most 1 KiB. The store does not read it.
    package var answer: [UInt8]

    package init(
        request: Pseudonym, retryWindow: Int64, keptUntil: Int64, answer: [UInt8]
    ) {
        self.request = request
        self.retryWindow = retryWindow
        self.keptUntil = keptUntil
        self.answer = answer
    }
}

/// One use of a token whose uses for each key are limited.
package struct TokenUse: Equatable, Sendable {
    /// The pseudonym of issuer and token id.
    package var token: Pseudonym
    package var keyID: KeyID
    /// The largest number of uses; at least 1.
    package var limit: UInt32
    /// When the token ends and its uses are forgotten. If several uses name different ends, the latest one holds.
    package var keptUntil: Int64

    package init(token: Pseudonym, keyID: KeyID, limit: UInt32, keptUntil: Int64) {
        self.token = token
        self.keyID = keyID
        self.limit = limit
        self.keptUntil = keptUntil
    }
}

/// A place among the devices of a subject, or of a token. A device that has a place keeps it.
///
/// A limit of 1 for a token binds the token to the first device. A limit of 0 admits no device without a place.
package struct DevicePlace: Equatable, Sendable {
    /// The pseudonym of the subject or token whose devices are counted.
    package var owner: Pseudonym
    /// The pseudonym of the device's HU.
    package var device: Pseudonym
    /// The largest number of devices that are admitted without a denial.
    package var limit: UInt32
    /// When the place ends unless it is taken again; nil if it never ends. If several claims name different ends, the
    /// latest one holds.
    package var keptUntil: Int64?
    package var kind: Kind

    /// What happens to a device for which there is no free place.
    package enum Kind: UInt8, Sendable, CaseIterable {
        /// The device is denied: the owner is a subject with the largest number of devices that is allowed.
        case counted = 0
        /// The device is denied: the owner is a token that is valid only for the first device that used it.
        case binding = 1
        /// The device takes the place of the owner's oldest device, if `limit` is at least 1.
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

/// A place among the playbacks that may run at the same time in one group (entitlement, section 4.8).
///
/// A slot is held by one playback of one device. The playback is identified by its session, or by its content if the
/// SPC names no session. A slot is live if it is not evicted and ends after `now`. The age of a counted slot starts
/// when it was counted, and the age of any other slot when it was made. If several slots fit a rule, the rule means the
/// oldest counted one, or the oldest one if none is counted.
///
/// The rules, in their order:
///
/// 1. A slot of this playback is used again. If it was evicted, the claim is denied, also that of an earlier session
///    of its device (rule 3).
/// 2. A relayed playback joins a live slot of the same content, which any device may hold. The holder keeps the slot.
///    One screen at a time shows it: another one takes the place of the screen before.
/// 3. Another playback of the same device and content takes over the live slot of the previous playback.
///
/// If rules 1 to 3 find a counted slot, its age stays and the claim is granted. If they find no slot, or a slot that is
/// not counted yet, the next rules decide for the device that holds it:
///
/// 4. If the device holds a confirmed slot, a provisional claim is granted beside it and is not counted, because it is
///    the next episode. A device has at most `limit` such slots. For further ones, the next rules decide.
/// 5. If there are fewer live counted slots than `limit`, the slot is counted from now on.
/// 6. If the device itself holds live counted slots, its oldest ones are evicted, as many as needed. A device is
///    therefore never denied because of its own slots.
/// 7. If those are not enough, `whenFull` decides: the claim is denied and no slot is evicted, or the oldest slots of
///    other devices are evicted too.
///
/// An evicted slot is not counted. It is remembered until its end, and so is its screen, so that their renewals are
/// refused. If a slot is claimed several times, it is confirmed if one of the claims was. It has the content of the
/// last claim, and the latest end of all claims.
package struct SlotClaim: Equatable, Sendable {
    package enum WhenFull: String, Sendable, CaseIterable {
        case denyNew = "deny_new"
        case evictOldest = "evict_oldest"
    }

    /// The playback that holds a slot.
    package struct Playback: Equatable, Sendable {
        /// The pseudonym of the device's HU.
        package var device: Pseudonym
        /// The playback session of the SPC. If it is nil, device and content identify the playback.
        package var session: UInt64?
        /// The pseudonym of the content id.
        package var content: Pseudonym
        /// Whether the requesting device is a screen or an adapter between the viewer's device and the display
        /// (AirPlay, the digital AV adapter).
        package var isRelayed: Bool

        package init(device: Pseudonym, session: UInt64?, content: Pseudonym, isRelayed: Bool = false) {
            self.device = device
            self.session = session
            self.content = content
            self.isRelayed = isRelayed
        }
    }

    /// The pseudonym of issuer, subject and group name.
    package var group: Pseudonym
    /// The largest number of slots in the group; at least 1.
    package var limit: UInt32
    package var whenFull: WhenFull
    package var playback: Playback
    /// Whether the playback plays, and is not only ready to play.
    package var isConfirmed: Bool
    /// When the slot is free without a renewal: the lease's end plus its grace period.
    package var heldUntil: Int64
    /// The details of the playback that operators see; nil if there are none. No decision depends on them.
    package var description: Description?

    /// The owner, group and content of a playback, for lists of a subject's playbacks.
    package struct Description: Equatable, Sendable {
        /// The pseudonym of issuer and subject.
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

/// The use of one token of a session.
///
/// Each renewal issues the next token, and the previous one stays valid until the next one is used. A lost answer
/// therefore costs nothing, and a copied token is soon worthless.
package struct SessionTokenUse: Equatable, Sendable {
    /// The pseudonym of the session.
    package var session: Pseudonym
    /// The number of the token within the session. A token older than the newest used one is denied.
    package var generation: UInt32
    /// Until when the session is remembered. If several uses name different ends, the latest one holds.
    package var keptUntil: Int64

    package init(session: Pseudonym, generation: UInt32, keptUntil: Int64) {
        self.session = session
        self.generation = generation
        self.keptUntil = keptUntil
    }
}
