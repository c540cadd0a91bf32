import AdminRoutes
import Administration
import ContentKeys
import Entitlements
import FairPlay
import HTTPMessages
import KeyCrypto
import Licensing
import PackagerAPI
import PackagerRoutes
import PlayerRoutes
import RouteKit
import ServiceConfiguration
import Synchronization

/// Everything in the configuration that decides how a request is judged and answered.
///
/// A reload makes new rules, and replaces all of them in one step. Only the keys of issuers that publish them at a URL
/// change without a reload, in the cache of verified tokens.
final class LiveRules: Sendable {
    let license: LicenseRules
    let certificates: CertificateEndpoint
    let administration: AdminRules
    let cors: CORSPolicy
    /// The address at each path of the public listeners.
    let addresses: PublicAddresses
    /// The customers of the ExpressPlay-compatible routes; nil only in tests without them.
    let expressPlay: ExpressPlaySettings?
    let packagers: PackagerRules
    let refusals: RefusalRules

    /// `administrators` are the credentials of each admin listener. `names` are the issuers and customers that
    /// operators may name.
    init(
        license: LicenseRules, certificates: CertificateEndpoint, administrators: [AdminCredentials],
        names: AccountNames,
        cors: CORSPolicy = CORSPolicy(),
        licensePaths: [Configuration.LicensePath] = Configuration.LicensePath.standard,
        expressPlay: ExpressPlaySettings? = nil, packagers: PackagerRules = PackagerRules()
    ) {
        self.license = license
        self.certificates = certificates
        administration = AdminRules(credentials: administrators, names: names, license: license)
        self.cors = cors
        addresses = PublicAddresses(licensePaths: licensePaths, expressPlay)
        self.expressPlay = expressPlay
        self.packagers = packagers
        refusals = RefusalRules(
            clientAddress: license.clientAddress,
            issuers: names.issuers, credentials: license.fairplay.credentials, packagers: packagers.directory)
    }
}

/// The rules in force. Each request reads them once, so that one configuration applies to all of it.
final class LiveRulesCell: Sendable {
    private let rules: Mutex<LiveRules>

    init(_ rules: LiveRules) {
        self.rules = Mutex(rules)
    }

    var current: LiveRules { rules.withLock { $0 } }

    /// Puts rules in force for requests that arrive from now on.
    func replace(with rules: LiveRules) {
        self.rules.withLock { $0 = rules }
    }
}
