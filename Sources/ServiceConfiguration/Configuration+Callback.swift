package import Entitlements
package import HTTPCalls
package import Licensing

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
        let hosts = section.set("hosts", .hostOrAddress, allowsEmpty: true) ?? []
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

        guard let url, let reach = url.reach(naming: hosts, in: section, "url", "hosts") else { return nil }
        self.url = url
        self.reach = reach
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
