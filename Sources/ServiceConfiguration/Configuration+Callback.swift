package import Entitlements
package import HTTPCalls
package import Licensing
import POSIXSockets

extension Configuration {
    /// The operator's own service, which decides about tokens that only it can read (entitlement, section 4.9).
    package struct Callback: Equatable, Sendable {
        package let url: ServiceURL
        package let reach: HTTPCallSettings.Reach
        /// The name that takes the place of an issuer's name.
        package let name: String
        package let sources: Set<TokenSource>
        package let timeout: Duration
        package let failure: CallbackDecider.Settings.Failure
        /// The key that signs each question with an authentication code; nil if questions are not signed.
        package let secret: SecretSource?
        /// The client certificate of this server, and its key; nil for no client certificate.
        package let identity: KeyPair?
        /// The only authorities that may issue the service's certificate; nil for those of the system.
        package let authorities: SecretSource?
        package let memory: CallbackMemory.Limits
        package let breaker: CircuitBreaker.Limits
        package let rate: Rate
        package let ratePerAddress: Rate
        /// How many questions may be under way at the same time, each on a connection of its own.
        package let callMaximum: Int
        package let waitingMaximum: Int
    }
}

extension Configuration.Callback {
    init?(reading section: ConfigurationSection) {
        let url = section.required("url", .serviceURL)
        let hosts = section.set("hosts", .hostName, allowsEmpty: true) ?? []
        let name = section.value("name", .identifier(example: "callback"), default: "callback")
        let sources = section.set("sources", .choice(TokenSource.allCases, example: .headers)) ?? [.headers]
        let timeout = section.value(
            "timeout", .duration(.milliseconds(50)...(.seconds(10)), example: .milliseconds(800)),
            default: .milliseconds(800))
        let failure = section.value(
            "fail", .choice(CallbackDecider.Settings.Failure.allCases, example: .closed), default: .closed)
        let secret = section.optional("secret", .file(in: section.directory, example: "secrets/callback-secret"))
        let identity = section.optionalSection("identity", Configuration.KeyPair.init(reading:))
        let authorities = section.optional("authorities", .file(in: section.directory, example: "tls/portal-ca.pem"))
        memory = section.section("memory", CallbackMemory.Limits.init(reading:)) ?? CallbackMemory.Limits()
        breaker = section.section("breaker", CircuitBreaker.Limits.init(reading:)) ?? CircuitBreaker.Limits()
        let rates = section.section("rates") { rates in
            (
                rates.optionalSection("all", Rate.init(reading:)),
                rates.optionalSection("perAddress", Rate.init(reading:))
            )
        }
        rate = rates?.0 ?? Rate(perSecond: 1000, burst: 2000)
        ratePerAddress = rates?.1 ?? Rate(perSecond: 10, burst: 50)
        callMaximum = section.value(
            "workers", .integer(1...1024, example: HTTPCallSettings.callMaximumDefault),
            default: HTTPCallSettings.callMaximumDefault)
        waitingMaximum = section.value("waitingMaximum", .integer(1...100_000, example: 256), default: 256)

        guard let url else { return nil }
        let isNamed = hosts.contains(url.host)
        if !url.isEncrypted, !(isNamed && url.namesLoopback) {
            section.report(
                "url",
                .invalidValue(
                    expected: "an https: URL; http: is only for a loopback host that \"hosts\" lists",
                    example: "\"https://portal.example/entitle\""))
            return nil
        }
        self.url = url
        // Without encryption only loopback addresses are allowed: a name such as localhost could resolve elsewhere.
        reach = !url.isEncrypted ? .loopback : isNamed ? .anyAddress : .publicAddresses
        self.name = name
        self.sources = sources
        self.timeout = timeout
        self.failure = failure
        self.secret = secret
        self.identity = identity
        self.authorities = authorities
    }
}

extension CallbackMemory.Limits {
    fileprivate init(reading section: ConfigurationSection) {
        self.init()
        let allowed = section.value(
            "allowed", .seconds(0...3600, example: allowedSeconds), default: .seconds(allowedSeconds))
        allowedSeconds = allowed.components.seconds
        denialMaximum = section.value("denials", .integer(1...1000, example: denialMaximum), default: denialMaximum)
        let denied = section.value(
            "denied", .seconds(0...3600, example: deniedSeconds), default: .seconds(deniedSeconds))
        deniedSeconds = denied.components.seconds
        capacity = section.value("capacity", .integer(2...1 << 20, example: capacity), default: capacity)
    }
}

extension CircuitBreaker.Limits {
    fileprivate init(reading section: ConfigurationSection) {
        self.init()
        failureMaximum = section.value("failures", .integer(1...1000, example: failureMaximum), default: failureMaximum)
        let open = section.value(
            "open", .duration(.milliseconds(100)...(.seconds(3600)), example: .seconds(5)), default: .seconds(5))
        openNanoseconds = Int64(open / .nanoseconds(1))
    }
}

/// The URL of a service.
package struct ServiceURL: Equatable, Sendable {
    package let text: String
    package let isEncrypted: Bool
    /// The host in lower case. An IPv6 address has no brackets.
    package let host: String

    /// Reads `http:` or `https:`, a host, an optional port and a path. Returns nil for any other text, for example with
    /// a user, a query or a fragment.
    init?(_ text: String) {
        let scheme = ["https://", "http://"].first { text.hasPrefix($0) }
        let isPlain = text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && !#""<>\^`{|}?#@"#.utf8.contains($0) }
        guard let scheme, text.utf8.count <= 1024, isPlain else { return nil }
        let authority = text.dropFirst(scheme.count).prefix { $0 != "/" }
        guard let host = Self.host(of: authority) else { return nil }
        self.text = text
        isEncrypted = scheme == "https://"
        self.host = host
    }

    private static func host(of authority: Substring) -> String? {
        let host: Substring
        let rest: Substring
        if authority.hasPrefix("["), let end = authority.firstIndex(of: "]") {
            host = authority[authority.index(after: authority.startIndex)..<end]
            rest = authority[authority.index(after: end)...]
            guard host.contains(":"), IPAddress(host) != nil else { return nil }
        } else {
            host = authority.prefix { $0 != ":" }
            rest = authority[host.endIndex...]
            guard isHostName(host) else { return nil }
        }
        guard rest.isEmpty || (rest.first == ":" && UInt16(rest.dropFirst()).map { $0 > 0 } == true) else { return nil }
        return host.lowercased()
    }

    static func isHostName(_ text: Substring) -> Bool {
        (1...253).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"):
                    true
                default: false
                }
            }
    }

    /// Whether the host is `localhost` or a loopback address.
    var namesLoopback: Bool { host == "localhost" || IPAddress(host)?.isLoopback == true }
}

extension ConfigurationForm<ServiceURL> {
    fileprivate static var serviceURL: ConfigurationForm {
        .string(
            "an https: URL without user, query and fragment", example: "https://portal.example/entitle", write: \.text
        ) {
            ServiceURL($0)
        }
    }
}

extension ConfigurationForm<String> {
    fileprivate static var hostName: ConfigurationForm {
        .string("a host's name or address, without a port", example: "portal.internal") { text in
            IPAddress(text) != nil || ServiceURL.isHostName(text[...]) ? text.lowercased() : nil
        }
    }
}
