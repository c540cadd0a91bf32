import Licensing

extension Configuration.FairPlay {
    init?(reading section: ConfigurationSection) {
        let credentials = section.requiredSections(
            "credentials",
            example: "[{ name: \"main\", certificate2048: \"…\", privateKey2048: \"…\", applicationSecret: \"…\" }]",
            Configuration.Credential.init(reading:))
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

extension Configuration.Credential {
    init?(reading section: ConfigurationSection) {
        let name = section.required("name", .name)
        let pair1024 = Configuration.KeyPair(reading: section, bits: "1024")
        let pair2048 = Configuration.KeyPair(reading: section, bits: "2048")
        let secret = Configuration.LadderSecret(reading: section)

        let certificates = ["certificate1024", "certificate2048"]
        if !(certificates + ["privateKey1024", "privateKey2048"]).contains(where: section.contains) {
            section.report(nil, .noneOf(certificates))
        }
        guard let name, let secret else { return nil }
        self.name = name
        self.pair1024 = pair1024
        self.pair2048 = pair2048
        self.secret = secret
    }
}

extension Configuration.KeyPair {
    /// Reads the two fields of one key size; nil where neither is there, or where something was reported.
    fileprivate init?(reading section: ConfigurationSection, bits: String) {
        let names = (certificate: "certificate" + bits, privateKey: "privateKey" + bits)
        let certificate = section.optional(
            names.certificate, .file(in: section.directory, example: "fairplay/certificate-\(bits).der"))
        let privateKey = section.optional(
            names.privateKey, .file(in: section.directory, example: "fairplay/private-key-\(bits).pem"))

        switch (section.contains(names.certificate), section.contains(names.privateKey)) {
        case (true, false): section.report(names.certificate, .incomplete(without: names.privateKey))
        case (false, true): section.report(names.privateKey, .incomplete(without: names.certificate))
        case (true, true), (false, false): break
        }
        guard let certificate, let privateKey else { return nil }
        self.certificate = certificate
        self.privateKey = privateKey
    }
}

extension Configuration.LadderSecret {
    /// Reads the fields of which exactly one must be there; nil where something was reported.
    fileprivate init?(reading section: ConfigurationSection) {
        let names = (applicationSecret: "applicationSecret", fixedDASk: "fixedDASk")
        let applicationSecret = section.optional(
            names.applicationSecret, .file(in: section.directory, example: "fairplay/application-secret.hex"))
        let fixedDASk = section.optional(names.fixedDASk, .file(in: section.directory, example: "fairplay/dask.hex"))

        switch (section.contains(names.applicationSecret), section.contains(names.fixedDASk)) {
        case (true, true): section.report(names.fixedDASk, .conflict(with: names.applicationSecret))
        case (false, false): section.report(nil, .noneOf([names.applicationSecret, names.fixedDASk]))
        case (true, false), (false, true): break
        }
        if let applicationSecret {
            self = .applicationSecret(applicationSecret)
        } else if let fixedDASk {
            self = .fixedDASk(fixedDASk)
        } else {
            return nil
        }
    }

    /// The file, whatever is in it.
    var source: SecretSource {
        switch self {
        case .applicationSecret(let source), .fixedDASk(let source): source
        }
    }
}
