package import POSIXSockets

/// How often and from where a token may be used (entitlement, section 4.2).
package struct UseLimits: Equatable, Sendable {
    package static let networkCountMaximum = 64
    package static let countryCountMaximum = 256

    /// How many distinct requests each content key may be asked for with.
    package let usesPerKey: UInt32?
    /// The client's address lies in one of these; none if that does not matter.
    package let networks: [IPNetwork]
    /// The client's country is one of these (ISO 3166-1 alpha-2); none if that does not matter.
    package let countries: [CountryCode]

    package init(usesPerKey: UInt32? = nil, networks: [IPNetwork] = [], countries: [CountryCode] = []) {
        self.usesPerKey = usesPerKey
        self.networks = networks
        self.countries = countries
    }

    /// Whether an address is allowed. If the token names addresses, an unknown one is not.
    func allows(_ address: IPAddress?) -> Bool {
        networks.isEmpty || address.map { address in networks.contains { $0.contains(address) } } ?? false
    }

    /// Whether a country is allowed. If the token names countries, an unknown one is not.
    func allows(_ country: CountryCode?) -> Bool {
        countries.isEmpty || country.map(countries.contains) ?? false
    }
}

/// Two capital letters (ISO 3166-1 alpha-2). Whether they name a country is not looked up.
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
    /// Reads `limits` of the native vocabulary. Throws `claimInvalid`, and `claimUnsupported` for a `rate` too: it has
    /// no defined form.
    init(native limits: ClaimObject) throws(EntitlementError) {
        try limits.refuse(["rate"])
        try limits.refuseStrangers(to: ["uses", "ips", "countries"])
        self.init(
            usesPerKey: try limits.count("uses"),
            networks: try limits.list("ips", countMaximum: Self.networkCountMaximum) { IPNetwork($0) } ?? [],
            countries: try limits.list("countries", countMaximum: Self.countryCountMaximum) { CountryCode($0) } ?? [])
    }
}
