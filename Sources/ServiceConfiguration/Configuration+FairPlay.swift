package import FairPlay
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
        if !credentials.contains(where: { $0.stage == .serving }) {
            section.report(
                "credentials",
                .invalidValue(
                    expected: "at least one credential with the stage \"serving\"", example: "stage: \"serving\""))
        }
        self.credentials = credentials
        self.protocolVersions = protocolVersions
        self.allowTestCredentials = allowTestCredentials
        self.policy = policy
    }
}

extension Configuration {
    /// The credential that Apple issued for one deployment.
    package struct Credential: Equatable, Sendable {
        package let name: String
        package var stage: CredentialStage
        /// Nil if `ladder` is an SDK, whose own file names them.
        package let certificates: CertificateFiles?
        /// The passphrase of the private keys, if they are encrypted.
        package let privateKeyPassphrase: SecretSource?
        /// Whether SPCs of version 3 are answered. This needs a 2048-bit key. Of an SDK, it concerns the certificates
        /// with such a key.
        package let spcVersion3: Bool
        package let ladder: Ladder
    }

    /// Certificates, in DER or PEM, and their private keys.
    package enum CertificateFiles: Equatable, Sendable {
        /// The 1024-bit pair and the 2048-bit pair; at least one of them.
        case pairs(KeyPair?, KeyPair?)
        /// One file with both certificates.
        case bundle(SecretSource, privateKey1024: SecretSource, privateKey2048: SecretSource)
    }

    package struct KeyPair: Equatable, Sendable {
        package let certificate: SecretSource
        package let privateKey: SecretSource
    }
}

extension Configuration.Credential {
    /// Reads a credential. `spcVersion3` is the default if the credential does not set this field.
    init?(reading section: ConfigurationSection, spcVersion3: Bool) {
        let isSDK = section.contains("sdk")
        // An external module runs as long as the daemon, and its credential with it. A reload replaces the library of
        // an SDK.
        if section.contains("module") { section.effect = .restart }
        let name = section.required("name", .name)
        // It concerns certificates alone, so a module runs on.
        let stage = section.value(
            "stage", .choice(CredentialStage.allCases, example: .serving), default: .serving, effect: .reload)
        let certificates = isSDK ? nil : Configuration.CertificateFiles(reading: section)
        if isSDK { Configuration.CertificateFiles.reportConflicts(in: section, with: "sdk") }
        let passphrase = section.optional(
            "privateKeyPassphrase", .file(in: section.directory, example: "credential:fairplay-passphrase"))
        // The default for all credentials does not apply to a credential without a 2048-bit key.
        let has2048 = isSDK || section.contains("certificate2048") || section.contains("certificateBundle")
        let ownVersion3 = section.value("spcVersion3", .boolean, default: spcVersion3 && has2048)
        let ladder = Configuration.Ladder(reading: section)

        if ownVersion3, !has2048 { section.report("spcVersion3", .incomplete(without: "certificate2048")) }
        guard let name, let ladder, isSDK || certificates != nil else { return nil }
        self.name = name
        self.stage = stage
        self.certificates = certificates
        privateKeyPassphrase = passphrase
        self.spcVersion3 = ownVersion3 && has2048
        self.ladder = ladder
    }

    /// Every file that the credential names.
    var sources: [SecretSource] {
        (certificates?.sources ?? []) + [privateKeyPassphrase, ladder.source].compactMap(\.self)
    }
}

extension Configuration.CertificateFiles {
    private static let bundleName = "certificateBundle"
    private static let names = [
        (certificate: "certificate1024", privateKey: "privateKey1024"),
        (certificate: "certificate2048", privateKey: "privateKey2048"),
    ]

    /// Reports each field of a certificate or a private key that is set beside another field that excludes it.
    fileprivate static func reportConflicts(in section: ConfigurationSection, with other: String) {
        for name in [bundleName] + names.flatMap({ [$0.certificate, $0.privateKey] }) where section.contains(name) {
            section.report(name, .conflict(with: other))
        }
    }

    /// Reads one bundle or up to two certificates, and their keys; nil if something was reported.
    fileprivate init?(reading section: ConfigurationSection) {
        let bundle = section.optional(Self.bundleName, .file(in: section.directory, example: "fairplay/bundle.bin"))
        let files = Self.names.map { Files(reading: section, $0.certificate, $0.privateKey) }
        let isBundle = section.contains(Self.bundleName)

        for file in files { file.reportStrangers(in: section, besidesBundle: isBundle ? Self.bundleName : nil) }
        if !isBundle, !files.contains(where: \.isMentioned) {
            section.report(nil, .noneOf([Self.bundleName] + Self.names.map(\.certificate)))
        }
        if isBundle {
            guard let bundle, let key1024 = files[0].privateKey, let key2048 = files[1].privateKey else { return nil }
            self = .bundle(bundle, privateKey1024: key1024, privateKey2048: key2048)
        } else {
            guard files.contains(where: { $0.pair != nil }) else { return nil }
            self = .pairs(files[0].pair, files[1].pair)
        }
    }

    /// The fields of the certificate and the private key of one key size.
    private struct Files {
        let names: (certificate: String, privateKey: String)
        let certificate: SecretSource?
        let privateKey: SecretSource?
        private let has: (certificate: Bool, privateKey: Bool)

        init(reading section: ConfigurationSection, _ certificateName: String, _ privateKeyName: String) {
            names = (certificateName, privateKeyName)
            let bits = certificateName.suffix(4)
            certificate = section.optional(
                certificateName, .file(in: section.directory, example: "fairplay/certificate-\(bits).der"))
            privateKey = section.optional(
                privateKeyName, .file(in: section.directory, example: "fairplay/private-key-\(bits).pem"))
            has = (section.contains(certificateName), section.contains(privateKeyName))
        }

        var isMentioned: Bool { has.certificate || has.privateKey }

        var pair: Configuration.KeyPair? {
            guard let certificate, let privateKey else { return nil }
            return Configuration.KeyPair(certificate: certificate, privateKey: privateKey)
        }

        /// Reports a certificate without its private key, a private key without its certificate, and a certificate in
        /// addition to a bundle.
        func reportStrangers(in section: ConfigurationSection, besidesBundle bundle: String?) {
            if let bundle {
                if has.certificate { section.report(names.certificate, .conflict(with: bundle)) }
                if !has.privateKey { section.report(bundle, .incomplete(without: names.privateKey)) }
            } else if has.certificate, !has.privateKey {
                section.report(names.certificate, .incomplete(without: names.privateKey))
            } else if has.privateKey, !has.certificate {
                section.report(names.privateKey, .incomplete(without: names.certificate))
            }
        }
    }

    fileprivate var sources: [SecretSource] {
        switch self {
        case .pairs(let first, let second):
            [first, second].compactMap(\.self).flatMap { [$0.certificate, $0.privateKey] }
        case .bundle(let bundle, let privateKey1024, let privateKey2048): [bundle, privateKey1024, privateKey2048]
        }
    }
}
