package import ContentKeys
package import Entitlements
package import FairPlay

/// Everything in the configuration that decides about one request.
///
/// The rules are immutable. A reload makes new rules, and each request is judged by one of them from its admission to
/// its answer. What lasts longer than a configuration (buckets, waiting rooms, revocations) is in `SharedLicensing` and
/// takes its settings from here.
package final class LicenseRules: Sendable {
    package let fairplay: FairPlayRules
    package let entitlement: EntitlementRules
    /// The service that decides about tokens which only it can read; nil if there is no such service.
    package let callback: CallbackDecider?
    package let rates: RequestRates
    /// What one loop may let wait.
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
    /// The FairPlay protocol versions.
    package let servedVersions: Set<UInt32>

    package init(
        credentials: CredentialSet, policy: LicensePolicy = LicensePolicy(), servedVersions: Set<UInt32> = [1]
    ) {
        self.credentials = credentials
        self.policy = policy
        self.servedVersions = servedVersions
    }
}

/// Whose tokens are accepted, where requests carry them, and what they may grant.
package struct EntitlementRules: Sendable {
    /// Verifies tokens, and remembers those that these rules have verified.
    package let tokens: VerifiedTokenCache
    /// Where requests carry tokens.
    package let finder: TokenFinder
    /// Named profiles, and this server's own floor.
    package let policy: EntitlementPolicy
    /// The field in which trusted proxies name the client's country; nil if no proxy does.
    package let countryField: String?
    /// Whether a token that proves too little is answered 403, as DASH-IF has it, and not 401.
    package let hidesAuthentication: Bool

    package init(
        tokens: VerifiedTokenCache, finder: TokenFinder = TokenFinder(),
        policy: EntitlementPolicy = EntitlementPolicy(), countryField: String? = nil, hidesAuthentication: Bool = false
    ) {
        self.hidesAuthentication = hidesAuthentication
        self.tokens = tokens
        self.finder = finder
        self.policy = policy
        self.countryField = countryField
    }
}

/// How often licences may be asked for; nil is without a limit.
package struct RequestRates: Equatable, Sendable {
    /// Of all requests together.
    package let all: Rate?
    package let perAddress: Rate?
    package let perSubject: Rate?

    package init(all: Rate? = nil, perAddress: Rate? = nil, perSubject: Rate? = nil) {
        self.all = all
        self.perAddress = perAddress
        self.perSubject = perSubject
    }
}

/// What this server demands of devices beside what tokens and key records say. It can only tighten.
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
    /// Told to the device in every licence; one that is known to be below it gets none.
    package var securityLevel: SecurityLevel
    /// Nil: the device's own default, HDCP Type 0 if it has outputs.
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
/// The configuration replaces single entries by `fairplay.contentPolicies`.
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
