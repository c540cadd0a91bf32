import ByteCoding
package import Entitlements
import Licensing

extension Configuration {
    /// The service that is compatible with ExpressPlay: which customers may have tokens made, and where tokens are
    /// redeemed.
    package struct ExpressPlay: Equatable, Sendable {
        /// The customers that may have tokens made. Empty by default.
        package let customers: [Customer]
        /// The URL that apps are told for redeeming tokens; nil for the first path under `publicURL`.
        package let redeemURL: String?
        /// The paths at which this server redeems tokens, in addition to its license paths.
        package let redeemPaths: Set<String>
        /// Whether keys may stand in the URL of a token request.
        package let allowKeysInURL: Bool
        package let sees: SEES?
    }
}

extension Configuration.ExpressPlay {
    static let redeemPathDefault = "/hms/fp/rights/"

    package struct Customer: Equatable, Sendable {
        package let name: String
        /// The issuer of the dialect `expressplay` in whose name its tokens are sealed.
        package let issuer: String
        package let authenticator: SecretSource
        /// The customer's authenticator for another environment. If the two are confused, the log says so.
        package let otherAuthenticator: SecretSource?
        package let tokensPerDay: UInt32?
        package let rate: Rate?
        package let isDisabled: Bool
        /// Content ids, or prefixes that end with an asterisk; nil for all contents.
        package let contents: Set<String>?
    }

    /// The entitlement server, which is compatible with ExpressPlay's sample.
    package struct SEES: Equatable, Sendable {
        /// The customer in whose name tokens are made.
        package let customer: String
        /// The secret that requests present as `Authorization: Bearer`.
        package let authenticator: SecretSource?
        /// The subjects of the client certificates that are accepted.
        package let clients: Set<String>
        package let tokenLife: Duration
        /// How many devices may be registered under one cookie.
        package let devicesMaximum: UInt32
    }
}

extension Configuration.ExpressPlay {
    init?(reading section: ConfigurationSection) {
        let customers = section.sections(
            "customers",
            example: "[{ name: \"player\", issuer: \"…\", authenticator: \"secrets/player-authenticator\" }]",
            allowsEmpty: true, Customer.init(reading:))
        redeemURL = section.optional("redeemURL", .redeemURL)
        redeemPaths = section.set("redeemPaths", .urlPath, allowsEmpty: true) ?? [Self.redeemPathDefault]
        allowKeysInURL = section.value("allowKeysInURL", .boolean, default: false)
        sees = section.optionalSection("sees", SEES.init(reading:))

        if section.contains("customers"), customers == nil { return nil }
        self.customers = customers ?? []
        section.requireDistinct(self.customers.map(\.name)) { "customers[\($0)].name" }
        if let sees, !self.customers.contains(where: { $0.name == sees.customer }) {
            section.report(
                "sees",
                .invalidValue(
                    expected: "a customer of this section as its \"customer\"", example: "{ customer: \"player\" }"))
        }
    }

    /// The URL at which apps are told to redeem tokens; nil if neither `redeemURL` nor `publicURL` gives one.
    func redeemURL(under publicURL: String?) -> String? {
        let path = redeemPaths.contains(Self.redeemPathDefault) ? Self.redeemPathDefault : redeemPaths.min()
        guard redeemURL == nil, let publicURL, let path else { return redeemURL }
        return publicURL + path
    }
}

extension Configuration.ExpressPlay.Customer {
    init?(reading section: ConfigurationSection) {
        let name = section.required("name", .name)
        let issuer = section.required("issuer", .identifier(example: "https://customers.example"))
        let authenticator = section.required(
            "authenticator", .file(in: section.directory, example: "secrets/player-authenticator"))
        otherAuthenticator = section.optional(
            "otherAuthenticator", .file(in: section.directory, example: "secrets/player-test-authenticator"))
        tokensPerDay = section.optional("tokensPerDay", .integer(1...UInt32.max, example: 100_000))
        rate = section.optionalSection("rate", Rate.init(reading:))
        isDisabled = section.value("disabled", .boolean, default: false)
        contents = section.set("contents", .contentScope)

        guard let name, let issuer, let authenticator else { return nil }
        self.name = name
        self.issuer = issuer
        self.authenticator = authenticator
    }
}

extension Configuration.ExpressPlay.SEES {
    init?(reading section: ConfigurationSection) {
        let customer = section.required("customer", .name)
        authenticator = section.optional(
            "authenticator", .file(in: section.directory, example: "secrets/sees-authenticator"))
        clients = section.set("clients", .subject) ?? []
        tokenLife = section.value(
            "tokenLife", .seconds(1...ExpressPlayTokenRequest.lifeMaximum, example: 300), default: .seconds(300))
        devicesMaximum = section.value("devicesMaximum", .integer(1...10_000, example: 1), default: 1)

        if authenticator == nil, clients.isEmpty, !section.contains("authenticator"), !section.contains("clients") {
            section.report(nil, .noneOf(["authenticator", "clients"]))
        }
        guard let customer else { return nil }
        self.customer = customer
    }
}

extension ConfigurationForm<String> {
    /// The same form as `publicURL`, but a slash at the end is kept.
    fileprivate static var redeemURL: ConfigurationForm {
        .string(
            "an https: or http: URL without query and fragment", example: "https://keys.example.com:443/hms/fp/rights/"
        ) { text in
            guard case .value = publicURL.read(JSONNode(value: .string(text), position: .start)) else { return nil }
            return text
        }
    }

    fileprivate static var urlPath: ConfigurationForm {
        .string("a URL's path of at most 200 characters", example: "/hms/fp/rights/") { text in
            let isPath = text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && !#""<>\^`{|}?#%"#.utf8.contains($0) }
            return text.hasPrefix("/") && text.utf8.count <= 200 && isPath ? text : nil
        }
    }

    fileprivate static var subject: ConfigurationForm {
        .string("a certificate's subject as RFC 4514 writes it", example: "CN=app-backend,O=Example") { text in
            (1...1024).contains(text.utf8.count) && !text.utf8.contains { $0 < 0x20 } ? text : nil
        }
    }
}
