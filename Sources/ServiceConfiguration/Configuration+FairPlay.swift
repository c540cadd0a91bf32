import Licensing

extension Configuration.FairPlay {
    init?(reading section: ConfigurationSection) {
        let spcVersion3 = section.value("spcVersion3", .boolean, default: false)
        let credentials = section.requiredSections(
            "credentials",
            example: "[{ name: \"main\", certificate2048: \"…\", privateKey2048: \"…\", applicationSecret: \"…\" }]"
        ) { Configuration.Credential(reading: $0, spcVersion3: spcVersion3) }
        let protocolVersions = section.set("protocolVersions", .integer(1...UInt32.max, example: 1)) ?? [1]
        let allowTestCredentials = section.value("allowTestCredentials", .boolean, default: false)

        let policy = LicensePolicy(reading: section)

        guard let credentials else { return nil }
        section.requireDistinct(credentials.map(\.name)) { "credentials[\($0)].name" }
        self.credentials = credentials
        self.protocolVersions = protocolVersions
        self.allowTestCredentials = allowTestCredentials
        self.policy = policy
    }
}
