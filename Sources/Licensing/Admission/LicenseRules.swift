package import ContentKeys
package import Entitlements
package import FairPlay

/// Everything in the configuration that decides about one request.
///
/// The rules are immutable. A reload makes new rules. Each request keeps the rules that admitted it until it is
/// answered. State that outlives a configuration (buckets, waiting rooms, revocations) is in `SharedLicensing`, and
/// takes its settings from here.
package final class LicenseRules: Sendable {
    package let fairplay: FairPlayRules
    package let entitlement: EntitlementRules
    /// The service that decides about tokens which only it can read; nil if there is no such service.
    package let callback: CallbackDecider?
    package let rates: RequestRates
    /// How many requests of one loop may wait, and for how long.
    package let overload: OverloadLimits
    /// How much of a client's address the log and the ledger say of a refusal.
    package let clientAddress: ClientAddressForm

    package init(
        fairplay: FairPlayRules, entitlement: EntitlementRules, callback: CallbackDecider? = nil,
        rates: RequestRates = RequestRates(), overload: OverloadLimits = OverloadLimits(),
        clientAddress: ClientAddressForm = .network
    ) {
        self.fairplay = fairplay
        self.entitlement = entitlement
        self.callback = callback
        self.rates = rates
        self.overload = overload
        self.clientAddress = clientAddress
    }
}

/// Which SPCs are opened, and what is demanded of devices.
package struct FairPlayRules: Sendable {
    package let credentials: CredentialSet
    package let policy: LicensePolicy
    /// The FairPlay protocol versions that are served.
    package let servedVersions: Set<UInt32>

    package init(
        credentials: CredentialSet, policy: LicensePolicy = LicensePolicy(), servedVersions: Set<UInt32> = [1]
    ) {
        self.credentials = credentials
        self.policy = policy
        self.servedVersions = servedVersions
    }
}

/// The issuers whose tokens are accepted, where requests carry tokens, and what tokens may grant.
package struct EntitlementRules: Sendable {
    /// Verifies tokens, and remembers those that these rules have verified.
    package let tokens: VerifiedTokenCache
    /// Where requests carry tokens.
    package let finder: TokenFinder
    /// The named profiles, and the least that this server itself demands.
    package let policy: EntitlementPolicy
    /// The header field in which trusted proxies name the client's country; nil if no proxy does.
    package let countryField: String?

    package init(
        tokens: VerifiedTokenCache, finder: TokenFinder = TokenFinder(),
        policy: EntitlementPolicy = EntitlementPolicy(), countryField: String? = nil
    ) {
        self.tokens = tokens
        self.finder = finder
        self.policy = policy
        self.countryField = countryField
    }
}

/// How often licenses may be asked for. A rate that is nil is no limit.
package struct RequestRates: Equatable, Sendable {
    /// The rate of all requests together.
    package let all: Rate?
    package let perAddress: Rate?
    package let perSubject: Rate?

    package init(all: Rate? = nil, perAddress: Rate? = nil, perSubject: Rate? = nil) {
        self.all = all
        self.perAddress = perAddress
        self.perSubject = perSubject
    }
}

/// What this server demands of devices in addition to tokens and key records. It can only tighten their demands.
package struct LicensePolicy: Sendable, Equatable {
    package var content: ContentPolicyTable
    package var device: DevicePolicy

    package init(content: ContentPolicyTable = .default, device: DevicePolicy = DevicePolicy()) {
        self.content = content
        self.device = device
    }
}

/// What a kind of content demands of the device that plays it.
package struct ContentPolicy: Sendable, Equatable {
    /// The level that every license demands. A device that is known to be below it gets no license.
    package var securityLevel: SecurityLevel
    /// The least HDCP that a license demands; nil for the device's own default: HDCP Type 0 if it has outputs.
    package var leastHDCP: HDCPLevel?

    package init(securityLevel: SecurityLevel, leastHDCP: HDCPLevel? = nil) {
        self.securityLevel = securityLevel
        self.leastHDCP = leastHDCP
    }
}

/// The content policies of this server. The defaults are those of Apple's own reference server (protocol, section 4.6).
///
/// | content | security level | HDCP |
/// |---|---|---|
/// | audio | Audio | |
/// | SD | Baseline | |
/// | HD | Baseline | at least Type 0 |
/// | UHD | Main | Type 1 |
///
/// `fairplay.contentPolicies` in the configuration replaces single entries.
package struct ContentPolicyTable: Sendable, Equatable {
    package var audio: ContentPolicy
    package var sd: ContentPolicy
    package var hd: ContentPolicy
    package var uhd: ContentPolicy

    package static let `default` = ContentPolicyTable(
        audio: ContentPolicy(securityLevel: .audio),
        sd: ContentPolicy(securityLevel: .baseline),
        hd: ContentPolicy(securityLevel: .baseline, leastHDCP: .type0),
        uhd: ContentPolicy(securityLevel: .main, leastHDCP: .type1))

    package subscript(type: ContentType) -> ContentPolicy {
        switch type {
        case .audio: audio
        case .sd: sd
        case .hd: hd
        case .uhd: uhd
        }
    }
}
