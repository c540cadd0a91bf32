import Entitlements
package import FairPlay
package import Licensing
package import Telemetry

extension LicenseRules {
    /// Makes the rules of a configuration. Credentials with running modules and a call-back service are separate
    /// arguments, because they may outlive the configuration.
    package convenience init(
        _ loaded: LoadedConfiguration, _ credentials: CredentialSet? = nil, _ callback: CallbackDecider? = nil,
        loopCount: Int = 1, tokenLookups: CacheCount = CacheCount()
    ) {
        let live = loaded.configuration.live
        self.init(
            fairplay: FairPlayRules(
                credentials: credentials ?? loaded.credentials, policy: live.fairplay.policy,
                servedVersions: live.fairplay.protocolVersions),
            entitlement: EntitlementRules(
                tokens: VerifiedTokenCache(
                    verifier: TokenVerifier(issuers: loaded.issuers, sessions: loaded.sessions),
                    lookups: tokenLookups),
                finder: live.entitlement.finder, policy: live.entitlement.policy,
                countryField: live.entitlement.countryField),
            callback: callback, rates: live.rates, overload: live.overload.limits(loopCount: loopCount),
            clientAddress: live.logging.clientAddress)
    }
}
