package import Entitlements
package import HTTPCalls
import KeyCrypto

extension Configuration {
    /// The URL of a JSON Web Key Set, and how the daemon fetches it.
    package struct KeysURL: Equatable, Sendable {
        package let url: ServiceURL
        package let reach: HTTPCallSettings.Reach
        /// The only authorities that may issue the server's certificate; nil for those of the system.
        package let authorities: SecretSource?
        package let schedule: FetchedKeys.Settings
    }
}

extension Configuration.KeysURL {
    private static let field = "keysURL"

    /// Reads the fields of an issuer whose names begin with `keys`. Returns nil if the issuer has no URL, or if a fault
    /// was reported.
    init?(reading issuer: ConfigurationSection) {
        let url = issuer.optional(Self.field, .keySetURL)
        let hosts = issuer.set("keysHosts", .hostOrAddress, allowsEmpty: true)
        let authorities = issuer.optional(
            "keysAuthorities", .file(in: issuer.directory, example: "tls/portal-ca.pem"))
        let refresh = Self.time("keysRefresh", 1...86_400, FetchedKeys.refreshDefault, in: issuer)
        let maximumAge = Self.time("keysMaximumAge", 2...30 * 86_400, FetchedKeys.maximumAgeDefault, in: issuer)

        guard issuer.contains(Self.field) else {
            for name in ["keysHosts", "keysAuthorities", "keysRefresh", "keysMaximumAge"] where issuer.contains(name) {
                issuer.report(name, .incomplete(without: Self.field))
            }
            return nil
        }
        if issuer.contains("keysFile") { issuer.report(Self.field, .conflict(with: "keysFile")) }
        // One failure must not be enough for the keys to become too old.
        if maximumAge < refresh * 2 {
            issuer.report(
                "keysMaximumAge", .invalidValue(expected: "at least twice \"keysRefresh\"", example: "\"24h\""))
        }
        guard let url, let reach = url.reach(naming: hosts ?? [], in: issuer, Self.field, "keysHosts") else {
            return nil
        }
        self.url = url
        self.reach = reach
        self.authorities = authorities
        schedule = FetchedKeys.Settings(refresh: refresh, maximumAge: maximumAge)
    }

    /// Only an issuer with a URL has the default in force.
    private static func time(
        _ name: String, _ range: ClosedRange<Int64>, _ standard: Duration, in issuer: ConfigurationSection
    ) -> Duration {
        let form = ConfigurationForm<Duration>.seconds(range, example: standard.components.seconds)
        guard issuer.contains(field) else { return issuer.optional(name, form) ?? standard }
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
    package let schedule: FetchedKeys.Settings

    /// The URL without its query, which may have a secret.
    package var url: String { String(calls.url.prefix { $0 != "?" }) }

    /// Whether the keys of both are the same: those of one issuer, from one URL.
    package func isSame(as other: KeySource) -> Bool {
        issuer == other.issuer && dialect == other.dialect && calls.url == other.calls.url
    }

    /// Whether both reach the URL by the same addresses and authorities.
    package func isReached(like other: KeySource) -> Bool {
        calls.reach == other.calls.reach && calls.authorities == other.calls.authorities
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
        return "the daemon fetches keys of \(issuer) from \(url) (\(reach)) every"
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
                    schedule: configured.schedule))
        }
        return sources
    }
}
