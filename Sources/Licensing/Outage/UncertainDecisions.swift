import ContentKeys
import Records
import Telemetry

/// Decisions that the database may have settled without this node knowing it.
///
/// These are the decisions that are under way, and those that ended without an outcome. The database gives the latter
/// out when their requests are repeated, so they are in doubt for as long as that can happen.
struct UncertainDecisions {
    /// How many decisions there are for each cell and device, and the last playback; nil in a cell of devices.
    private var places: [CellKey: [Pseudonym: (count: Int, playback: SlotClaim.Playback?)]] = [:]
    private var uses: [CellKey: Int] = [:]
    private var doubts: [Pseudonym: (decision: LicenseDecision, end: MonotonicTime)] = [:]
    private var ends: [(request: Pseudonym, end: MonotonicTime)] = []

    /// Whether as many decisions are in doubt as are remembered.
    var isFull: Bool { ends.count >= OutageAdmissions.capacity }

    /// Adds a decision that is under way, and ends the doubt about it.
    mutating func begin(_ decision: LicenseDecision) {
        if let replay = decision.replay { endDoubt(about: replay.request) }
        count(decision, 1)
    }

    /// Removes a decision that is under way.
    mutating func end(_ decision: LicenseDecision) { count(decision, -1) }

    /// Notes that a decision under way has ended without an outcome.
    mutating func doubt(_ decision: LicenseDecision, at now: MonotonicTime) {
        removeEnded(at: now)
        guard let replay = decision.replay, doubts[replay.request] == nil, decision.spendsLimited else {
            return end(decision)
        }
        let end = now + .seconds(replay.retryWindow)
        doubts[replay.request] = (decision, end)
        ends.append((replay.request, end))
    }

    mutating func removeEnded(at now: MonotonicTime) {
        let ended = ends.prefix { $0.end <= now }
        for one in ended {
            // The request may have come again, and be in doubt until later.
            if let doubt = doubts[one.request], doubt.end <= now { endDoubt(about: one.request) }
        }
        ends.removeFirst(ended.count)
    }

    private mutating func endDoubt(about request: Pseudonym) {
        if let doubt = doubts.removeValue(forKey: request) { end(doubt.decision) }
    }

    private mutating func count(_ decision: LicenseDecision, _ change: Int) {
        if let cell = decision.usesCell {
            let count = uses[cell, default: 0] + change
            uses[cell] = count > 0 ? count : nil
        }
        for place in decision.devicePlaces { count(CellKey(.devices, place.owner), place.device, playing: nil, change) }
        for claim in decision.slotClaims {
            count(CellKey(.playbacks, claim.group), claim.playback.device, playing: claim.playback, change)
        }
    }

    private mutating func count(
        _ cell: CellKey, _ device: Pseudonym, playing playback: SlotClaim.Playback?, _ change: Int
    ) {
        let known = places[cell]?[device]
        let count = (known?.count ?? 0) + change
        places[cell, default: [:]][device] = count > 0 ? (count, change > 0 ? playback : known?.playback) : nil
        if places[cell]?.isEmpty == true { places[cell] = nil }
    }

    /// Takes from the limit of a decision, which is one of these, the uses that the others may have spent. Returns what
    /// other devices may have been given in its cells, one place in each decision.
    ///
    /// The decision's own device is left out, because a place that it may have been given entitles it to nothing. As
    /// many devices as the limit fill a cell, so further ones are left out too.
    func others(beside decision: inout LicenseDecision) -> [LicenseDecision] {
        if let use = decision.tokenUse, let cell = decision.usesCell {
            decision.tokenUse?.limit = UInt32(max(0, Int(use.limit) - uses[cell, default: 1] + 1))
        }
        var found: [LicenseDecision] = []
        for place in decision.devicePlaces {
            var other = place
            for (device, _) in others(CellKey(.devices, place.owner), than: place.device, place.limit) {
                other.device = device
                found.append(LicenseDecision(now: decision.now, devicePlaces: [other], entry: decision.entry))
            }
        }
        for (index, claim) in decision.slotClaims.enumerated() {
            var other = claim
            (other.whenFull, other.isConfirmed, other.heldUntil) = (.denyNew, true, .max)
            for (_, held) in others(CellKey(.playbacks, claim.group), than: claim.playback.device, claim.limit) {
                guard let playback = held.playback else { continue }
                other.playback = playback
                other.playback.isRelayed = false
                found.append(LicenseDecision(now: decision.now, slotClaims: [other], entry: decision.entry))
                // A relayed playback must not join one that may not run.
                decision.slotClaims[index].playback.isRelayed = false
            }
        }
        return found
    }

    private func others(
        _ cell: CellKey, than device: Pseudonym, _ limit: UInt32
    ) -> some Sequence<(key: Pseudonym, value: (count: Int, playback: SlotClaim.Playback?))> {
        places[cell, default: [:]].lazy.filter { $0.key != device }.prefix(Int(limit))
    }
}

extension LicenseDecision {
    fileprivate var usesCell: CellKey? {
        tokenUse == nil ? nil : AccountAction.settle(self).cells.first { $0.key.kind == .uses }?.key
    }

    /// Whether it takes anything of which there is a limited number.
    fileprivate var spendsLimited: Bool { tokenUse != nil || !devicePlaces.isEmpty || !slotClaims.isEmpty }
}
