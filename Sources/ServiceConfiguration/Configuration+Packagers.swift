package import Entitlements
package import PackagerAPI

extension Configuration {
    /// A packager with its credentials and its permissions.
    package struct Packager: Equatable, Sendable {
        package let name: String
        /// The user name of Basic; by default the packager's name.
        package let user: String
        /// The secret for Basic, Bearer and `x-api-key`; nil if the packager has only client certificates.
        package let secret: SecretSource?
        /// The previous secret, which is accepted too until it is removed.
        package let previousSecret: SecretSource?
        package let clientCertificates: [ClientCertificateName]
        package let scopes: Set<PackagerAPI.Packager.Scope>
        /// Content ids, or prefixes that end with an asterisk; nil for all contents.
        package let contents: Set<String>?
        /// Pinned certificates, each in a file of its own.
        package let recipients: [SecretSource]
        package let requireEncryptedDelivery: Bool
        package let rate: Rate?
        package let isDisabled: Bool
    }

    /// Reads all packagers. Returns nil if a fault was reported.
    static func packagers(reading section: ConfigurationSection) -> [Packager]? {
        let packagers = section.sections(
            "packagers", example: "[{ name: \"packager-1\", secret: \"secrets/packager-1\" }]", allowsEmpty: true,
            effect: .reload, Packager.init(reading:))
        if section.contains("packagers"), packagers == nil { return nil }
        section.requireDistinct((packagers ?? []).map(\.name)) { "packagers[\($0)].name" }
        checkCertificates(of: packagers ?? [], in: section)
        return packagers ?? []
    }

    /// Reports a client certificate that several packagers list.
    private static func checkCertificates(of packagers: [Packager], in section: ConfigurationSection) {
        var owners: [ClientCertificateName: (packager: Int, path: String)] = [:]
        for (index, packager) in packagers.enumerated() {
            for (place, name) in packager.clientCertificates.enumerated() {
                let path = "packagers[\(index)].clientCertificates[\(place)]"
                // Reading the list has already reported a name that occurs twice in it.
                if let owner = owners[name], owner.packager != index {
                    section.report(below: path, .duplicate(of: owner.path))
                } else {
                    owners[name] = (index, path)
                }
            }
        }
    }
}

extension Configuration.Packager {
    fileprivate init?(reading section: ConfigurationSection) {
        let name = section.required("name", .name)
        let user = section.optional("user", .basicUser)
        secret = section.optional("secret", .file(in: section.directory, example: "secrets/packager-1"))
        previousSecret = section.optional(
            "previousSecret", .file(in: section.directory, example: "secrets/packager-1-previous"))
        clientCertificates = section.list("clientCertificates", .certificateName) ?? []
        scopes =
            section.set("scopes", .choice(PackagerAPI.Packager.Scope.allCases, example: .read))
            ?? PackagerAPI.Packager.Scope.standard
        contents = section.set("contents", .contentScope)
        recipients =
            section.list("recipients", .file(in: section.directory, example: "packagers/packager-1.pem")) ?? []
        requireEncryptedDelivery = section.value("requireEncryptedDelivery", .boolean, default: false)
        rate = section.optionalSection("rate", Rate.init(reading:))
        isDisabled = section.value("disabled", .boolean, default: false)

        if section.isObject, !section.contains("secret") {
            if !section.contains("clientCertificates") {
                section.report(nil, .noneOf(["secret", "clientCertificates"]))
            }
            for needy in ["user", "previousSecret"] where section.contains(needy) {
                section.report(needy, .incomplete(without: "secret"))
            }
        }
        if requireEncryptedDelivery, !section.contains("recipients") {
            section.report("requireEncryptedDelivery", .incomplete(without: "recipients"))
        }
        guard let name else { return nil }
        self.name = name
        self.user = user ?? name
    }
}

extension ConfigurationForm<String> {
    /// A user name of Basic (RFC 7617, section 2).
    fileprivate static var basicUser: ConfigurationForm {
        .string("a user name of 1 to 256 bytes without \":\" and control characters", example: "tenant-1") { text in
            let isUser = text.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F && $0 != UInt8(ascii: ":") }
            return isUser && (1...256).contains(text.utf8.count) ? text : nil
        }
    }
}
