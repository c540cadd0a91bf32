package import Entitlements
import Licensing

extension Configuration.Entitlement {
    /// Ten years.
    private static let deviceLifeMaximum: Int64 = 3650 * 86_400

    init?(reading section: ConfigurationSection) {
        let issuers = section.requiredSections(
            "issuers",
            example:
                "[{ issuer: \"https://portal.example\", keys: [{ kid: \"k1\", algorithm: \"ES256\", key: \"…\" }] }]",
            Configuration.Issuer.init(reading:))
        let leeway = section.value(
            "leeway", .seconds(0...IssuerSet.leewayMaximum, example: IssuerSet.leewayDefault),
            default: .seconds(IssuerSet.leewayDefault))
        let deviceLife = section.value(
            "deviceLife", .seconds(60...Self.deviceLifeMaximum, example: DecisionRecorder.deviceLifeDefault),
            default: .seconds(DecisionRecorder.deviceLifeDefault), effect: .restart)
        let ignored = section.set(
            "ignoredSources", .choice(TokenSource.allCases, example: .bearer), allowsEmpty: true)
        let headers = section.set("tokenHeaders", .fieldName, allowsEmpty: true)
        let readsBody = section.value("tokenInBody", .boolean, default: false)
        countryField = section.optional("countryField", .fieldName)
        let policy = EntitlementPolicy(reading: section)
        let sessions = section.section("sessions", Configuration.Sessions.init(reading:))
        let callback = section.optionalSection("callback", Configuration.Callback.init(reading:))

        guard let issuers else { return nil }
        let keys = issuers.enumerated().flatMap { issuer, value in
            value.keys.enumerated().map { (kid: $1.kid, path: "issuers[\(issuer)].keys[\($0)].kid") }
        }
        section.requireDistinct(keys.map(\.kid)) { keys[$0].path }
        let urls = issuers.enumerated().compactMap { issuer, value in
            value.keysURL.map { (text: $0.url.text, path: "issuers[\(issuer)].\($0.field)") }
        }
        section.requireDistinct(urls.map(\.text)) { urls[$0].path }
        // Metrics and messages name the keys of a URL by issuer and dialect.
        let owners = issuers.enumerated().filter { $1.keysURL != nil }.map { index, value in
            (text: "\(value.dialect.rawValue) \(value.issuer)", path: "issuers[\(index)].issuer")
        }
        section.requireDistinct(owners.map(\.text)) { owners[$0].path }
        self.issuers = issuers
        self.leeway = leeway
        self.deviceLife = deviceLife
        finder = TokenFinder(ignoring: ignored ?? [], headerNames: (headers ?? []).sorted(), readsBody: readsBody)
        self.policy = policy
        self.sessions = sessions
        self.callback = callback
    }
}

extension Configuration.Entitlement {
    /// The findings about the profiles and the common limits.
    ///
    /// With `offlineByRight`, a right is enough for a stored key, and ContentAuthZ has no limits for stored keys. The
    /// rules must then set these limits.
    package var findings: [PolicyFinding] {
        let limitsStoredKeys = issuers.contains { $0.offlineByRight || $0.dialect == .nagra }
        return PolicyLint.findings(in: policy, limitsStoredKeys: limitsStoredKeys)
    }
}

extension Configuration {
    /// The names of all issuers, and of the call-back service, which counts as one.
    package var issuerNames: Set<String> {
        Set(entitlement.issuers.map(\.issuer)).union(entitlement.callback.map { [$0.name] } ?? [])
    }
}

extension Configuration.Issuer {
    private static let lifeMaximum: Duration = .seconds(366 * 86_400)
    private static let lifeDefault: Duration = .seconds(86_400)

    init?(reading section: ConfigurationSection) {
        let issuer = section.required("issuer", .identifier(example: "https://portal.example"))
        let audience = section.value("audience", .identifier(example: "latchkey"), default: "latchkey")
        let dialect = section.value("dialect", .choice(TokenDialect.allCases, example: .jwt), default: .jwt)
        let keysFile = section.optional("keysFile", .file(in: section.directory, example: "secrets/portal-keys.json"))
        let discovers = section.value(Configuration.KeysURL.discoveryField, .boolean, default: false)
        let keysURL = Configuration.KeysURL(reading: section, discovered: discovers ? issuer ?? "" : nil)
        let example = "[{ kid: \"k1\", algorithm: \"ES256\", key: \"secrets/token-verification-key.pem\" }]"
        let keys =
            section.contains("keysFile") || section.contains("keysURL") || discovers
            ? section.sections("keys", example: example, Configuration.IssuerKey.init(reading:))
            : section.requiredSections("keys", example: example, Configuration.IssuerKey.init(reading:))
        let maximumLife = section.value(
            "maximumLife", .seconds(1...Self.lifeMaximum.components.seconds, example: 86_400),
            default: dialect == .expressPlay ? .seconds(ExpressPlayTokenRequest.lifeMaximum) : Self.lifeDefault)
        let offlineByRight = section.value("offlineByRight", .boolean, default: false)
        let contents = section.set("contents", .contentScope)

        let hasOtherKeys = keysFile != nil || keysURL != nil
        guard let issuer, keys != nil || (hasOtherKeys && !section.contains("keys")) else { return nil }
        for (index, key) in (keys ?? []).enumerated() where !key.isFit(for: dialect) {
            section.report(
                "keys", .invalidValue(expected: "keys \(index) with a signature algorithm", example: "\"HS256\""))
        }
        self.issuer = issuer
        self.audience = audience
        self.dialect = dialect
        self.keys = keys ?? []
        self.keysFile = keysFile
        self.keysURL = keysURL
        self.maximumLife = maximumLife
        self.offlineByRight = offlineByRight
        self.contents = contents
    }
}

extension Configuration.IssuerKey {
    init?(reading section: ConfigurationSection) {
        let kid = section.required("kid", .identifier(example: "k1", sizeMaximum: VerificationKey.idSizeMaximum))
        let algorithm = section.required(
            "algorithm", .choice(Configuration.KeyAlgorithm.allCases, example: .es256))
        let key = section.required("key", .file(in: section.directory, example: "secrets/token-verification-key.pem"))
        let state = KeyState(reading: section)

        if algorithm == .a256GCM, let kid, UInt32(kid) == nil || kid != "\(UInt32(kid) ?? 0)" {
            section.report("kid", .invalidValue(expected: "a number from 0 to 4294967295", example: "\"1\""))
        }
        guard let kid, let algorithm, let key, let state else { return nil }
        self.kid = kid
        self.algorithm = algorithm
        self.key = key
        self.state = state
    }

    /// Whether tokens of a dialect can have this key. Only the dialect `expressplay` has sealed tokens. A signing key
    /// fits every dialect.
    fileprivate func isFit(for dialect: TokenDialect) -> Bool {
        algorithm != .a256GCM || dialect == .expressPlay
    }
}

extension KeyState {
    private enum Word: String, CaseIterable {
        case next, active, retiring, revoked
    }

    /// Reads `state` and `until`. If they do not fit together, reports it and returns nil.
    fileprivate init?(reading section: ConfigurationSection) {
        let word = section.value("state", .choice(Word.allCases, example: .active), default: .active)
        let end = section.optional("until", .time)
        if word != .retiring, section.contains("until") { section.report("until", .incomplete(without: "state")) }
        switch word {
        case .next: self = .next
        case .active: self = .active
        case .revoked: self = .revoked
        case .retiring:
            guard let end else {
                if !section.contains("until") { section.report("state", .incomplete(without: "until")) }
                return nil
            }
            self = .retiring(until: end)
        }
    }
}

extension EntitlementPolicy {
    private static let profileCountMaximum = 64

    /// Reads `profiles` and `limitsForEveryLicense` of the section `entitlement`.
    init(reading section: ConfigurationSection) {
        let profiles = section.namedSections(
            "profiles", countMaximum: Self.profileCountMaximum, PolicyRule.init(reading:))
        let common = section.section("limitsForEveryLicense", PolicyRule.init(reading:))
        self.init(profiles: profiles, common: common ?? PolicyRule())
    }
}

extension PolicyRule {
    /// The longest duration, in seconds. A longer one is probably a typing error.
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

extension Configuration {
    /// Session tokens, which renew a lease without another entitlement token.
    package struct Sessions: Equatable, Sendable {
        /// The 32 bytes that sign the tokens; the same on all nodes.
        package let key: SecretSource
        /// Earlier keys, whose tokens are still accepted.
        package let retiredKeys: Set<SecretSource>
        /// How long after the end of a lease a token may still renew it: whole seconds.
        package let grace: Duration
        /// How long a session may last: whole seconds.
        package let maximumLife: Duration
    }
}

extension Configuration.Sessions {
    private static let lifeMaximum: Int64 = 30 * 86_400

    /// Returns nil if no key is named, or if a fault of the key was reported.
    init?(reading section: ConfigurationSection) {
        let key = section.secret("key", inPlace: "secrets/session-key")
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
