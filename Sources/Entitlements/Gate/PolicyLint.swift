/// What a policy says and cannot mean.
package struct PolicyFinding: Equatable, Sendable, CustomStringConvertible {
    package enum Fault: String, Sendable, CaseIterable {
        /// `storage` or `playback` beside `offline: false`.
        case offlineLimitsWithoutOffline = "limits an offline licence, and forbids it"
        /// A `lease` and nothing else that a device which keeps the key would obey.
        case offlineWithLeaseOnly =
            "has a lease and lets devices keep keys without a limit: an offline licence has no lease, and would be endless"
        /// A limit beyond what the 32 bits of a licence hold.
        case notExpressible = "is longer than FairPlay can say (4294967294 seconds)"
        /// A lease that the rental makes pointless.
        case leaseNeverEnds = "has a lease that is not shorter than its duration"
        /// A lease so short that players cannot renew it in time.
        case leaseTooShort = "has a lease under 30 seconds, which players on a slow network cannot renew in time"
        /// A profile that the floor overrules in every respect.
        case looserThanFloor = "says nothing that the floor does not already demand"
        /// A profile is for offline licences, and the floor forbids them.
        case offlineForbiddenByFloor =
            "speaks of offline licences, which the floor forbids: nothing can satisfy that part"
        /// Playbacks are counted, and nothing ends one whose player is gone.
        case concurrencyWithoutLease =
            "counts playbacks at once without a lease, so that one which ended unseen counts on"
        /// A right begins in the future.
        case startInTheFuture = "begins later: FairPlay cannot delay a licence, so requests before it are refused"
        /// A right has ended, or ends before it begins.
        case neverHolds = "ends before it begins, and never grants anything"
        /// A right names a profile that the configuration does not have: requests for it are refused.
        case profileNotConfigured = "names a profile that is not configured: requests for it are refused"
        /// A token is to be used so often, and has no identifier to count by.
        case usesWithoutTokenID = "limits its uses, and has no token id to count them by"
        /// A device is to be counted or bound, and the token names no subject.
        case devicesWithoutSubject = "limits the devices of a subject, and names none"
    }

    /// "floor", "profiles.HD" or "rights[0]".
    package let place: String
    package let fault: Fault

    package var description: String { "\(place) \(fault.rawValue)" }
}

/// Looks for contradictions. It is pure, and refuses nothing.
package enum PolicyLint {
    private static let leaseMinimum: Int64 = 30

    /// What is odd about the rules of a configuration, the floor first.
    package static func findings(in policy: EntitlementPolicy) -> [PolicyFinding] {
        var findings = faults(of: policy.floor).map { PolicyFinding(place: "floor", fault: $0) }
        for (name, profile) in policy.profiles.sorted(by: { $0.key < $1.key }) {
            var found = faults(of: profile)
            if profile != PolicyRule(), policy.floor.merged(with: profile) == policy.floor {
                found.append(.looserThanFloor)
            }
            let isForOffline = profile.allowsOffline == true || profile.storage != nil || profile.playback != nil
            if isForOffline, policy.floor.allowsOffline == false { found.append(.offlineForbiddenByFloor) }
            found += faultsTogether(profile, policy.floor).filter { !found.contains($0) }
            findings += found.map { PolicyFinding(place: "profiles.\(name)", fault: $0) }
        }
        return findings
    }

    /// What neither rule is guilty of alone: a lease of one that is not shorter than the duration of the other.
    private static func faultsTogether(_ profile: PolicyRule, _ floor: PolicyRule) -> [PolicyFinding.Fault] {
        let merged = profile.merged(with: floor)
        guard faults(of: floor).isEmpty, profile.lease != nil || profile.duration != nil else { return [] }
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

    /// What is odd about the rights of a token at `now`, in seconds since 1970, under the rules of a configuration.
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
        let rule = (try? policy.rule(for: right)) ?? policy.floor
        let lease = LimitSeconds.least(right.lease, rule.lease)
        let duration = LimitSeconds.least(right.duration, rule.duration)
        let offlineLimits = [right.storage, right.playback].compactMap(\.self)
        var faults: [PolicyFinding.Fault] = []
        if let name = right.profile, policy.profiles[name] == nil { faults.append(.profileNotConfigured) }
        switch right.mode {
        case .stream: if !offlineLimits.isEmpty { faults.append(.offlineLimitsWithoutOffline) }
        case .offline, .both: if right.lease != nil { faults.append(.offlineWithLeaseOnly) }
        }
        faults += timeFaults(lease: lease, duration: duration, others: offlineLimits)
        let isCounted = !claims.session.groups.isEmpty || !right.session.groups.isEmpty
        if isCounted, lease == nil, right.end == nil { faults.append(.concurrencyWithoutLease) }
        if let start = right.start, now < start { faults.append(.startInTheFuture) }
        if let end = right.end, end <= max(right.start ?? .min, now) { faults.append(.neverHolds) }
        return faults
    }
}
