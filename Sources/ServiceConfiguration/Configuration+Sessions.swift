import Entitlements

extension Configuration {
    /// The tokens that renew a lease without another entitlement token.
    package struct Sessions: Equatable, Sendable {
        /// The 32 bytes that sign them; the same on all nodes.
        package let key: SecretSource
        /// Keys that signed tokens which are still good.
        package let retiredKeys: Set<SecretSource>
        /// How long past its lease a token may renew it: whole seconds.
        package let grace: Duration
        /// How long a session may last: whole seconds.
        package let maximumLife: Duration
    }
}

extension Configuration.Sessions {
    private static let lifeMaximum: Int64 = 30 * 86_400

    /// Nil if no key is named, or if that was reported.
    init?(reading section: ConfigurationSection) {
        let key = section.optional("key", .file(in: section.directory, example: "secrets/session-key"))
        retiredKeys =
            section.set(
                "retiredKeys", .file(in: section.directory, example: "secrets/session-key-1"), allowsEmpty: true) ?? []
        grace = section.value(
            "grace", .seconds(0...3600, example: SessionTokens.graceDefault),
            default: .seconds(SessionTokens.graceDefault))
        maximumLife = section.value(
            "maximumLife", .seconds(1...Self.lifeMaximum, example: SessionTokens.lifeDefault),
            default: .seconds(SessionTokens.lifeDefault))
        guard let key else {
            if !section.contains("key"), !retiredKeys.isEmpty {
                section.report("retiredKeys", .incomplete(without: "key"))
            }
            return nil
        }
        self.key = key
    }
}
