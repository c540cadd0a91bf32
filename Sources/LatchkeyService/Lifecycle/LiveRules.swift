import Entitlements
import FairPlay
import KeyCrypto
import Licensing
import Synchronization

/// Everything in the configuration that a request is judged and answered by. Immutable: a reload makes new rules and swaps them at once.
final class LiveRules: Sendable {
    let license: LicenseRules
    let certificates: CertificateEndpoint
    /// Whose tokens are accepted; revocations name them.
    let issuerNames: Set<String>

    init(license: LicenseRules, certificates: CertificateEndpoint, issuerNames: Set<String>) {
        self.license = license
        self.certificates = certificates
        self.issuerNames = issuerNames
    }

    /// The rules of a configuration. External modules and a call-back service live longer than it, so they come beside it.
    convenience init(
        _ loaded: LoadedConfiguration, modules: [String: any LadderModule], callback: CallbackDecider?, loopCount: Int
    ) throws(CryptoError) {
        self.init(
            license: LicenseRules(loaded, modules: modules, callback: callback, loopCount: loopCount),
            certificates: try CertificateEndpoint(loaded.credentials, crypto: CryptoContext()),
            issuerNames: loaded.configuration.issuerNames)
    }
}

/// The rules in force. Each request reads them once, so that it is judged and answered by one configuration.
final class LiveRulesCell: Sendable {
    private let rules: Mutex<LiveRules>

    init(_ rules: LiveRules) {
        self.rules = Mutex(rules)
    }

    var current: LiveRules { rules.withLock { $0 } }

    /// For requests that arrive from now on.
    func replace(with rules: LiveRules) {
        self.rules.withLock { $0 = rules }
    }
}

extension LicenseRules {
    convenience init(
        _ loaded: LoadedConfiguration, modules: [String: any LadderModule] = [:], callback: CallbackDecider? = nil,
        loopCount: Int = 1
    ) {
        let configuration = loaded.configuration
        self.init(
            fairplay: FairPlayRules(
                credentials: loaded.credentials.connecting(modules), policy: configuration.fairplay.policy,
                servedVersions: configuration.fairplay.protocolVersions),
            entitlement: EntitlementRules(
                tokens: VerifiedTokenCache(
                    verifier: TokenVerifier(issuers: loaded.issuers, sessions: loaded.sessions),
                    capacity: configuration.limits.tokenCacheCapacity),
                finder: configuration.entitlement.finder, policy: configuration.entitlement.policy,
                countryField: configuration.entitlement.countryField),
            callback: callback, rates: configuration.limits.rates,
            overload: configuration.limits.overload.limits(loopCount: loopCount))
    }
}
