import ByteCoding

/// Converts Axinom's keys and usage policies to rights: one set of rights for the keys of each policy, and one for the
/// keys without a policy.
enum AxinomKeys {
    private static let elementVocabulary = ["id", "encrypted_key", "iv", "seed_id", "usage_policy"]
    private static let keyCountMaximum = 256

    /// A usage policy, as far as it concerns FairPlay.
    fileprivate struct Policy {
        let name: String
        let hdcp: Right.HDCP?
        let outputs: OutputPermissions
    }

    /// The keys that share a policy; `policy` is nil for the keys without one.
    fileprivate struct Group {
        let policy: Policy?
        var keyIDs: [KeyID]
    }

    static func rights(of message: ClaimObject, _ license: AxinomLicense) throws(EntitlementError) -> [Right] {
        let policies = try policies(of: message)
        let source = try message.required("content_keys_source", try message.object("content_keys_source"))
        try source.refuseStrangers(to: ["inline", "license_request", "stored"])
        let inline = try source.objects("inline", countMaximum: keyCountMaximum)
        let stored = try source.objects("stored", countMaximum: keyCountMaximum)
        switch (inline, stored, try source.object("license_request")) {
        case (let keys?, nil, nil), (nil, let keys?, nil):
            return try groups(of: keys, policies).flatMap { group in group.rights(license) }
        case (nil, nil, let request?):
            try request.refuseStrangers(to: ["seed_id", "usage_policy"])
            return rights(.anything, try policy(of: request, policies), license)
        default: throw message.invalid("content_keys_source")  // None of the three, or several.
        }
    }

    private static func groups(of keys: [ClaimObject], _ policies: [Policy]) throws(EntitlementError) -> [Group] {
        var groups: [Group] = []
        for key in keys {
            try key.refuseStrangers(to: elementVocabulary)
            let text = try key.required("id", try key.string("id"))
            let keyID = try key.required("id", try? KeyID(parsing: text))
            let policy = try policy(of: key, policies)
            if let index = groups.firstIndex(where: { $0.policy?.name == policy?.name }) {
                groups[index].keyIDs.append(keyID)
            } else {
                groups.append(Group(policy: policy, keyIDs: [keyID]))
            }
        }
        return groups
    }

    /// Returns a right for streaming and, if the message allows it, one for offline use.
    ///
    /// A duration that holds during playback becomes the lease of the streaming right alone.
    fileprivate static func rights(
        _ selector: Right.Selector, _ policy: Policy?, _ license: AxinomLicense
    ) -> [Right] {
        var streaming = Right(selector)
        streaming.start = license.start
        streaming.end = license.end
        streaming.duration = license.duration
        streaming.lease = license.lease
        streaming.protection = Protection(hdcp: policy?.hdcp)
        streaming.outputs = policy?.outputs ?? OutputPermissions()
        guard license.isPersistent else { return [streaming] }
        var offline = streaming
        offline.mode = .offline
        offline.lease = license.interval
        offline.playback = license.playback
        return [streaming, offline]
    }

    // MARK: Policies

    /// Returns the policy that a key names; nil if the key names no policy.
    ///
    /// Throws `claimInvalid` if the message does not contain the policy.
    private static func policy(of key: ClaimObject, _ policies: [Policy]) throws(EntitlementError) -> Policy? {
        guard let name = try key.string("usage_policy") else { return nil }
        return try key.required("usage_policy", policies.first { $0.name.hasSameUTF8(as: name) })
    }

    private static func policies(of message: ClaimObject) throws(EntitlementError) -> [Policy] {
        var policies: [Policy] = []
        for object in try message.objects("content_key_usage_policies", countMaximum: keyCountMaximum) ?? [] {
            try object.refuseStrangers(to: ["name", "fairplay", "playready", "widevine"])
            let name = try object.required("name", try object.string("name"))
            guard !policies.contains(where: { $0.name.hasSameUTF8(as: name) }) else { throw object.invalid("name") }
            policies.append(try policy(named: name, object.object("fairplay")))
        }
        return policies
    }

    private static func policy(named name: String, _ claims: ClaimObject?) throws(EntitlementError) -> Policy {
        guard let claims else { return Policy(name: name, hdcp: nil, outputs: OutputPermissions()) }
        try claims.refuseStrangers(to: ["hdcp", "allow_airplay", "allow_av_adapter"])
        let hdcp: AxinomHDCP? = try claims.word("hdcp")
        return Policy(
            name: name, hdcp: hdcp?.level,
            outputs: OutputPermissions(
                airPlay: try claims.bool("allow_airplay"), avAdapter: try claims.bool("allow_av_adapter")))
    }

    private enum AxinomHDCP: String {
        case notRequired = "NONE"
        case type0 = "TYPE0"
        case type1 = "TYPE1"

        var level: Right.HDCP {
            switch self {
            case .notRequired: .notRequired
            case .type0: .type0
            case .type1: .type1
            }
        }
    }
}

extension AxinomKeys.Group {
    /// Returns the rights for the keys of this group, with at most `Right.keyIDCountMaximum` keys in each right.
    fileprivate func rights(_ license: AxinomLicense) -> [Right] {
        stride(from: 0, to: keyIDs.count, by: Right.keyIDCountMaximum).flatMap { start in
            let part = Array(keyIDs[start..<min(start + Right.keyIDCountMaximum, keyIDs.count)])
            return AxinomKeys.rights(.keyIDs(part), policy, license)
        }
    }
}
