import ByteCoding
import POSIXSockets

/// Reads Axinom's license service message with an entitlement message of version 2 (entitlement, section 1.3).
///
/// | message | claims |
/// |---|---|
/// | `id` | token id |
/// | `session.user_id` | subject |
/// | `license.start_datetime`, `.expiration_datetime` | start and end of every right |
/// | `license.duration` | duration; also the lease, if `fairplay.real_time_expiration` applies it during playback |
/// | `license.allow_persistence` | a second right for each, for offline use |
/// | `license.fairplay.playback_duration` | playback of an offline license |
/// | `license.concurrency_interval`, `.concurrency_grace_period` | lease, and grace of the session |
/// | `content_keys_source` | rights for each usage policy and its keys |
/// | `content_key_usage_policies[].fairplay` | HDCP, AirPlay and adapter |
/// | `access_control.prevent_drm_message_reuse` | one use of each key |
/// | `access_control.concurrency_limit`, `.concurrency_mode` | a group of the session |
/// | `access_control.allowed_ip_addresses` | networks |
///
/// Keys come from this server's own key store, so only the ID of a key in the message is read. The sections for other
/// DRM systems are ignored.
extension Claims {
    private static let envelopeVocabulary = [
        "version", "com_key_id", "id", "begin_date", "expiration_date", "message",
    ]
    private static let messageVocabulary = [
        "type", "version", "license", "content_keys_source", "content_key_usage_policies", "license_server", "session",
    ]

    /// Throws `claimInvalid` and `claimUnsupported`.
    init(axinom claims: ClaimObject, _ verified: Verified) throws(EntitlementError) {
        try claims.refuseStrangers(to: Self.envelopeVocabulary)
        guard claims["version"]?.number?.signed == 1 else { throw claims.invalid("version") }
        let message = try claims.required("message", try claims.object("message"))
        guard let type = try message.string("type"), type.hasSameUTF8(as: "entitlement_message") else {
            throw message.invalid("type")
        }
        guard message["version"]?.number?.signed == 2 else { throw message.invalid("version") }
        try message.refuseStrangers(to: Self.messageVocabulary)
        let session = try message.object("session")
        try session?.refuseStrangers(to: ["user_id"])

        let license = try AxinomLicense(reading: message.object("license"))
        let access = try AxinomAccess(reading: message.object("license_server"), grace: license.grace)
        self.init(
            verified, subject: try session?.string("user_id"), tokenID: try claims.string("id"),
            rights: try AxinomKeys.rights(of: message, license))
        self.session = access.session
        limits = access.limits
        try refuseUncounted(naming: "message.session.user_id")
    }
}

/// The terms in `license`, which hold for every key.
struct AxinomLicense {
    private(set) var start: Int64?
    private(set) var end: Int64?
    private(set) var duration: Int64?
    /// The number of seconds after which playback must renew its license; nil if it need not.
    private(set) var interval: Int64?
    /// The lease in streaming: `interval`, or the duration if that is shorter and holds during playback.
    private(set) var lease: Int64?
    private(set) var playback: Int64?
    private(set) var isPersistent = false
    private(set) var grace: Int64?

    private static let vocabulary = [
        "start_datetime", "expiration_datetime", "duration", "allow_persistence", "concurrency_interval",
        "concurrency_grace_period", "fairplay", "playready", "widevine",
    ]
    private static let fairPlayVocabulary = [
        "real_time_expiration", "playback_duration", "ignore_keys_in_license_request", "duration", "allow_persistence",
    ]

    init(reading claims: ClaimObject?) throws(EntitlementError) {
        guard let claims else { return }
        try claims.refuseStrangers(to: Self.vocabulary)
        start = try claims.time("start_datetime")?.up
        end = try claims.time("expiration_datetime")?.down
        duration = try claims.seconds("duration")
        interval = try claims.seconds("concurrency_interval")
        lease = interval
        grace = try claims.seconds("concurrency_grace_period")
        isPersistent = try claims.flag("allow_persistence") ?? false
        if let fairPlay = try claims.object("fairplay") {
            try fairPlay.refuseStrangers(to: Self.fairPlayVocabulary)
            if try fairPlay.bool("ignore_keys_in_license_request") == true {
                throw fairPlay.unsupported("ignore_keys_in_license_request")
            }
            // A member for FairPlay replaces the same member for all systems.
            duration = try fairPlay.seconds("duration") ?? duration
            isPersistent = try fairPlay.flag("allow_persistence") ?? isPersistent
            playback = try fairPlay.seconds("playback_duration")
            if try fairPlay.bool("real_time_expiration") == true { lease = LimitSeconds.least(lease, duration) }
        }
    }

}

extension ClaimObject {
    /// A boolean, or a boolean as a text: Axinom's published messages contain both `true` and `"true"`.
    fileprivate func flag(_ name: String) throws(EntitlementError) -> Bool? {
        switch self[name]?.string {
        case "true": true
        case "false": false
        default: try bool(name)  // A boolean or an absent member. Anything else is refused.
        }
    }
}

/// The limits in `license_server`: how often, from where and how many times concurrently content may be used.
struct AxinomAccess {
    private(set) var session = SessionClaims()
    private(set) var limits = UseLimits()

    private static let vocabulary = [
        "prevent_drm_message_reuse", "concurrency_limit", "concurrency_mode", "allowed_ip_addresses", "fairplay",
        "playready", "widevine",
    ]

    init(reading claims: ClaimObject?, grace: Int64?) throws(EntitlementError) {
        guard let claims else { return }
        try claims.refuseStrangers(to: ["return_license_request_info", "access_control"])
        guard let access = try claims.object("access_control") else { return }
        try access.refuseStrangers(to: Self.vocabulary)
        var mode = try access.string("concurrency_mode")
        if let fairPlay = try access.object("fairplay") {
            // Its identifiers have 16 bytes, but those in an SPC have 20.
            try fairPlay.refuse(["allowed_device_ids"])
            try fairPlay.refuseStrangers(to: ["concurrency_mode", "use_native_session_ids"])
            mode = try fairPlay.string("concurrency_mode") ?? mode
            _ = try fairPlay.bool("use_native_session_ids")
        }
        session = SessionClaims(groups: try Self.groups(of: access, mode: mode), grace: grace)
        limits = UseLimits(
            usesPerKey: try access.flag("prevent_drm_message_reuse") == true ? 1 : nil,
            networks: try access.list("allowed_ip_addresses", countMaximum: UseLimits.networkCountMaximum) { text in
                IPNetwork(text)
            } ?? [])
    }

    /// Returns the group that limits concurrent playbacks. The playbacks are counted by the session in the SPC, in
    /// every mode.
    private static func groups(
        of access: ClaimObject, mode: String?
    ) throws(EntitlementError) -> [SessionClaims.Group] {
        let limit = try access.count("concurrency_limit")
        switch mode {
        case nil where limit == nil, "NONE": return []
        case nil, "BLOCK_NEW_DEVICE":
            return [SessionClaims.Group(id: "all", maximum: try access.required("concurrency_limit", limit))]
        default: throw access.unsupported("concurrency_mode")  // Axinom does not describe any other mode.
        }
    }
}
