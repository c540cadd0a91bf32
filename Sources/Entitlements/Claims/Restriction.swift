/// What a token can demand beyond its times, contents, uses and protection.
///
/// A token that demands what nothing enforces is refused: to ignore it would grant more than the issuer meant.
package enum Restriction: String, Sendable, CaseIterable {
    case pinnedDevice = "cnf"
    case firstUse = "device.bind"
    case deviceMaximum = "device.max"
    case registeredDevice = "device.registered"
    case sessions = "session.groups"
    case usesPerKey = "limits.uses"
    case networks = "limits.ips"
    case countries = "limits.countries"
    case airPlay = "rights.airplay"
    case avAdapter = "rights.av_adapter"
    case profile = "rights.profile"
    /// The licence carries the key of the token, and no other.
    case embeddedKey = "key"

    /// What the licence pipeline of this version enforces. A restriction joins this list in the change that makes the
    /// pipeline honour it.
    package static let enforced: Set<Restriction> = [
        .pinnedDevice, .firstUse, .deviceMaximum, .registeredDevice, .sessions, .usesPerKey, .networks, .countries,
        .airPlay,
        .avAdapter, .profile, .embeddedKey,
    ]
}

extension Claims {
    /// What these claims demand, in the order of `Restriction`.
    package var restrictions: [Restriction] {
        Restriction.allCases.filter(demands)
    }

    private func demands(_ restriction: Restriction) -> Bool {
        switch restriction {
        case .pinnedDevice: device.pinned != nil
        case .firstUse: device.binding == .firstUse
        case .deviceMaximum: device.maximum != nil
        case .registeredDevice: device.isRegisteredOnly
        case .sessions: !session.groups.isEmpty || rights.contains { !$0.session.groups.isEmpty }
        case .usesPerKey: limits.usesPerKey != nil
        case .networks: !limits.networks.isEmpty
        case .countries: !limits.countries.isEmpty
        case .airPlay: rights.contains { $0.outputs.airPlay == false }
        case .avAdapter: rights.contains { $0.outputs.avAdapter == false }
        case .profile: rights.contains { $0.profile != nil }
        case .embeddedKey: embeddedKey != nil
        }
    }

    /// Throws `claimUnsupported` for the first demand that is not among the enforced ones.
    func refuseUnenforced(_ enforced: Set<Restriction>) throws(EntitlementError) {
        for restriction in Restriction.allCases where !enforced.contains(restriction) && demands(restriction) {
            throw .claimUnsupported(restriction.rawValue)
        }
    }
}
