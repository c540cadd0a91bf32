import ByteCoding
package import Entitlements
package import HTTPCalls
import KeyCrypto

extension Configuration {
    /// Where the daemon fetches a JSON Web Key Set, and how.
    package struct KeysURL: Equatable, Sendable {
        /// The URL of the set; with `isDiscovered` that of the issuer's OpenID document, which names the set's.
        package let url: ServiceURL
        package let isDiscovered: Bool
        /// The hosts that may have any address.
        package let hosts: Set<String>
        package let reach: HTTPCallSettings.Reach
        /// The only authorities that may issue the server's certificate; nil for those of the system.
        package let authorities: SecretSource?
        package let schedule: FetchedKeys.Settings

        /// The field that names the URL.
        package var field: String { isDiscovered ? Self.discoveryField : Self.field }
    }
}

extension Configuration.KeysURL {
    static let field = "keysURL"
    static let discoveryField = "discover"
    /// Where an issuer has its OpenID document (OpenID Connect Discovery 1.0, section 4).
    private static let documentPath = "/.well-known/openid-configuration"

    /// Reads the fields of an issuer whose names begin with `keys`. Returns nil if the issuer has no URL, or if a fault
    /// was reported. `discovered` is the issuer's name if its OpenID document names the URL.
    init?(reading issuer: ConfigurationSection, discovered: String?) {
        let hasURL = issuer.contains(Self.field) || discovered != nil
        let named = issuer.optional(Self.field, .keySetURL)
        let hosts = issuer.set("keysHosts", .hostOrAddress, allowsEmpty: true) ?? []
        let authorities = issuer.optional(
            "keysAuthorities", .file(in: issuer.directory, example: "tls/portal-ca.pem"))
        let refresh = Self.time(
            "keysRefresh", 1...86_400, standard: FetchedKeys.refreshDefault, hasURL: hasURL, in: issuer)
        let maximumAge = Self.time(
            "keysMaximumAge", 2...30 * 86_400, standard: FetchedKeys.maximumAgeDefault, hasURL: hasURL, in: issuer)

        guard hasURL else {
            for name in ["keysHosts", "keysAuthorities", "keysRefresh", "keysMaximumAge"] where issuer.contains(name) {
                issuer.report(name, .incomplete(without: Self.field))
            }
            return nil
        }
        let field = discovered == nil ? Self.field : Self.discoveryField
        for other in ["keysFile", Self.field] where other != field && issuer.contains(other) {
            issuer.report(field, .conflict(with: other))
        }
        // One failure must not be enough for the keys to become too old.
        if maximumAge < refresh * 2 {
            issuer.report(
                "keysMaximumAge", .invalidValue(expected: "at least twice \"keysRefresh\"", example: "\"24h\""))
        }
        guard let url = discovered.map({ Self.documentURL(of: $0, in: issuer) }) ?? named,
            let reach = url.reach(naming: hosts, in: issuer, field, "keysHosts")
        else { return nil }
        self.url = url
        isDiscovered = discovered != nil
        self.hosts = hosts
        self.reach = reach
        self.authorities = authorities
        schedule = FetchedKeys.Settings(refresh: refresh, maximumAge: maximumAge)
    }

    /// The URL of an issuer's OpenID document. Returns nil if the issuer's name is no URL, and reports that.
    private static func documentURL(of name: String, in issuer: ConfigurationSection) -> ServiceURL? {
        let base = name.hasSuffix("/") ? name.dropLast() : name[...]
        let url = ServiceURL(name) == nil ? nil : ServiceURL("\(base)\(documentPath)")
        if url == nil {
            issuer.report(
                discoveryField,
                .invalidValue(
                    expected: "an \"issuer\" that is an https: URL without user, query and fragment",
                    example: "issuer: \"https://portal.example\""))
        }
        return url
    }

    /// Only an issuer with a URL has the default in force.
    private static func time(
        _ name: String, _ range: ClosedRange<Int64>, standard: Duration, hasURL: Bool,
        in issuer: ConfigurationSection
    ) -> Duration {
        let form = ConfigurationForm<Duration>.seconds(range, example: standard.components.seconds)
        guard hasURL else { return issuer.optional(name, form) ?? standard }
        return issuer.value(name, form, default: standard)
    }
}

/// Where the keys of an issuer are fetched, with the contents of its files.
package struct KeySource: Sendable {
    /// The index of the issuer in `LoadedConfiguration.issuers`.
    package let index: Int
    package let issuer: String
    package let dialect: TokenDialect
    package let calls: HTTPCallSettings
    /// The hosts that may have any address, if the URL is that of an OpenID document; nil if it is that of the keys.
    package let discoveryHosts: Set<String>?
    package let schedule: FetchedKeys.Settings

    /// The URL without its query, which may have a secret.
    package var url: String { String(calls.url.prefix { $0 != "?" }) }

    /// Whether the keys of both are the same: those of one issuer, from one URL.
    package func isSame(as other: KeySource) -> Bool {
        issuer == other.issuer && dialect == other.dialect && calls.url == other.calls.url
            && (discoveryHosts == nil) == (other.discoveryHosts == nil)
    }

    /// Whether both reach the URL by the same addresses and authorities.
    package func isReached(like other: KeySource) -> Bool {
        calls.reach == other.calls.reach && calls.authorities == other.calls.authorities
            && discoveryHosts == other.discoveryHosts
    }
}

/// Why an OpenID document does not lead to the keys of an issuer.
package enum KeyDiscoveryError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The document is not a JSON object.
    case notAnObject
    /// The document belongs to another issuer, whose keys must not verify this one's tokens.
    case otherIssuer
    /// The document has no `jwks_uri` that may be fetched.
    case uriRefused

    package var description: String {
        switch self {
        case .notAnObject: "it is not a JSON object"
        case .otherIssuer: "its \"issuer\" is not the one of the configuration"
        case .uriRefused: "its \"jwks_uri\" is not an https: URL without user and fragment"
        }
    }
}

extension KeySource {
    /// The way to the keys that the issuer's OpenID document names (OpenID Connect Discovery 1.0, section 4.3).
    ///
    /// They may be on another host, as those of large issuers are: the document came by TLS from the issuer's own. But
    /// each host has only the addresses that the configuration allows it, and http: is refused unless the document
    /// itself came that way, from this machine.
    package func keys(namedBy document: [UInt8]) throws(KeyDiscoveryError) -> HTTPCallSettings {
        guard let object = (try? JSONReader.parse(document))?.object else { throw .notAnObject }
        guard let name = object["issuer"]?.string, name.hasSameUTF8(as: issuer) else { throw .otherIssuer }
        guard let text = object["jwks_uri"]?.string, let url = ServiceURL(text, allowsQuery: true),
            url.isEncrypted || calls.reach == .loopback, let reach = url.reach(naming: discoveryHosts ?? [])
        else { throw .uriRefused }
        var keys = HTTPCallSettings(url: text, reach: reach)
        keys.authorities = calls.authorities
        keys.timeout = calls.timeout
        keys.callMaximum = calls.callMaximum
        keys.waitingMaximum = calls.waitingMaximum
        return keys
    }
}

extension KeySource: CustomStringConvertible {
    /// What the daemon fetches, for an operator.
    package var description: String {
        let reach =
            switch calls.reach {
            case .publicAddresses: "public addresses only"
            case .anyAddress: "any address"
            case .loopback: "loopback addresses only"
            }
        let verb = discoveryHosts == nil ? "fetches keys" : "finds and fetches keys"
        return "the daemon \(verb) of \(issuer) from \(url) (\(reach)) every"
            + " \(DurationText.format(schedule.refresh)), and uses them for at most"
            + " \(DurationText.format(schedule.maximumAge)) after the last confirmation"
    }
}

extension ConfigurationLoader {
    /// The time that one fetch may take.
    private static let keysTimeout: Duration = .seconds(5)

    /// Loads the files that fetching needs, for each issuer with a URL. A problem is reported.
    mutating func keySources() -> [KeySource] {
        var sources: [KeySource] = []
        for (index, issuer) in configuration.entitlement.issuers.enumerated() {
            guard let configured = issuer.keysURL else { continue }
            var calls = HTTPCallSettings(url: configured.url.text, reach: configured.reach)
            if let file = configured.authorities {
                calls.authorities = publicFile(file, "entitlement.issuers[\(index)].keysAuthorities")?.revealed()
            }
            calls.timeout = Self.keysTimeout
            calls.callMaximum = 1
            calls.waitingMaximum = 1
            sources.append(
                KeySource(
                    index: index, issuer: issuer.issuer, dialect: issuer.dialect, calls: calls,
                    discoveryHosts: configured.isDiscovered ? configured.hosts : nil, schedule: configured.schedule))
        }
        return sources
    }
}
