import AdminRoutes
import Administration
import ByteCoding
import ContentKeys
import Entitlements
import EventLoops
import FairPlay
import HTTPMessages
import KeyCrypto
import Licensing
import PackagerRoutes
import PlayerRoutes
import ServiceConfiguration
import Synchronization
import Telemetry

/// Makes the rules in force from the configuration, at the start and at each reload.
///
/// Only the thread that starts and reloads the daemon may use it.
final class RuleBook {
    private static let credentials = "fairplay.credentials"

    let cell: LiveRulesCell
    /// The configuration of the start. Its fixed half stays in force as long as the daemon runs.
    private let started: LoadedConfiguration
    private let modules: LadderModules
    private var loaded: LoadedConfiguration
    /// Reads asset ids by the forms in force.
    var keys: RecentContentKeys?
    let callback: CurrentCallback
    /// How long the node is not ready before its listeners close.
    var drainDelay: Duration { loaded.configuration.live.drain.delay }
    /// Of the tokens that are remembered, under all rules one after another.
    let tokenLookups = CacheCount()
    /// The sessions of operators, which end when a reload removes their tokens.
    let adminSessions = AdminSessions()

    init(_ loaded: LoadedConfiguration, modules: LadderModules) throws(DaemonError) {
        started = loaded
        self.loaded = loaded
        self.modules = modules
        let callback = try loaded.callback.map { (material) throws(DaemonError) in
            try wrap(DaemonError.loops, try EntitlementCallback(material))
        }
        self.callback = CurrentCallback(callback)
        cell = LiveRulesCell(
            try Self.rules(
                of: loaded, loaded.credentials.connecting(modules.byCredential), callback, tokenLookups))
    }

    /// The rules that a reload would put in force. They are not in force before `adopt`.
    struct Draft {
        fileprivate let loaded: LoadedConfiguration
        fileprivate let rules: LiveRules
        fileprivate let callback: EntitlementCallback?
        fileprivate let libraries: [LadderModules.Running]
        /// The fields and files that differ from those of the start, and need a restart.
        let fieldsThatNeedRestart: [String]
        /// The new configuration of each running listener, in the order of the running listeners. Nil for a listener
        /// that is no longer configured.
        let publicListeners: [LoadedConfiguration.Listener?]
        let adminListeners: [LoadedConfiguration.Listener?]
        /// The credentials that the listeners would serve.
        var credentials: CredentialSet { rules.license.fairplay.credentials }
        var allowsTestCredentials: Bool { loaded.configuration.live.fairplay.allowTestCredentials }
        /// Verifies tokens, and remembers those that these rules have verified.
        var tokens: VerifiedTokenCache { rules.license.entitlement.tokens }
        /// The credentials of each admin listener that runs.
        var adminCredentials: [AdminCredentials] { rules.administration.credentials }
    }

    func draft(_ new: LoadedConfiguration) throws(DaemonError) -> Draft {
        var fixed = started.fieldsThatNeedRestart(toBecome: new)
        // A running external module keeps its credential. So if a credential's field that needs a restart differs, all
        // credentials stay as they are. Their other changed fields then need the restart too.
        let keepsCredentials = fixed.contains { $0.hasPrefix(Self.credentials) }
        if keepsCredentials {
            fixed = Set(fixed).union(started.fieldsThatDiffer(from: new, under: Self.credentials)).sorted()
        }
        let libraries = keepsCredentials ? modules.libraries : try modules.prepare(new.libraries)
        let credentials =
            keepsCredentials
            ? cell.current.license.fairplay.credentials
            : new.credentials.connecting(modules.ladders(with: libraries))
                .countingOn(from: cell.current.license.fairplay.credentials)
        let callback = try self.callback(for: new)
        return Draft(
            loaded: new, rules: try Self.rules(of: new, credentials, callback, tokenLookups, like: started),
            callback: callback, libraries: libraries,
            fieldsThatNeedRestart: fixed,
            publicListeners: LoadedConfiguration.successors(of: started.publicListeners, in: new.publicListeners),
            adminListeners: LoadedConfiguration.successors(of: started.adminListeners, in: new.adminListeners))
    }

    /// Puts the rules in force for requests that arrive from now on. Requests under way keep theirs.
    func adopt(_ draft: Draft) {
        loaded = draft.loaded
        callback.current = draft.callback
        modules.adopt(draft.libraries)
        cell.replace(with: draft.rules)
        keys?.use(assetForms)
        adminSessions.keepSessions(of: draft.adminCredentials)
    }

    /// The forms of asset ids in force. The template of key URIs is that of the start.
    var assetForms: AssetForms {
        AssetForms(template: started.configuration.keys.skdTemplate, loaded.configuration.live.assetIDs)
    }

    /// The call-back service for a new configuration.
    ///
    /// If its fields have not changed, the same service goes on with the decisions that it remembers. A service that is
    /// replaced ends with its last request.
    private func callback(for new: LoadedConfiguration) throws(DaemonError) -> EntitlementCallback? {
        if loaded.isSame(as: new, under: "entitlement.callback") { return callback.current }
        let counts = callback.current?.decider.counts ?? CallbackCounts()
        return try new.callback.map { (material) throws(DaemonError) in
            try wrap(DaemonError.loops, try EntitlementCallback(material, counts: counts))
        }
    }

    private static func rules(
        of loaded: LoadedConfiguration, _ credentials: CredentialSet, _ callback: EntitlementCallback?,
        _ tokenLookups: CacheCount, like started: LoadedConfiguration? = nil
    ) throws(DaemonError) -> LiveRules {
        let live = loaded.configuration.live
        let license = LicenseRules(
            loaded, credentials, callback?.decider,
            loopCount: (started ?? loaded).configuration.fixed.loopCount, tokenLookups: tokenLookups)
        return LiveRules(
            license: license,
            certificates: try wrap(
                DaemonError.cryptography, try CertificateEndpoint(credentials, crypto: CryptoContext())),
            administrators: loaded.adminCredentials(ofListenersLike: started ?? loaded),
            names: AccountNames(loaded.configuration),
            cors: live.cors.allowing(live.entitlement.finder.fieldNames),
            licensePaths: live.licensePaths, expressPlay: loaded.expressPlay,
            packagers: PackagerRules(
                directory: loaded.packagers, keyAuthority: loaded.configuration.publicAuthority))
    }
}

/// The call-back service of the rules in force, for the thread that stops the daemon.
final class CurrentCallback: Sendable {
    private let state: Mutex<EntitlementCallback?>

    init(_ callback: EntitlementCallback?) {
        state = Mutex(callback)
    }

    var current: EntitlementCallback? {
        get { state.withLock { $0 } }
        set { state.withLock { $0 = newValue } }
    }
}

extension LoadedConfiguration {
    /// The credentials of the running admin listeners. A listener that is no longer configured keeps its credentials.
    fileprivate func adminCredentials(ofListenersLike running: LoadedConfiguration) -> [AdminCredentials] {
        let successors = Self.successors(of: running.adminListeners, in: adminListeners)
        return zip(running.adminListeners, successors).map { listener, successor in
            (successor ?? listener).administrators
        }
    }
}

extension AccountNames {
    init(_ configuration: Configuration) {
        self.init(
            issuers: configuration.issuerNames,
            customers: Dictionary(configuration.expressPlay.customers.map { ($0.name, $0.issuer) }) { first, _ in first
            },
            entitlementCustomer: configuration.expressPlay.sees?.customer)
    }
}
