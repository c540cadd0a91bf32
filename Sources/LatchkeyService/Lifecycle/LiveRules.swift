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

/// Everything in the configuration that decides how a request is judged and answered.
///
/// A reload makes new rules, and replaces all of them in one step. Only the keys of issuers that publish them at a URL
/// change without a reload, in the cache of verified tokens.
final class LiveRules: Sendable {
    let license: LicenseRules
    let certificates: CertificateEndpoint
    let administration: Administration
    let cors: CORSPolicy
    /// The address at each path of the public listeners.
    let addresses: PublicAddresses
    /// The customers of the ExpressPlay-compatible routes; nil only in tests without them.
    let expressPlay: ExpressPlaySettings?
    /// The packagers that may ask for content keys.
    let packagers: PackagerDirectory
    /// The host and port of the licence server for players, for key URLs that name it.
    let keyAuthority: String?

    /// The rules for operators' requests.
    struct Administration: Sendable {
        /// The credentials of each admin listener, in the order of the listeners. Only a loopback listener may have
        /// none.
        var credentials: [AdminCredentials]
        /// The issuers and customers that operators' requests about revocations and accounts may name.
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
