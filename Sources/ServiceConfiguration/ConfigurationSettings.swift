package import ContentKeys
package import Entitlements
package import FairPlay
package import HTTPMessages
package import Licensing
import Telemetry

/// The part of the configuration whose changes need a restart.
///
/// Objects that the daemon makes once, at its start, may depend only on this part.
package struct FixedSettings: Equatable, Sendable {
    package let node: String
    /// The listeners without their credentials. Of TLS they only have whether it is used.
    package let listeners: Configuration.Listeners
    /// The credentials that an external module opens, without their stages.
    package let moduleCredentials: [Configuration.Credential]
    package let keys: Configuration.Keys
    package let storage: Configuration.Storage
    package let ledger: Configuration.Ledger
    package let crypto: Configuration.Crypto
    /// How long a device keeps its place: whole seconds.
    package let deviceLife: Duration
    package let http: HTTPLimits
    package let memoryBudget: Int
    package let loopCount: Int

    init(_ configuration: Configuration) {
        node = configuration.node
        listeners = configuration.listeners.withoutFiles
        moduleCredentials = configuration.fairplay.credentials.filter(\.ladder.isModule).map(\.serving)
        keys = configuration.keys
        storage = configuration.storage
        ledger = configuration.ledger
        crypto = configuration.crypto
        deviceLife = configuration.entitlement.deviceLife
        http = configuration.limits.http
        memoryBudget = configuration.limits.memoryBudget
        loopCount = configuration.limits.loopCount
    }
}

/// The part of the configuration that a reload puts in force, for the next request or connection.
package struct LiveSettings: Equatable, Sendable {
    package let publicURL: String?
    package let cors: CORSPolicy
    package let licensePaths: [Configuration.LicensePath]
    package let assetIDs: [AssetForm]
    /// The files of each listener, in the order of the listeners.
    package let publicFiles: [Configuration.TLSFiles?]
    package let adminFiles: [AdminFiles]
    /// Without the credentials that an external module opens.
    package let fairplay: Configuration.FairPlay
    /// Of the credentials that an external module opens, in their order.
    package let moduleStages: [CredentialStage]
    package let entitlement: Entitlement
    package let expressPlay: Configuration.ExpressPlay
    package let packagers: [Configuration.Packager]
    package let rates: RequestRates
    package let overload: Configuration.Overload
    package let drain: Configuration.Drain
    package let logging: Configuration.Logging

    package struct AdminFiles: Equatable, Sendable {
        package let tls: Configuration.TLSFiles?
        package let tokenFile: SecretSource?
        package let tokens: [Configuration.AdminToken]
        package let clients: [Configuration.AdminClient]
    }

    /// The section `entitlement` without the field of `FixedSettings`.
    package struct Entitlement: Equatable, Sendable {
        package let issuers: [Configuration.Issuer]
        package let leeway: Duration
        package let finder: TokenFinder
        package let countryField: String?
        package let policy: EntitlementPolicy
        package let sessions: Configuration.Sessions?
        package let callback: Configuration.Callback?
    }

    init(_ configuration: Configuration) {
        publicURL = configuration.publicURL
        cors = configuration.cors
        licensePaths = configuration.licensePaths
        assetIDs = configuration.assetIDs
        publicFiles = configuration.listeners.public.map(\.transport.tls)
        adminFiles = configuration.listeners.admin.map {
            AdminFiles(
                tls: $0.transport.tls, tokenFile: $0.tokenFile, tokens: $0.tokens, clients: $0.clients)
        }
        fairplay = configuration.fairplay.withoutModules
        moduleStages = configuration.fairplay.credentials.filter(\.ladder.isModule).map(\.stage)
        let entitlement = configuration.entitlement
        self.entitlement = Entitlement(
            issuers: entitlement.issuers, leeway: entitlement.leeway, finder: entitlement.finder,
            countryField: entitlement.countryField, policy: entitlement.policy, sessions: entitlement.sessions,
            callback: entitlement.callback)
        expressPlay = configuration.expressPlay
        packagers = configuration.packagers
        rates = configuration.limits.rates
        overload = configuration.limits.overload
        drain = configuration.drain
        logging = configuration.logging
    }
}

extension Configuration {
    package var fixed: FixedSettings { FixedSettings(self) }

    /// The forms by which asset ids are read.
    package var assetForms: AssetForms { AssetForms(template: keys.skdTemplate, assetIDs) }
    package var live: LiveSettings { LiveSettings(self) }
}

extension Configuration.Ladder {
    package var isModule: Bool {
        switch self {
        case .module: true
        case .applicationSecret, .fixedDASk, .sdk: false
        }
    }
}

extension Configuration.Credential {
    fileprivate var serving: Self {
        var copy = self
        copy.stage = .serving
        return copy
    }
}

extension Configuration.FairPlay {
    fileprivate var withoutModules: Self {
        Self(
            credentials: credentials.filter { !$0.ladder.isModule }, protocolVersions: protocolVersions,
            allowTestCredentials: allowTestCredentials, policy: policy)
    }
}

extension Configuration.Listeners {
    /// The same listeners without the files and credentials that a reload replaces.
    fileprivate var withoutFiles: Self {
        Self(
            public: self.public.map { .init(address: $0.address, transport: $0.transport.withoutFiles) },
            admin: admin.map {
                .init(address: $0.address, transport: $0.transport.withoutFiles, tokenFile: nil, hosts: $0.hosts)
            })
    }
}

extension Configuration.Transport {
    /// The same transport without TLS files. It only has whether TLS is used.
    fileprivate var withoutFiles: Self {
        var copy = self
        if tls != nil { copy.tls = Configuration.TLSFiles(identities: [], clientCA: nil) }
        return copy
    }
}
