package import Entitlements
import Licensing

extension Configuration {
    /// How often licences may be asked for; nil is as often as one likes.
    package struct Rates: Equatable, Sendable {
        package let all: Rate?
        package let perAddress: Rate?
        package let perSubject: Rate?

        package init(all: Rate? = nil, perAddress: Rate? = nil, perSubject: Rate? = nil) {
            self.all = all
            self.perAddress = perAddress
            self.perSubject = perSubject
        }
    }
}

extension Configuration.Rates {
    init(reading section: ConfigurationSection) {
        all = section.optionalSection("all", Rate.init(reading:))
        perAddress = section.optionalSection("perAddress", Rate.init(reading:))
        perSubject = section.optionalSection("perSubject", Rate.init(reading:))
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
