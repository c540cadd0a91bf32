import ByteCoding

/// The limits on concurrent playbacks (entitlement, section 4.8).
package struct SessionClaims: Equatable, Sendable {
    /// What happens to a playback beyond the limit.
    package enum Mode: String, Sendable, CaseIterable {
        case denyNew = "deny_new"
        /// The oldest playback gets no further renewal.
        case evictOldest = "evict_oldest"
    }

    /// A group of playbacks that are counted together, and the most that may run concurrently.
    package struct Group: Equatable, Sendable {
        package let id: String
        package let maximum: UInt32
    }

    package static let groupCountMaximum = 16

    /// The operator's name for the session.
    package let id: String?
    package let groups: [Group]
    package let mode: Mode
    /// For how many seconds after the end of its lease a playback is still counted.
    package let grace: Int64?

    package init(id: String? = nil, groups: [Group] = [], mode: Mode = .denyNew, grace: Int64? = nil) {
        self.id = id
        self.groups = groups
        self.mode = mode
        self.grace = grace
    }
}

extension SessionClaims {
    /// Reads `session` of the native vocabulary. Throws `claimInvalid` and `claimUnsupported`.
    init(native session: ClaimObject) throws(EntitlementError) {
        try session.refuseStrangers(to: ["id", "groups", "mode"])
        self.init(
            id: try session.string("id"), groups: try Self.groups(of: session, id: "id", maximum: "max"),
            mode: try session.word("mode") ?? .denyNew)
    }

    /// Reads the groups of any dialect. `id` and `maximum` are the dialect's names for the members of a group.
    ///
    /// No group may occur twice, because it would be unclear which limit counts.
    static func groups(
        of session: ClaimObject, id: String, maximum: String
    ) throws(EntitlementError) -> [Group] {
        var groups: [Group] = []
        for object in try session.objects("groups", countMaximum: groupCountMaximum) ?? [] {
            try object.refuseStrangers(to: [id, maximum])
            let name = try object.required(id, try object.string(id))
            guard !groups.contains(where: { $0.id.hasSameUTF8(as: name) }) else { throw object.invalid(id) }
            groups.append(Group(id: name, maximum: try object.required(maximum, try object.count(maximum))))
        }
        return groups
    }
}
