import Administration
import CommandLineKit
import ContentKeys
import Entitlements
import EventLoops
import ExpressPlay
import FairPlay
import HTTPServing
import KeyCrypto
import Licensing
package import POSIXSockets
package import ServiceConfiguration
import StoragePostgreSQL
package import Telemetry

/// The licence server from its checked configuration to its orderly end.
///
/// One thread runs it: `start` opens the store, the loops and the listeners; `stop` takes them down in the opposite order. What a
/// started daemon owns ends with it.
package final class Daemon: Sendable {
    /// How long requests in flight may take after the order to stop, and how long tasks may after that.
    private static let drainLimit: Duration = .seconds(30)
    private static let taskLimit: Duration = .seconds(2)

    private let group: EventLoopGroup
    private let modules: LadderModules?
    private let storage: OpenedStorage
    private let records: LicenseRecords
    private let server: HTTPServer
    private let listeners: ServingListeners
    private let metrics: ServiceMetrics
    private let tokens: VerifiedTokenCache
    private let presentedTokens: PresentedTokens
    private let issuer: LicenseIssuer
    private let expressPlay: ExpressPlayService
    private let revocations: RevocationKeeper
    private let revocationEndpoint: RevocationEndpoint
    private let callback: EntitlementCallback?
    /// The configuration of the start.
    private let loaded: LoadedConfiguration
    private let health: Health
    private let notifier: ServiceNotifier
    private let logger: Logger

    /// Starts serving; each listener is logged as `listening` once it really listens. Throws a `DaemonError` that names what failed.
    package init(
        _ loaded: LoadedConfiguration, environment: [String: String], sockets: ActivatedSockets, logger: Logger
    ) throws(DaemonError) {
        self.logger = logger
        self.loaded = loaded
        let configuration = loaded.configuration
        let storage = try OpenedStorage.open(loaded)
        self.storage = storage
        if let away = storage.shared?.initialAbsence {
            logger.warning("postgresql_away", [.string("cause", away.explanation)])
        }
        let operations = RSAOperationCount()
        let metrics = ServiceMetrics(registry: MetricsRegistry(), rsaOperations: operations)
        self.metrics = metrics
        do throws(EventLoopError) {
            group = try EventLoopGroup(count: configuration.limits.loopCount)
            modules = try LadderModules(loaded.modules, for: group.loops, logger: logger)
        } catch {
            throw .loops(error)
        }
        do throws(DaemonError) {
            records = try LicenseRecords(loaded, shared: storage.shared, loops: group.loops, logger: logger)
        } catch {
            modules?.stop()
            group.stop(within: .zero)
            storage.shared?.close()
            throw error
        }
        records.register(in: metrics.registry)
        health = Health { [records] in records.degradedParts }
        do throws(SocketError) {
            notifier = try ServiceNotifier(socketName: environment["NOTIFY_SOCKET"])
        } catch {
            throw .notifier(error)
        }
        modules?.register(in: metrics.registry)
        server = HTTPServer(group: group, observer: metrics)
        listeners = try ServingListeners(server, sockets: sockets, metrics: metrics, logger: logger)
        let tokens = VerifiedTokenCache(
            verifier: TokenVerifier(issuers: loaded.issuers, sessions: loaded.sessions),
            capacity: configuration.limits.tokenCacheCapacity)
        self.tokens = tokens
        presentedTokens = PresentedTokens(configuration.entitlement.finder)
        let keys = storage.recentKeys()
        do throws(EventLoopError) {
            callback = try loaded.callback.map { (material) throws(EventLoopError) in
                try EntitlementCallback(material, tokens: tokens)
            }
        } catch {
            modules?.stop()
            group.stop(within: .zero)
            records.stop()
            storage.shared?.close()
            throw .loops(error)
        }
        callback?.register(in: metrics.registry)
        issuer = LicenseIssuer(
            credentials: loaded.credentials.connecting(modules?.byCredential ?? [:]), tokens: tokens,
            keys: keys, policy: configuration.fairplay.policy,
            entitlementPolicy: configuration.entitlement.policy, recorder: records.recorder, refusals: records.refusals,
            revocations: nil, history: records.lookup, callback: callback?.decider,
            challenges: ServerChallenges(store: records.challenges, pseudonyms: loaded.pseudonymizer),
            servedVersions: configuration.fairplay.protocolVersions, operations: operations,
            overload: configuration.limits.overload.limits(loopCount: configuration.limits.loopCount),
            overloadCounts: metrics.overload)
        let rates = RequestRates(
            configuration.limits.rates,
            overload: configuration.limits.overload.limits(loopCount: configuration.limits.loopCount),
            counts: metrics.overload)
        expressPlay = ExpressPlayService(
            loaded.expressPlay,
            minter: ExpressPlayMinter(
                recorder: records.recorder, keys: keys, metrics: metrics.registry, clock: SystemWallClock()),
            addressWait: { rates.admit(from: $0) }, metrics: metrics.registry, logger: logger)
        do throws(EventLoopError) {
            revocations = try RevocationKeeper(
                store: records.revocations, names: RevocationNames(loaded.pseudonymizer),
                every: configuration.entitlement.revocationRefresh, logger: logger
            ) { [issuer] in issuer.replaceRevocations(with: $0) }
        } catch {
            modules?.stop()
            group.stop(within: .zero)
            records.stop()
            storage.shared?.close()
            throw .loops(error)
        }
        revocations.register(in: metrics.registry)
        revocationEndpoint = RevocationEndpoint(
            desk: RevocationDesk(
                store: records.revocations, ledger: records.ledger, names: RevocationNames(loaded.pseudonymizer)),
            keeper: revocations, issuers: loaded.configuration.issuerNames,
            refusals: Refusals(logger: logger, clock: SystemWallClock()), clock: SystemWallClock())
        do throws(DaemonError) {
            try listen(
                loaded, metrics: metrics, rates: rates,
                certificate: Self.makeCertificateEndpoint(loaded.credentials))
        } catch {
            tearDown()
            throw error
        }
        for name in listeners.unusedSocketNames { logger.warning("socket_unused", [.string("name", name)]) }
        health.setReady(true)
        logger.info("ready", [.string("version", LatchkeyVersion.current), .integer("loops", group.loops.count)])
        notify { () throws(SocketError) in try notifier.ready() }
    }

    /// Puts what can be changed of a configuration in force: the TLS certificates, for connections that begin from now on, and
    /// everything about entitlement, for requests that arrive from now on.
    ///
    /// A configuration that `load` refuses changes nothing. What else has changed is logged, because it needs a restart.
    package func reload(_ load: () throws(ConfigurationError) -> LoadedConfiguration) {
        notify { () throws(SocketError) in
            try notifier.reloading(
                monotonicMicroseconds: UInt64(max(0, SystemMonotonicClock().monotonicTime.nanoseconds / 1000)))
        }
        do throws(ConfigurationError) {
            try apply(try load())
        } catch {
            metrics.reloadFailed()
            logger.error("reload_failed", [.string("cause", error.description)])
        }
        notify { () throws(SocketError) in try notifier.ready() }
    }

    private func apply(_ loaded: LoadedConfiguration) throws(ConfigurationError) {
        do throws(TLSError) {
            try listeners.replaceCertificates(with: loaded)
        } catch {
            metrics.reloadFailed()
            return logger.error("reload_failed", [.string("cause", error.description)])
        }
        // The floor first: no token that only the new issuers make good meets the old one.
        issuer.replaceEntitlementPolicy(with: loaded.configuration.entitlement.policy)
        presentedTokens.replaceFinder(with: loaded.configuration.entitlement.finder)
        revocationEndpoint.replaceIssuers(with: loaded.configuration.issuerNames)
        tokens.replaceVerifier(with: TokenVerifier(issuers: loaded.issuers, sessions: loaded.sessions))
        expressPlay.replaceSettings(with: loaded.expressPlay)
        metrics.reloadSucceeded(at: SystemWallClock().wallTime.seconds)
        logger.info("reloaded")
        let rest = self.loaded.fieldsThatNeedRestart(toBecome: loaded)
        if !rest.isEmpty {
            logger.warning("restart_needed", [.string("fields", rest.joined(separator: " "))])
        }
    }

    /// Stops accepting, finishes requests in flight, and ends the loops. Blocks until all is down; called once.
    package func stop() {
        health.setReady(false)
        logger.info("stopping")
        notify { () throws(SocketError) in try notifier.stopping() }
        tearDown()
        logger.info("stopped")
    }

    private func tearDown() {
        let drained = server.drain(within: Self.drainLimit)
        let stopped = group.stop(within: Self.taskLimit)
        modules?.stop()
        revocations.stop()
        callback?.stop()
        records.stop()
        storage.shared?.close()
        if drained.cutOffConnectionCount > 0 || stopped.abandonedTaskCount > 0 {
            logger.warning(
                "stopped_with_work_left",
                [
                    .integer("connections", drained.cutOffConnectionCount),
                    .integer("tasks", stopped.abandonedTaskCount),
                ])
        }
    }

    private func listen(
        _ loaded: LoadedConfiguration, metrics: ServiceMetrics, rates: RequestRates,
        certificate: CertificateEndpoint
    ) throws(DaemonError) {
        let clock = SystemWallClock()
        let requestIDs = RequestIDs()
        let origins = RequestOrigins(countryField: loaded.configuration.entitlement.countryField)
        let license = LicenseEndpoint(
            issuer: issuer, metrics: metrics, logger: logger, clock: clock, rates: rates, tokens: presentedTokens,
            origins: origins)
        let refusals = Refusals(logger: logger, clock: clock)
        let query = LicenseQueryEndpoint(
            issuer: issuer, lookup: records.lookup, pseudonyms: loaded.pseudonymizer, metrics: metrics,
            refusals: refusals, clock: clock, rates: rates, tokens: presentedTokens, origins: origins)
        let challenge = ChallengeEndpoint(
            issuer: issuer, refusals: refusals, clock: clock, rates: rates, tokens: presentedTokens)
        let publicRoutes = PublicRoutes(
            license: license, query: query, challenge: challenge, certificate: certificate, health: health,
            requestIDs: requestIDs, refusals: refusals,
            expressPlay: ExpressPlayRoutes(service: expressPlay, license: license, refusals: refusals))
        // The admin listener first: when the public one answers, everything does.
        for (index, admin) in loaded.adminListeners.enumerated() {
            let routes = AdminRoutes(
                health: health, metrics: metrics,
                explain: ExplainEndpoint(issuer: issuer, logger: logger, clock: clock), token: admin.token,
                requestIDs: requestIDs, refusals: refusals, revocations: revocationEndpoint)
            try listeners.open(.init(name: "admin", index: index), admin, loaded, routes)
        }
        let opened = CORSHandler(policy: loaded.configuration.cors, inner: publicRoutes)
        for (index, listener) in loaded.publicListeners.enumerated() {
            try listeners.open(.init(name: "public", index: index), listener, loaded, opened)
        }
    }

    private func notify(_ send: () throws(SocketError) -> Void) {
        do throws(SocketError) {
            try send()
        } catch {
            logger.warning("notify_failed", [.string("cause", error.description)])
        }
    }

    private static func makeCertificateEndpoint(_ credentials: CredentialSet) throws(DaemonError) -> CertificateEndpoint
    {
        do throws(CryptoError) {
            return try CertificateEndpoint(credentials, crypto: CryptoContext())
        } catch {
            throw .cryptography(error)
        }
    }
}
