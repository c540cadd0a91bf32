package import Entitlements
package import Licensing

extension RequestRates {
    init(reading section: ConfigurationSection) {
        self.init(
            all: section.optionalSection("all", Rate.init(reading:)),
            perAddress: section.optionalSection("perAddress", Rate.init(reading:)) ?? Self.perAddressDefault,
            perSubject: section.optionalSection("perSubject", Rate.init(reading:)) ?? Self.perSubjectDefault)
    }

    /// Unless configured: one token cannot fill the ledger, and many viewers may share an
    /// address.
    package static let perAddressDefault = Rate(perSecond: 200, burst: 1000)
    package static let perSubjectDefault = Rate(perSecond: 10, burst: 50)
}

extension Rate {
    /// Unless it is said, the burst is what two seconds allow.
    init?(reading section: ConfigurationSection) {
        let perSecond = section.required("perSecond", .integer(1...10_000_000, example: 10))
        let burst = section.value("burst", .integer(1...10_000_000, example: 20), default: 2 * (perSecond ?? 1))
        guard let perSecond else { return nil }
        self.init(perSecond: perSecond, burst: burst)
    }
}
