/// A part of a policy or of a token that contradicts another part, or has no effect.
package struct PolicyFinding: Equatable, Sendable, CustomStringConvertible {
    package enum Fault: String, Sendable, CaseIterable {
        /// `storage` or `playback` is set together with `offline: false`.
        case offlineLimitsWithoutOffline = "limits offline licenses, but also forbids them"
        /// Offline use is allowed, and the only limit is a `lease`, which an offline license cannot have.
        case offlineWithLeaseOnly =
            "allows offline licenses with no limit except a lease: an offline license has no lease, so it never ends"
        /// An offline license may be stored and played for ever.
        case offlineWithoutEnd =
            "allows offline licenses that never end: set `storage` and `playback`, or `duration`"
        /// The only limit of an offline license is the time until its first play.
        case offlineWithoutEndOncePlayed =
            "allows offline licenses that never end once they are played: set `playback` or `duration`"
        /// A right for offline use has a lease, with which no offline license is given.
        case offlineRefusedForLease =
            "grants offline use together with a lease: requests for offline licenses are refused"
        /// A limit does not fit into the 32 bits of a license.
        case notExpressible = "is longer than a FairPlay license can express (4294967294 seconds)"
        /// A lease that the rental makes pointless.
        case leaseNeverEnds = "has a lease that is not shorter than its duration"
        /// A lease so short that players cannot renew it in time.
        case leaseTooShort = "has a lease under 30 seconds, which players on a slow network cannot renew in time"
        /// A profile has no effect, because the common limits are at least as strict in every respect.
        case looserThanCommonLimits = "has no effect: limitsForEveryLicense already demands the same or more"
        /// A profile is for offline licenses, but limitsForEveryLicense forbids them.
        case offlineForbiddenForAll = "is for offline licenses, but limitsForEveryLicense forbids them"
        /// Playbacks are counted, but a playback whose player is gone is never removed from the count.
        case concurrencyWithoutLease =
            "counts concurrent playbacks without a lease: a playback that ends without notice stays counted"
        /// A right begins in the future.
        case startInTheFuture = "begins later: FairPlay cannot delay a license, so requests before it are refused"
        /// A right has ended, or ends before it begins.
        case neverHolds = "has ended, or ends before it begins: it grants nothing"
        /// A right names a profile that the configuration does not have: requests for it are refused.
        case profileNotConfigured = "names a profile that is not configured: requests for it are refused"
        /// A token limits its uses, but has no ID by which they could be counted.
        case usesWithoutTokenID = "limits its uses, but has no token id by which they could be counted"
        /// A token limits the number of devices, but names no subject.
        case devicesWithoutSubject = "limits the devices of a subject, but names no subject"
    }

    /// Where the fault is: "limitsForEveryLicense", "profiles.HD", "rights[0]" or "token".
    package let place: String
    package let fault: Fault

    package var description: String { "\(place) \(fault.rawValue)" }
}

/// Finds contradictions in policies and tokens. It only reports them: it refuses nothing.
package enum PolicyLint {
    private static let leaseMinimum: Int64 = 30

    /// Returns the findings about the rules of a configuration, the common limits first.
    ///
    /// With `limitsStoredKeys`, the rules must limit stored keys, because tokens may grant offline use without limits.
    /// Otherwise only rules that allow offline use themselves are examined for such limits.
    package static func findings(
        in policy: EntitlementPolicy, limitsStoredKeys: Bool = false
    ) -> [PolicyFinding] {
        var found = faults(of: policy.common)
        let needsEnd = { (rule: PolicyRule) in limitsStoredKeys || rule.allowsOffline == true }
        if needsEnd(policy.common) { found += endFaults(of: policy.common, besides: found) }
        var findings = found.map { PolicyFinding(place: "limitsForEveryLicense", fault: $0) }
        for (name, profile) in policy.profiles.sorted(by: { $0.key < $1.key }) {
            var found = faults(of: profile)
            if profile != PolicyRule(), policy.common.merged(with: profile) == policy.common {
                found.append(.looserThanCommonLimits)
            }
            let isForOffline = profile.allowsOffline == true || profile.storage != nil || profile.playback != nil
            if isForOffline, policy.common.allowsOffline == false { found.append(.offlineForbiddenForAll) }
            if needsEnd(profile) { found += endFaults(of: profile.merged(with: policy.common), besides: found) }
            found += faultsTogether(profile, policy.common).filter { !found.contains($0) }
            findings += found.map { PolicyFinding(place: "profiles.\(name)", fault: $0) }
        }
        return findings
    }

    /// Returns the faults of both rules combined, for example a lease of one that is not shorter than the duration of
    /// the other.
    private static func faultsTogether(_ profile: PolicyRule, _ common: PolicyRule) -> [PolicyFinding.Fault] {
        let merged = profile.merged(with: common)
        guard faults(of: common).isEmpty, profile.lease != nil || profile.duration != nil else { return [] }
        return timeFaults(lease: merged.lease, duration: merged.duration, others: [])
    }

    private static func faults(of rule: PolicyRule) -> [PolicyFinding.Fault] {
        var faults: [PolicyFinding.Fault] = []
        let offlineLimits = [rule.storage, rule.playback].compactMap(\.self)
        if rule.allowsOffline == false, !offlineLimits.isEmpty { faults.append(.offlineLimitsWithoutOffline) }
        if rule.allowsOffline == true, rule.lease != nil, rule.duration == nil, offlineLimits.isEmpty {
            faults.append(.offlineWithLeaseOnly)
        }
        faults += timeFaults(lease: rule.lease, duration: rule.duration, others: offlineLimits)
        return faults
    }

    /// Returns the fault of an offline license that only this rule limits, unless `others` already says it.
    private static func endFaults(
        of rule: PolicyRule, besides others: [PolicyFinding.Fault]
    ) -> [PolicyFinding.Fault] {
        guard rule.allowsOffline != false, !others.contains(.offlineWithLeaseOnly) else { return [] }
        return endFaults(storage: rule.storage, playback: rule.playback, total: rule.duration)
    }

    private static func endFaults(storage: Int64?, playback: Int64?, total: Int64?) -> [PolicyFinding.Fault] {
        guard playback == nil, total == nil else { return [] }
        return [storage == nil ? .offlineWithoutEnd : .offlineWithoutEndOncePlayed]
    }

    private static func timeFaults(
        lease: Int64?, duration: Int64?, others: [Int64]
    ) -> [PolicyFinding.Fault] {
        var faults: [PolicyFinding.Fault] = []
        let limits = [lease, duration].compactMap(\.self) + others
        if limits.contains(where: { $0 > Int64(LimitSeconds.maximum) }) { faults.append(.notExpressible) }
        if let lease, let duration, lease >= duration { faults.append(.leaseNeverEnds) }
        if let lease, lease < leaseMinimum { faults.append(.leaseTooShort) }
        return faults
    }

    /// Returns the findings about a token at `now`, in seconds since 1970, under the rules of a configuration.
    package static func findings(in claims: Claims, policy: EntitlementPolicy, now: Int64) -> [PolicyFinding] {
        var findings: [PolicyFinding] = []
        for (index, right) in claims.rights.enumerated() {
            findings += faults(of: right, claims, policy, now: now).map {
                PolicyFinding(place: "rights[\(index)]", fault: $0)
            }
        }
        if claims.limits.usesPerKey != nil, claims.tokenID == nil {
            findings.append(PolicyFinding(place: "token", fault: .usesWithoutTokenID))
        }
        if claims.device.maximum != nil, claims.subject == nil {
            findings.append(PolicyFinding(place: "token", fault: .devicesWithoutSubject))
        }
        return findings
    }

    private static func faults(
        of right: Right, _ claims: Claims, _ policy: EntitlementPolicy, now: Int64
    ) -> [PolicyFinding.Fault] {
        let rule = (try? policy.rule(for: right)) ?? policy.common
        let lease = LimitSeconds.least(right.lease, rule.lease)
        let duration = LimitSeconds.least(right.duration, rule.duration)
        let offlineLimits = [right.storage, right.playback].compactMap(\.self)
        var faults: [PolicyFinding.Fault] = []
        if let name = right.profile, policy.profiles[name] == nil { faults.append(.profileNotConfigured) }
        switch right.mode {
        case .stream: if !offlineLimits.isEmpty { faults.append(.offlineLimitsWithoutOffline) }
        case .offline, .both:
            if right.lease != nil {
                faults.append(.offlineRefusedForLease)
            } else if rule.allowsOffline != false {
                faults += endFaults(
                    storage: LimitSeconds.least(right.storage, rule.storage),
                    playback: LimitSeconds.least(right.playback, rule.playback),
                    total: duration ?? right.life ?? right.end ?? right.rental?.lifeMaximum)
            }
        }
        faults += timeFaults(lease: lease, duration: duration, others: offlineLimits)
        let isCounted = !claims.session.groups.isEmpty || !right.session.groups.isEmpty
        if isCounted, lease == nil, right.end == nil { faults.append(.concurrencyWithoutLease) }
        if let start = right.start, now < start { faults.append(.startInTheFuture) }
        if let end = right.end, end <= max(right.start ?? .min, now) { faults.append(.neverHolds) }
        return faults
    }
}
