import Administration
import ContentKeys
import Entitlements
import FairPlay
import HTTPMessages
import KeyCrypto
import Licensing
import PackagerAPI
import ServiceConfiguration
import Synchronization

/// Everything in the configuration that a request is judged and answered by. Immutable: a reload makes new rules and
/// swaps them at once.
final class LiveRules: Sendable {
    let license: LicenseRules
    let certificates: CertificateEndpoint
    let administration: Administration
    let cors: CORSPolicy
    /// What is at each path of the public listeners.
    let addresses: PublicAddresses
    /// The customers in ExpressPlay's manner; nil only in tests without them.
    let expressPlay: ExpressPlaySettings?
    /// Who may ask for content keys.
    let packagers: PackagerDirectory
    /// Where players find the licence server, for key URLs that name it.
    let keyAuthority: String?

    /// What operators' requests are judged by.
    struct Administration: Sendable {
        /// The tokens of each admin listener, in the order of the listeners. None only for a loopback listener without
        /// a token.
        var tokens: [[LoadedConfiguration.AdminToken]]
        /// Whose tokens are accepted, and whose cookies are known: revocations and accounts name them.
        var names: AccountNames
    }

    init(
        license: LicenseRules, certificates: CertificateEndpoint, administration: Administration,
        cors: CORSPolicy = CORSPolicy(),
        licensePaths: [Configuration.LicensePath] = Configuration.LicensePath.standard,
        expressPlay: ExpressPlaySettings? = nil, packagers: PackagerDirectory = .empty,
        keyAuthority: String? = nil
    ) {
        self.license = license
        self.certificates = certificates
        self.administration = administration
        self.cors = cors
        addresses = PublicAddresses(licensePaths: licensePaths, expressPlay)
        self.expressPlay = expressPlay
        self.packagers = packagers
        self.keyAuthority = keyAuthority
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
