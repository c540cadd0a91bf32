/// The limits that a named profile, or this server for every license, adds to a token's limits (entitlement, section
/// 4.2).
///
/// A rule can only tighten: the smaller of two limits counts, and a use that one of them forbids is forbidden. Nil
/// means no limit.
package struct PolicyRule: Equatable, Sendable {
    /// The longest lease of a streaming license; at least 1 second. It does not affect offline licenses, which have no
    /// lease.
    package var lease: Int64?
    /// The longest time after issue in which playback may begin; at least 1 second.
    package var duration: Int64?
    /// The longest time until the first play of an offline license; at least 1 second.
    package var storage: Int64?
    /// The longest time after the first play of an offline license; at least 1 second.
    package var playback: Int64?
    /// False if offline licenses are forbidden.
    package var allowsOffline: Bool?
    package var protection: Protection
    /// The additional protection that a device must have for a track, by the label of the track.
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

    /// Whether the rule changes nothing.
    var isEmpty: Bool { self == PolicyRule() }

    /// Returns both rules combined: for each limit, the stricter one.
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
    /// The profiles, by the names that tokens use.
    package var profiles: [String: PolicyRule]
    /// The rule that applies to every license.
    package var common: PolicyRule

    package init(profiles: [String: PolicyRule] = [:], common: PolicyRule = PolicyRule()) {
        self.profiles = profiles
        self.common = common
    }

    /// Returns the rule for a right: its profile and the common limits combined. Throws `profileUnknown`.
    func rule(for right: Right) throws(EntitlementError) -> PolicyRule {
        guard let name = right.profile else { return common }
        // Swift compares strings by canonical equivalence. That only allows a second spelling of a name that the
        // operator chose, so it is safe here.
        guard let profile = profiles[name] else { throw .profileUnknown }
        return profile.merged(with: common)
    }
}

extension Right {
    /// Returns the right after a rule has tightened it, for one use. Throws `offlineNotGranted`.
    func tightened(by rule: PolicyRule, for use: LicenseUse) throws(EntitlementError) -> Right {
        guard !rule.isEmpty else { return self }
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
