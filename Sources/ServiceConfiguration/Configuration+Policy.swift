import Entitlements

extension EntitlementPolicy {
    private static let profileCountMaximum = 64

    /// Reads `profiles` and `floor` of the section `entitlement`.
    init(reading section: ConfigurationSection) {
        let profiles = section.namedSections(
            "profiles", countMaximum: Self.profileCountMaximum, PolicyRule.init(reading:))
        let floor = section.section("floor", PolicyRule.init(reading:))
        self.init(profiles: profiles, floor: floor ?? PolicyRule())
    }
}

extension PolicyRule {
    /// Longer ones are taken for a typing error.
    private static let secondsMaximum: Int64 = 10 * 366 * 86_400

    fileprivate init(reading section: ConfigurationSection) {
        self.init(
            lease: Self.seconds("lease", in: section, example: 300),
            duration: Self.seconds("duration", in: section, example: 172_800),
            storage: Self.seconds("storage", in: section, example: 604_800),
            playback: Self.seconds("playback", in: section, example: 172_800),
            allowsOffline: section.optional("offline", .boolean),
            protection: Protection(reading: section),
            tracks: section.namedSections("tracks", countMaximum: Right.trackCountMaximum, Protection.init(reading:)),
            outputs: OutputPermissions(
                airPlay: section.optional("airplay", .boolean), avAdapter: section.optional("avAdapter", .boolean)))
    }

    private static func seconds(_ name: String, in section: ConfigurationSection, example: Int64) -> Int64? {
        section.optional(name, .seconds(1...secondsMaximum, example: example))?.components.seconds
    }
}

extension Protection {
    fileprivate init(reading section: ConfigurationSection) {
        self.init(
            hdcp: section.optional("hdcp", .choice(Right.HDCP.allCases, example: .type0)),
            securityLevel: section.optional("securityLevel", .choice(Right.SecurityLevel.allCases, example: .baseline)))
    }
}
