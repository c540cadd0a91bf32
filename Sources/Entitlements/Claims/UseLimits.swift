package import POSIXSockets

/// How often and from where a token may be used (entitlement, section 4.2).
package struct UseLimits: Equatable, Sendable {
    package static let networkCountMaximum = 64
    package static let countryCountMaximum = 256

    /// The most distinct requests for each content key.
    package var usesPerKey: UInt32?
    /// The networks from which a client may send the request; empty if every network is allowed.
    package var networks: [IPNetwork] = []
    /// The countries from which a client may send the request; empty if every country is allowed.
    package var countries: [CountryCode] = []

    /// Whether an address is allowed. An unknown address is refused if the token names networks.
    func allows(_ address: IPAddress?) -> Bool {
        networks.isEmpty || address.map { address in networks.contains { $0.contains(address) } } ?? false
    }

    /// Whether a country is allowed. An unknown country is refused if the token names countries.
    func allows(_ country: CountryCode?) -> Bool {
        countries.isEmpty || country.map(countries.contains) ?? false
    }
}

/// A country code of two capital letters (ISO 3166-1 alpha-2). It is not checked that such a country exists.
package struct CountryCode: Hashable, Sendable {
    package let text: String

    package init?(_ text: String) {
        let isCode =
            text.utf8.count == 2 && text.utf8.allSatisfy { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) }
        guard isCode else { return nil }
        self.text = text
    }
}

extension UseLimits {
    /// Reads `limits` of the native vocabulary.
    ///
    /// Throws `claimInvalid` and `claimUnsupported`. A `rate` is unsupported, because it has no defined form.
    init(native limits: ClaimObject) throws(EntitlementError) {
        try limits.refuse(["rate"])
        try limits.refuseStrangers(to: ["uses", "ips", "countries"])
        self.init(
            usesPerKey: try limits.count("uses"),
            networks: try limits.list("ips", countMaximum: Self.networkCountMaximum) { IPNetwork($0) } ?? [],
            countries: try limits.list("countries", countMaximum: Self.countryCountMaximum) { CountryCode($0) } ?? [])
    }
}
