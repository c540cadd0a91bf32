/// What a named profile, or this server, demands besides what a token says (entitlement, section 4.2).
///
/// Rules can only tighten: of two limits the smaller one holds, and what one of them forbids is forbidden. Nil says
/// nothing.
package struct PolicyRule: Equatable, Sendable {
    /// The longest lease of a streaming licence; at least 1 second. It forbids no offline licence, which never has a
    /// lease.
    package var lease: Int64?
    /// How long after issue playback may begin at most; at least 1 second.
    package var duration: Int64?
    /// How long an offline licence is good until its first play at most; at least 1 second.
    package var storage: Int64?
    /// The same from its first play on; at least 1 second.
    package var playback: Int64?
    /// False if no device may keep a key.
    package var allowsOffline: Bool?
    package var protection: Protection
    /// What a device must be able to do besides, by the label of the track.
    package var tracks: [String: Protection]
    package var outputs: OutputPermissions

    package init(
        lease: Int64? = nil, duration: Int64? = nil, storage: Int64? = nil, playback: Int64? = nil,
        allowsOffline: Bool? = nil, protection: Protection = Protection(), tracks: [String: Protection] = [:],
        outputs: OutputPermissions = OutputPermissions()
    ) {
        self.lease = lease
        self.duration = duration
        self.storage = storage
        self.playback = playback
        self.allowsOffline = allowsOffline
        self.protection = protection
        self.tracks = tracks
        self.outputs = outputs
    }

    /// Both together.
    package func merged(with other: PolicyRule) -> PolicyRule {
        PolicyRule(
            lease: LimitSeconds.least(lease, other.lease), duration: LimitSeconds.least(duration, other.duration),
            storage: LimitSeconds.least(storage, other.storage),
            playback: LimitSeconds.least(playback, other.playback),
            allowsOffline: allowsOffline == false || other.allowsOffline == false
                ? false : allowsOffline ?? other.allowsOffline,
            protection: protection.merged(with: other.protection),
            tracks: tracks.merging(other.tracks) { $0.merged(with: $1) }, outputs: outputs.merged(with: other.outputs))
    }
}

/// The rules of one configuration.
package struct EntitlementPolicy: Equatable, Sendable {
    /// By the names that tokens have for them.
    package var profiles: [String: PolicyRule]
    /// Holds for every licence.
    package var floor: PolicyRule

    package init(profiles: [String: PolicyRule] = [:], floor: PolicyRule = PolicyRule()) {
        self.profiles = profiles
        self.floor = floor
    }

    /// The rule for a right: its profile's and the floor together. Throws `profileUnknown`.
    func rule(for right: Right) throws(EntitlementError) -> PolicyRule {
        guard let name = right.profile else { return floor }
        // Swift compares names by canonical equivalence, which is no more than a second spelling of the operator's own
        // name.
        guard let profile = profiles[name] else { throw .profileUnknown }
        return profile.merged(with: floor)
    }
}

extension Right {
    /// The right as far as a rule leaves it, for one use. Throws `offlineNotGranted`.
    func tightened(by rule: PolicyRule, for use: LicenseUse) throws(EntitlementError) -> Right {
        var right = self
        switch use {
        case .streaming: right.lease = LimitSeconds.least(lease, rule.lease)
        case .offline: if rule.allowsOffline == false { throw .offlineNotGranted }
        }
        right.duration = LimitSeconds.least(duration, rule.duration)
        right.storage = LimitSeconds.least(storage, rule.storage)
        right.playback = LimitSeconds.least(playback, rule.playback)
        right.protection = protection.merged(with: rule.protection)
        right.tracks = tracks.merging(rule.tracks) { $0.merged(with: $1) }
        right.outputs = outputs.merged(with: rule.outputs)
        return right
    }
}
