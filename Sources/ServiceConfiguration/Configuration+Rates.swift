import Entitlements
import Licensing

extension RequestRates {
    init(reading section: ConfigurationSection) {
        self.init(
            all: section.optionalSection("all", Rate.init(reading:)),
            perAddress: section.optionalSection("perAddress", Rate.init(reading:)),
            perSubject: section.optionalSection("perSubject", Rate.init(reading:)))
    }
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
