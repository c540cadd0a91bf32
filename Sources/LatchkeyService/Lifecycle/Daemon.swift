import ByteCoding
import ContentKeys
import Entitlements
import EventLoops
import FairPlay
import HTTPServing
import KeyCrypto
import Licensing
package import POSIXSockets
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
    private let rules: LiveRulesCell
    private let expressPlay: ExpressPlayService
    private let revocations: RevocationKeeper
    private let callback: EntitlementCallback?
    private let configuration: Configuration
    private let health: Health
    private let notifier: ServiceNotifier
    private let logger: Logger

    /// Starts serving; each listener is logged as `listening` once it really listens. Throws a `DaemonError` that names what failed.
    package init(
        _ loaded: LoadedConfiguration, environment: [String: String], sockets: ActivatedSockets, logger: Logger
    ) throws(DaemonError) {
        self.logger = logger
        configuration = loaded.configuration
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
        let keys = storage.recentKeys()
        var shared = SharedLicensing(keys: keys, operations: operations, overload: metrics.overload)
        shared.recorder = records.recorder
        shared.refusals = records.refusals
        shared.history = records.lookup
        shared.challenges = ServerChallenges(store: records.challenges, pseudonyms: loaded.pseudonymizer)
        let pipelines = LicensePipelines(shared)
        do throws(DaemonError) {
            callback = try wrap(DaemonError.loops) { () throws(EventLoopError) in
                try loaded.callback.map { (material) throws(EventLoopError) in try EntitlementCallback(material) }
            }
            let rules = LiveRulesCell(
                try Self.rules(of: loaded, modules, callback, loopCount: configuration.limits.loopCount))
            self.rules = rules
            revocations = try wrap(DaemonError.loops) { [records, configuration] () throws(EventLoopError) in
                try RevocationKeeper(
                    store: records.revocations, names: RevocationNames(loaded.pseudonymizer),
                    every: configuration.entitlement.revocationRefresh, logger: logger
                ) { [known = shared.revocations] view in
                    known.replace(with: view)
                    rules.current.license.entitlement.tokens.removeAll()
                }
            }
        } catch {
            modules?.stop()
            group.stop(within: .zero)
            records.stop()
            storage.shared?.close()
            throw error
        }
        callback?.register(in: metrics.registry)
        expressPlay = ExpressPlayService(
            loaded.expressPlay,
            minter: ExpressPlayMinter(
                recorder: records.recorder, keys: keys, metrics: metrics, clock: SystemWallClock()),
            pipelines: pipelines, metrics: metrics, logger: logger)
        revocations.register(in: metrics.registry)
        do throws(DaemonError) {
            try listen(loaded, pipelines)
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
    /// the rules that requests are judged by, for requests that arrive from now on. The call-back service stays as it was.
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
        let new: LiveRules
        do throws(DaemonError) {
            new = try Self.rules(of: loaded, modules, callback, loopCount: configuration.limits.loopCount)
        } catch {
            metrics.reloadFailed()
            return logger.error("reload_failed", [.string("cause", error.description)])
        }
        do throws(TLSError) {
            try listeners.replaceCertificates(with: loaded)
        } catch {
            metrics.reloadFailed()
            return logger.error("reload_failed", [.string("cause", error.description)])
        }
        rules.replace(with: new)
        expressPlay.replaceSettings(with: loaded.expressPlay)
        metrics.reloadSucceeded(at: SystemWallClock().wallTime.seconds)
        logger.info("reloaded")
        let rest = configuration.sectionsThatNeedRestart(toBecome: loaded.configuration)
        if !rest.isEmpty {
            logger.warning("restart_needed", [.string("sections", rest.joined(separator: " "))])
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

    private func listen(_ loaded: LoadedConfiguration, _ pipelines: LicensePipelines) throws(DaemonError) {
        let clock = SystemWallClock()
        let revocationEndpoint = RevocationEndpoint(
            desk: RevocationDesk(
                store: records.revocations, ledger: records.ledger, names: RevocationNames(loaded.pseudonymizer)),
            keeper: revocations, refusals: Refusals(logger: logger, clock: clock), clock: clock)
        let routes = ServiceRoutes(
            .init(
                rules: rules, pipelines: pipelines, lookup: records.lookup, pseudonyms: loaded.pseudonymizer,
                metrics: metrics, health: health, logger: logger, clock: clock, expressPlay: expressPlay,
                revocations: revocationEndpoint))
        // The admin listener first: when the public one answers, everything does.
        for (index, admin) in loaded.adminListeners.enumerated() {
            try listeners.open(.init(name: "admin", index: index), admin, loaded, routes.admin(token: admin.token))
        }
        let opened = CORSHandler(policy: loaded.configuration.cors, inner: routes.public)
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

    private static func rules(
        of loaded: LoadedConfiguration, _ modules: LadderModules?, _ callback: EntitlementCallback?, loopCount: Int
    ) throws(DaemonError) -> LiveRules {
        try wrap(
            DaemonError.cryptography,
            try LiveRules(
                loaded, modules: modules?.byCredential ?? [:], callback: callback?.decider, loopCount: loopCount))
    }
}
