import Entitlements

extension Configuration.Entitlement {
    init?(reading section: ConfigurationSection) {
        let issuers = section.requiredSections(
            "issuers",
            example:
                "[{ issuer: \"https://portal.example\", keys: [{ kid: \"k1\", algorithm: \"ES256\", key: \"…\" }] }]",
            Configuration.Issuer.init(reading:))
        let leeway = section.value(
            "leeway", .seconds(0...IssuerSet.leewayMaximum, example: IssuerSet.leewayDefault),
            default: .seconds(IssuerSet.leewayDefault))

        guard let issuers else { return nil }
        let keys = issuers.enumerated().flatMap { issuer, value in
            value.keys.enumerated().map { (kid: $1.kid, path: "issuers[\(issuer)].keys[\($0)].kid") }
        }
        section.requireDistinct(keys.map(\.kid)) { keys[$0].path }
        self.issuers = issuers
        self.leeway = leeway
    }
}

extension Configuration.Issuer {
    private static let lifeMaximum: Duration = .seconds(366 * 86_400)

    init?(reading section: ConfigurationSection) {
        let issuer = section.required("issuer", .identifier(example: "https://portal.example"))
        let audience = section.value("audience", .identifier(example: "latchkey"), default: "latchkey")
        let dialect = section.value("dialect", .choice(Configuration.Dialect.allCases, example: .jwt), default: .jwt)
        let keys = section.requiredSections(
            "keys", example: "[{ kid: \"k1\", algorithm: \"ES256\", key: \"secrets/token-key.pem\" }]",
            Configuration.IssuerKey.init(reading:))
        let maximumLife = section.value(
            "maximumLife", .seconds(1...Self.lifeMaximum.components.seconds, example: 86_400), default: .seconds(86_400)
        )

        guard let issuer, let keys else { return nil }
        self.issuer = issuer
        self.audience = audience
        self.dialect = dialect
        self.keys = keys
        self.maximumLife = maximumLife
    }
}

extension Configuration.IssuerKey {
    init?(reading section: ConfigurationSection) {
        let kid = section.required("kid", .identifier(example: "k1", sizeMaximum: Token.keyIDSizeMaximum))
        let algorithm = section.required("algorithm", .choice([SigningAlgorithm.es256, .hs256], example: .es256))
        let key = section.required("key", .file(in: section.directory, example: "secrets/token-signing-key.pem"))

        guard let kid, let algorithm, let key else { return nil }
        self.kid = kid
        self.algorithm = algorithm
        self.key = key
    }
}
