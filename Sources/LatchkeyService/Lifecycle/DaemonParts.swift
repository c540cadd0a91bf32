import AdminRoutes
import Administration
import ByteCoding
import ContentKeys
import Entitlements
import EventLoops
import FairPlay
import HTTPMessages
import HTTPServing
import KeyCrypto
import Licensing
import POSIXSockets
import PackagerRoutes
import PlayerRoutes
import Records
import RouteKit
import ServiceConfiguration
import StoragePostgreSQL
import Telemetry
import Upkeep

/// The parts of a running daemon.
struct DaemonParts: Sendable {
    /// The most time that requests in flight may take after the order to stop.
    private static let drainLimit: Duration = .seconds(30)
    /// The most time that the tasks of a loop may take after that.
    private static let taskLimit: Duration = .seconds(2)
    /// How long an operator's request at the very end may take.
    private static let adminDrainLimit: Duration = .seconds(2)
    /// The longest time that all parts together need to stop: requests, tasks, and what is written and sent at last.
    static let stopLimit: Duration = drainLimit + .seconds(20)

    let metrics: ServiceMetrics
    let health: Health
    let listeners: ServingListeners
    let loopCount: Int
    /// All loops of the daemon that serve requests or their parts, for the watchdog.
    let watchedLoops: [LoopContext]
    let adminLoop: LoopContext
    let records: LicenseRecords
    let running: RunningParts
    /// The database that all nodes share; nil if this node works alone.
    let shared: PostgreSQLStore?
    let clock: TrustedClock
    let secrets: InstallationSecrets
    let issuerKeys: IssuerKeyKeeper

    /// Starts all parts, one after the other. If a part cannot start, the parts that already run are stopped.
    static func start(
        _ loaded: LoadedConfiguration, sockets: ActivatedSockets, status: ServiceStatus, logger: Logger
    ) throws(DaemonError) -> (DaemonParts, RuleBook) {
        var running = RunningParts()
        do throws(DaemonError) {
            return try start(loaded, sockets: sockets, status: status, logger: logger, &running)
        } catch {
            running.stop()
            throw error
        }
    }

    private static func start(
        _ loaded: LoadedConfiguration, sockets: ActivatedSockets, status: ServiceStatus, logger: Logger,
        _ running: inout RunningParts
    ) throws(DaemonError) -> (DaemonParts, RuleBook) {
        let clockEvents = ClockEvents(logger: logger)
        let clock = try startClock(loaded, clockEvents)
        let operations = RSAOperationCount()
        let metrics = ServiceMetrics(registry: MetricsRegistry(), rsaOperations: operations)
        metrics.register(clockSteps: clockEvents.steps)
        let storage = try startStorage(loaded, clock, logger, &running)
        let group = try startLoops(loaded, logger, &running)
        let adminGroup = try startAdminLoop(after: group, logger, &running)
        let modules = try startModules(loaded, group, metrics, logger, &running)
        let records = try startRecords(loaded, storage, clock, group, metrics, logger, &running)
        let book = try RuleBook(loaded, modules: modules)
        running.add(.services) { [callback = book.callback] in callback.current?.stop() }
        EntitlementCallback.register({ [cell = book.cell] in cell.current.license.callback }, in: metrics.registry)
        let keys = storage.recentKeys(on: group.loops)
        let accelerator = CryptoBackend.start(loaded, logger)
        CryptoBackend.register(accelerator, in: metrics.registry)
        let shared = sharedLicensing(
            loaded, accelerator, records, storage.recentLivePeriods(on: group.loops), clock,
            SharedLicensing(
                keys: keys, operations: operations, overload: metrics.overload,
                revocations: KnownRevocations(clock: clock),
                copyLife: loaded.configuration.entitlement.retryWindow))
        metrics.register(shared)
        metrics.register(caches: [("content_keys", shared.keyLookups), ("tokens", book.tokenLookups)])
        let revocations = try startRevocations(loaded, records, shared, clock, book, metrics, logger, &running)
        let periods = try startPeriods(loaded, storage, records, clock, metrics, logger, &running)
        let issuerKeys = try startIssuerKeys(loaded, book, metrics, logger, &running)
        let degradations = watchDegradations(
            [
                { records.degradations }, { revocations.degradations }, moduleDegradations(modules, book.cell),
                { periods.degradations },
                { [cell = book.cell] in issuerKeys.degradations(hasCallback: cell.current.license.callback != nil) },
            ], group, metrics, status, logger, &running)
        let health = Health(degradations: degradations) { drain in status.change { $0.drainedBy = drain?.actor } }
        metrics.register(health)
        // Before the servers: in its phase it comes after them.
        running.add(.connections) { health.beginEnd() }
        let packagers = try startPackagers(
            loaded, storage, records, after: adminGroup, metrics, clock, logger, &running)
        let servers = startServers(loaded, group, adminGroup, metrics, logger, &running)
        let history = startHistory(
            metrics.historySources.merging(records.historySources) { $1 }
                .merging(shared.historySources(loopCount: group.loops.count)) { $1 }
                .merging(servers.resources.historySources(group.loops)) { $1 },
            adminGroup, clock, &running)
        let listeners = try ServingListeners(
            servers.public, admin: servers.admin, sockets: sockets, logger: logger)
        let certificates = { @Sendable [cell = book.cell] in
            listeners.servedCertificates + cell.current.license.fairplay.credentials.servedCertificates
        }
        watch(certificates, group, metrics, clock, logger, &running)
        watchCredentials(book.cell, group, metrics, clock, &running)
        // `DaemonParts` takes a copy of `running`, so no part may be added to `running` from here on.
        let parts = DaemonParts(
            metrics: metrics, health: health, listeners: listeners, loopCount: group.loops.count,
            watchedLoops: group.loops + adminGroup.loops + [packagers.loop.loop] + [modules?.loop].compactMap(\.self),
            adminLoop: adminGroup.loops[0], records: records, running: running, shared: storage.shared, clock: clock,
            secrets: InstallationSecrets(loaded, records, shared: storage.shared, logger: logger),
            issuerKeys: issuerKeys)
        let recent = RecentRefusals()
        let pipelines = LicensePipelines(shared)
        let expressPlay = ExpressPlayService(
            minter: ExpressPlayMinter(
                recorder: records.recorder, keys: keys, metrics: metrics.registry, clock: clock),
            pipelines: pipelines, metrics: metrics.registry, logger: logger, recent: recent)
        let refusals = Refusals(
            logger: logger, recent: recent, clock: clock,
            rules: { [cell = book.cell] in cell.current.refusals }, counts: metrics.refusalCounts)
        let routes = ServiceRoutes(
            .init(
                rules: book.cell, pipelines: pipelines, lookup: records.lookup, pseudonyms: loaded.pseudonymizer,
                metrics: metrics, health: parts.health, logger: logger, recent: recent, clock: clock,
                expressPlay: expressPlay, packagers: packagers,
                revocations: revocationEndpoint(
                    loaded, records, revocations, clock,
                    refusals),
                accounts: AccountEndpoint(
                    desk: records.accountDesk(loaded.pseudonymizer),
                    refusals: refusals, clock: clock),
                data: dataParts(
                    loaded, records, storage, history,
                    StatusSource(
                        .init(
                            node: loaded.configuration.nodeLabel.text, memory: servers.resources,
                            nodes: { records.nodes }, listeners: { listeners.overview }, certificates: certificates,
                            trust: { clock.trust }), health: health, wallClock: clock)),
                adminSessions: book.adminSessions))
        try parts.listen(loaded, routes)
        return (parts, book)
    }

    /// Puts a configuration in force, and returns the changed fields that need a restart.
    ///
    /// If it throws, nothing has changed.
    func adopt(_ new: LoadedConfiguration, _ book: RuleBook) throws(ReloadError) -> [String] {
        let draft = try wrap(ReloadError.daemon, try book.draft(new))
        try wrap(ReloadError.daemon, try listeners.checkExposure(of: draft))
        let certificates = try wrap(ReloadError.certificates, try listeners.certificates(of: draft))
        let keys = try wrap({ ReloadError.daemon(.loops($0)) }, try issuerKeys.draft(new))
        // The last step that can fail.
        try wrap(ReloadError.daemon, try secrets.adopt(new))
        listeners.adopt(certificates)
        issuerKeys.adopt(keys, tokens: draft.tokens) { book.adopt(draft) }
        records.adopt(new.configuration.live.overload)
        clock.setLeeway(new.configuration.live.entitlement.leeway)
        return draft.fieldsThatNeedRestart
    }

    // MARK: The parts

    /// Makes the clock. Throws if the system's clock is certainly wrong, because no token or licence could then be
    /// judged by its times.
    private static func startClock(
        _ loaded: LoadedConfiguration, _ events: ClockEvents
    ) throws(DaemonError) -> TrustedClock {
        let now = SystemWallClock().wallTime.seconds
        if let built = BuildDate.earliest(), now < built { throw .clockBeforeBuild(now: now, built: built) }
        return TrustedClock(ClockTrust.Settings(loaded.configuration)) { events.note($0) }
    }

    private static func startStorage(
        _ loaded: LoadedConfiguration, _ clock: TrustedClock, _ logger: Logger, _ running: inout RunningParts
    ) throws(DaemonError) -> OpenedStorage {
        let storage = try OpenedStorage.open(loaded, clock)
        if let warning = storage.keyLoss { logger.error(warning.event, [.string("cause", warning.cause)]) }
        guard let shared = storage.shared else { return storage }
        running.add(.storage) { shared.close() }
        if let away = shared.initialAbsence {
            logger.warning("postgresql_away", [.string("cause", away.explanation)])
        }
        return storage
    }

    private static func startLoops(
        _ loaded: LoadedConfiguration, _ logger: Logger, _ running: inout RunningParts
    ) throws(DaemonError) -> EventLoopGroup {
        let group = try wrap(DaemonError.loops, try EventLoopGroup(count: loaded.configuration.fixed.loopCount))
        running.add(.loops) {
            let stopped = group.stop(within: taskLimit)
            guard stopped.abandonedTaskCount > 0 else { return }
            logger.warning("stopped_with_work_left", [.integer("tasks", stopped.abandonedTaskCount)])
        }
        return group
    }

    /// Starts the loop of the admin listeners. It serves no public requests, so it answers while the other loops are
    /// busy.
    private static func startAdminLoop(
        after group: EventLoopGroup, _ logger: Logger, _ running: inout RunningParts
    ) throws(DaemonError) -> EventLoopGroup {
        let admin = try wrap(
            DaemonError.loops, try EventLoopGroup(count: 1, name: "admin", firstIndex: group.loops.count))
        running.add(.adminLoop) { admin.stop(within: taskLimit) }
        return admin
    }

    /// Starts the parts that serve packagers, on a thread of their own, so that viewers do not wait for packagers.
    private static func startPackagers(
        _ loaded: LoadedConfiguration, _ storage: OpenedStorage, _ records: LicenseRecords,
        after adminGroup: EventLoopGroup, _ metrics: ServiceMetrics, _ clock: TrustedClock, _ logger: Logger,
        _ running: inout RunningParts
    ) throws(DaemonError) -> PackagerEndpoints.Parts {
        let desk = storage.keyDesk(loaded, ledger: records.ledger)
        metrics.registry.sample(
            "latchkey_packager_keys_unrecorded_total",
            help: "Content keys that packagers were given without a row in the ledger.", isCounter: true
        ) { Double(desk.unrecordedCount) }
        let packagerMetrics = PackagerMetrics(in: metrics.registry)
        let firstIndex = adminGroup.loops[0].index + 1
        let loop = try wrap(DaemonError.loops, try PackagerLoop(firstIndex: firstIndex))
        loop.keep(every: .seconds(5)) { isLast in
            do throws(KeyDeskError) {
                try await desk.recordRepeats(all: isLast, now: clock.wallTime.seconds)
            } catch {
                // The repeats stay in memory and are recorded the next time. Only after the last time are they lost.
                guard isLast else { return }
                logger.error("ledger_row_lost", [.string("row", "keyDelivered"), .string("cause", "\(error)")])
            }
        }
        running.add(.loops) { loop.stop(within: taskLimit) }
        return PackagerEndpoints.Parts(
            desk: desk, gate: PackagerGate(countingIn: packagerMetrics.refusedCredentials), loop: loop,
            metrics: packagerMetrics,
            urls: loaded.configuration.keys.skdTemplate)
    }

    /// Starts the servers of the public and of the admin listeners.
    ///
    /// Each has resources of its own, so that public clients cannot use up what operators need.
    private static func startServers(
        _ loaded: LoadedConfiguration, _ group: EventLoopGroup, _ adminGroup: EventLoopGroup, _ metrics: ServiceMetrics,
        _ logger: Logger, _ running: inout RunningParts
    ) -> (public: HTTPServer, admin: HTTPServer, resources: ServerResources) {
        let plan = descriptorPlan(loaded, logger)
        let resources = ServerResources(
            memory: MemoryBudget(size: loaded.configuration.fixed.memoryBudget),
            connectionsMaximum: plan?.publicConnectionsMaximum ?? .max)
        let adminResources = ServerResources(
            memory: MemoryBudget(size: MemoryBudget.sizeMinimum),
            connectionsMaximum: plan?.adminConnectionsMaximum ?? 64)
        SaturationMetrics(
            resources: resources, adminResources: adminResources, loops: group.loops + adminGroup.loops, logger: logger
        ).register(in: metrics.registry)
        MemoryTrimmer(resources, on: adminGroup.loops[0]).start()
        let server = HTTPServer(group: group, observer: metrics.http, resources: resources)
        let adminServer = HTTPServer(group: adminGroup, observer: metrics.http, resources: adminResources)
        running.add(.adminConnections) { note(adminServer.drain(within: adminDrainLimit), logger) }
        running.add(.connections) { note(server.drain(within: drainLimit), logger) }
        return (server, adminServer, resources)
    }

    /// Starts to sample the numbers for the operator's plots, on the loop of the admin listeners.
    private static func startHistory(
        _ sources: [HistorySeries: HistorySource], _ adminGroup: EventLoopGroup, _ clock: TrustedClock,
        _ running: inout RunningParts
    ) -> History {
        let history = History(sources, wallClock: clock)
        history.start(on: adminGroup.loops[0])
        running.add(.adminLoop) { history.stop() }
        return history
    }

    /// Returns how many descriptors are for which purpose; nil if the limit of the process is not known.
    ///
    /// Logs a warning if there are fewer descriptors than the configuration allows connections.
    private static func descriptorPlan(_ loaded: LoadedConfiguration, _ logger: Logger) -> DescriptorPlan? {
        guard let plan = DescriptorPlan.current() else { return nil }
        let wanted = loaded.configuration.limits.http.connectionsMaximum * loaded.publicListeners.count
        if plan.publicConnectionsMaximum < wanted {
            logger.warning(
                "descriptors_limit_connections",
                [
                    .integer("descriptors", plan.limit), .integer("connections", plan.publicConnectionsMaximum),
                    .integer("configured", wanted),
                ])
        }
        return plan
    }

    private static func startModules(
        _ loaded: LoadedConfiguration, _ group: EventLoopGroup, _ metrics: ServiceMetrics, _ logger: Logger,
        _ running: inout RunningParts
    ) throws(DaemonError) -> LadderModules? {
        let modules = try wrap(
            DaemonError.loops, try LadderModules(loaded.modules, for: group.loops, logger: logger))
        guard let modules else { return nil }
        running.add(.services) { modules.stop() }
        modules.register(in: metrics.registry)
        return modules
    }

    private static func startRecords(
        _ loaded: LoadedConfiguration, _ storage: OpenedStorage, _ clock: TrustedClock, _ group: EventLoopGroup,
        _ metrics: ServiceMetrics, _ logger: Logger, _ running: inout RunningParts
    ) throws(DaemonError) -> LicenseRecords {
        let records = try LicenseRecords(
            loaded, shared: storage.shared, clock: clock, loops: group.loops, logger: logger)
        running.add(.records) { records.stop() }
        records.register(in: metrics.registry)
        return records
    }

    private static func startRevocations(
        _ loaded: LoadedConfiguration, _ records: LicenseRecords, _ shared: SharedLicensing, _ clock: TrustedClock,
        _ book: RuleBook, _ metrics: ServiceMetrics, _ logger: Logger, _ running: inout RunningParts
    ) throws(DaemonError) -> RevocationKeeper {
        let keeper: RevocationKeeper = try wrap(DaemonError.loops) { [cell = book.cell] () throws(EventLoopError) in
            try RevocationKeeper(
                store: records.revocations, names: RevocationNames(loaded.pseudonymizer),
                every: loaded.configuration.fixed.decisions.revocationRefresh, logger: logger, clock: clock
            ) { [known = shared.revocations] view in
                known.replace(with: view)
                cell.current.license.entitlement.tokens.removeAll()
            }
        }
        running.add(.services) { keeper.stop() }
        keeper.register(in: metrics.registry)
        return keeper
    }

    private static func startPeriods(
        _ loaded: LoadedConfiguration, _ storage: OpenedStorage, _ records: LicenseRecords, _ clock: TrustedClock,
        _ metrics: ServiceMetrics, _ logger: Logger, _ running: inout RunningParts
    ) throws(DaemonError) -> PeriodKeeper {
        let desk = storage.periodDesk(loaded.keyDerivation)
        let keeper: PeriodKeeper = try wrap(DaemonError.loops) { [ledger = records.ledger] () throws(EventLoopError) in
            try PeriodKeeper(
                desk, actor: "node:\(loaded.configuration.nodeLabel)", clock: clock, logger: logger
            ) { entries throws(StoreError) in try await ledger.append(together: entries) }
        }
        running.add(.services) { keeper.stop() }
        keeper.register(in: metrics.registry)
        return keeper
    }

    private static func startIssuerKeys(
        _ loaded: LoadedConfiguration, _ book: RuleBook, _ metrics: ServiceMetrics, _ logger: Logger,
        _ running: inout RunningParts
    ) throws(DaemonError) -> IssuerKeyKeeper {
        let keeper: IssuerKeyKeeper = try wrap(DaemonError.loops) {
            [tokens = book.cell.current.license.entitlement.tokens] () throws(EventLoopError) in
            try IssuerKeyKeeper(loaded, tokens: tokens, logger: logger)
        }
        running.add(.services) { keeper.stop() }
        keeper.register(in: metrics.registry)
        return keeper
    }

    private static func moduleDegradations(
        _ modules: LadderModules?, _ cell: LiveRulesCell
    ) -> @Sendable () -> [Degradation] {
        { modules?.degradations(ofAll: cell.current.license.fairplay.credentials.credentials.count) ?? [] }
    }

    private static func watchDegradations(
        _ sources: [@Sendable () -> [Degradation]], _ group: EventLoopGroup, _ metrics: ServiceMetrics,
        _ status: ServiceStatus, _ logger: Logger, _ running: inout RunningParts
    ) -> DegradationSource {
        let source = DegradationSource(sources)
        metrics.register(source)
        let log = DegradationLog(source, logger: logger) { parts in status.change { $0.degraded = parts } }
        log.start(on: group.loops[0])
        running.add(.loops) { log.stop() }
        return source
    }

    private static func watch(
        _ certificates: @escaping @Sendable () -> [ServedCertificate], _ group: EventLoopGroup,
        _ metrics: ServiceMetrics, _ clock: TrustedClock, _ logger: Logger, _ running: inout RunningParts
    ) {
        metrics.register(certificates: certificates)
        let watch = CertificateWatch(certificates, logger: logger, clock: clock)
        watch.start(on: group.loops[0])
        running.add(.loops) { watch.stop() }
    }

    private static func watchCredentials(
        _ cell: LiveRulesCell, _ group: EventLoopGroup, _ metrics: ServiceMetrics, _ clock: TrustedClock,
        _ running: inout RunningParts
    ) {
        let watch = CredentialUseWatch({ cell.current.license.fairplay.credentials }, clock: clock)
        watch.register(in: metrics.registry)
        watch.start(on: group.loops[0])
        running.add(.loops) { watch.stop() }
    }

    private static func sharedLicensing(
        _ loaded: LoadedConfiguration, _ accelerator: CryptoAccelerator?, _ records: LicenseRecords,
        _ periods: RecentLivePeriods, _ clock: TrustedClock, _ empty: SharedLicensing
    ) -> SharedLicensing {
        var shared = empty
        shared.accelerator = accelerator
        shared.livePeriods = periods
        shared.recorder = records.recorder
        shared.refusals = records.refusals
        shared.pseudonyms = loaded.pseudonymizer
        shared.history = records.lookup
        shared.trustedClock = clock
        shared.slots = records.slots
        shared.challenges = ServerChallenges(store: records.challenges, pseudonyms: loaded.pseudonymizer)
        return shared
    }

    private static func revocationEndpoint(
        _ loaded: LoadedConfiguration, _ records: LicenseRecords, _ keeper: RevocationKeeper,
        _ clock: TrustedClock, _ refusals: Refusals
    ) -> RevocationEndpoint {
        RevocationEndpoint(
            desk: RevocationDesk(
                store: records.revocations, records: records.revocationRecords,
                names: RevocationNames(loaded.pseudonymizer)),
            keeper: keeper, refusals: refusals, clock: clock)
    }

    private static func dataParts(
        _ loaded: LoadedConfiguration, _ records: LicenseRecords, _ storage: OpenedStorage, _ history: History,
        _ status: StatusSource
    ) -> AdminDataEndpoint.Parts {
        AdminDataEndpoint.Parts(
            status: status, history: history, events: EventStreams(history, status), pages: records.pages,
            contents: storage.contentDesk, pseudonyms: loaded.pseudonymizer)
    }

    private func listen(_ loaded: LoadedConfiguration, _ routes: ServiceRoutes) throws(DaemonError) {
        // The admin listeners are opened first, so that everything answers once a public listener does.
        for (index, admin) in loaded.adminListeners.enumerated() {
            try listeners.open(
                .init(name: "admin", index: index), admin, loaded,
                routes.admin(index, hosts: loaded.configuration.listeners.admin[index].hosts))
        }
        for (index, listener) in loaded.publicListeners.enumerated() {
            try listeners.open(.init(name: "public", index: index), listener, loaded, routes.public)
        }
    }

    private static func note(_ drained: DrainReport, _ logger: Logger) {
        guard drained.cutOffConnectionCount > 0 else { return }
        logger.warning("stopped_with_work_left", [.integer("connections", drained.cutOffConnectionCount)])
    }
}
