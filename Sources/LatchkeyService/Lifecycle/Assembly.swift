import AdminRoutes
import Administration
import ByteCoding
import CommandLineKit
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

/// Puts a daemon together. Each part is made once, from the parts before it.
///
/// The fields are what most parts need, so a part is made from a few others.
struct Assembly {
    /// The most time that requests in flight may take after the order to stop.
    static let drainLimit: Duration = .seconds(30)
    /// How long an operator's request at the very end may take.
    private static let adminDrainLimit: Duration = .seconds(2)

    private let loaded: LoadedConfiguration
    private let status: ServiceStatus
    private let logger: Logger
    private let clock: TrustedClock
    private let operations = RSAOperationCount()
    private let standstill = Standstill()
    private let metrics: ServiceMetrics
    private let storage: OpenedStorage
    private let loops: DaemonLoops
    /// Holds the parts that run already, and how they stop.
    private var running: RunningParts

    /// Starts all parts, one after the other. If a part cannot start, the parts that already run are stopped.
    static func start(
        _ loaded: LoadedConfiguration, sockets: ActivatedSockets, status: ServiceStatus, logger: Logger
    ) throws(DaemonError) -> (DaemonParts, RuleBook) {
        var running = RunningParts()
        do throws(DaemonError) {
            var assembly = try Assembly(loaded, status: status, logger: logger, &running)
            defer { running = assembly.running }
            return try assembly.start(sockets)
        } catch {
            running.stop()
            throw error
        }
    }

    private init(
        _ loaded: LoadedConfiguration, status: ServiceStatus, logger: Logger, _ running: inout RunningParts
    ) throws(DaemonError) {
        let clockEvents = ClockEvents(logger: logger)
        clock = try Self.makeClock(loaded, clockEvents)
        metrics = ServiceMetrics(registry: MetricsRegistry(), rsaOperations: operations)
        metrics.register(clockSteps: clockEvents.steps)
        storage = try Self.openStorage(loaded, clock, logger: logger, &running)
        loops = try DaemonLoops(count: loaded.configuration.fixed.loopCount, logger: logger, &running)
        (self.loaded, self.status, self.logger, self.running) = (loaded, status, logger, running)
    }

    private mutating func start(_ sockets: ActivatedSockets) throws(DaemonError) -> (DaemonParts, RuleBook) {
        let modules = try makeModules()
        let records = try makeRecords()
        let book = try makeRules(modules)
        let shared = shareLicensing(records, book)
        let revocations = makeRevocations(records, shared, book.cell)
        let periods = makePeriods(records)
        let issuerKeys = try makeIssuerKeys(book.cell)
        let degradations = watchDegradations([
            { records.degradations }, { revocations.degradations }, Self.degradations(of: modules, book.cell),
            { periods.degradations },
            { [cell = book.cell] in issuerKeys.degradations(hasCallback: cell.current.license.callback != nil) },
        ])
        let health = Health(degradations: degradations) { [status] drain in
            status.change { $0.drainedBy = drain?.actor }
        }
        metrics.register(health)
        // Before the servers: in its phase it comes after them.
        running.add(.connections) { health.beginEnd() }
        let packagers = try makePackagers(records)
        logShortages(book.cell)
        let servers = makeServers(book.cell)
        let listeners = try ServingListeners(servers.public, admin: servers.admin, sockets: sockets, logger: logger)
        let certificates = { @Sendable [cell = book.cell] in
            listeners.servedCertificates + cell.current.license.fairplay.credentials.servedCertificates
        }
        watch(certificates)
        watchCredentials(book.cell)
        let pages = StatusSource(
            .init(
                node: loaded.configuration.node, memory: servers.resources, nodes: { records.nodes },
                listeners: { listeners.overview }, certificates: certificates, trust: { [clock] in clock.trust },
                preflights: { [metrics, cell = book.cell] in metrics.preflights.entries(under: cell.current.cors) }),
            health: health, wallClock: clock)
        let (history, devices) = try makeHistory(records, shared, servers.resources)
        records.tellNodes { [clock] in
            let condition = health.condition(now: (clock.wallTime, SystemMonotonicClock().monotonicTime))
            return NodeReport(
                version: LatchkeyVersion.current, state: condition.state.rawValue, licenses: history.recentLicenses)
        }
        let routes = makeRoutes(
            RouteParts(
                records: records, book: book, shared: shared, health: health, packagers: packagers,
                revocations: revocations, history: history, devices: devices, status: pages))
        try listen(listeners, routes)
        let parts = DaemonParts(
            metrics: metrics, health: health, listeners: listeners, loopCount: loops.requests.loops.count,
            watchedLoops: loops.serving + [packagers.loop.loop] + [modules.loop].compactMap(\.self),
            adminLoop: loops.admin, records: records, running: running, shared: storage.shared, clock: clock,
            secrets: InstallationSecrets(loaded, records, shared: storage.shared, logger: logger),
            issuerKeys: issuerKeys)
        return (parts, book)
    }

    // MARK: What all parts need

    /// Makes the clock. Throws if the system's clock is certainly wrong, because no token or license could then be
    /// judged by its times.
    private static func makeClock(
        _ loaded: LoadedConfiguration, _ events: ClockEvents
    ) throws(DaemonError) -> TrustedClock {
        let now = SystemWallClock().wallTime.seconds
        if let built = BuildDate.earliest(), now < built { throw .clockBeforeBuild(now: now, built: built) }
        return TrustedClock(ClockTrust.Settings(leeway: loaded.configuration.entitlement.leeway)) { events.note($0) }
    }

    private static func openStorage(
        _ loaded: LoadedConfiguration, _ clock: TrustedClock, logger: Logger, _ running: inout RunningParts
    ) throws(DaemonError) -> OpenedStorage {
        let storage = try OpenedStorage.open(loaded, clock, logger)
        guard let shared = storage.shared else { return storage }
        running.add(.storage) { shared.close() }
        if let away = shared.initialAbsence {
            logger.warning("postgresql_away", [.string("cause", away.explanation)])
        }
        return storage
    }

    // MARK: Licensing

    private mutating func makeModules() throws(DaemonError) -> LadderModules {
        let modules = try LadderModules(loaded, for: loops.requests.loops, logger: logger)
        running.add(.services) { modules.stop() }
        modules.register(in: metrics.registry)
        return modules
    }

    private static func degradations(
        of modules: LadderModules, _ cell: LiveRulesCell
    ) -> @Sendable () -> [Degradation] {
        { modules.degradations(ofAll: cell.current.license.fairplay.credentials.credentials.count) }
    }

    private mutating func makeRecords() throws(DaemonError) -> LicenseRecords {
        let records = try LicenseRecords(loaded, shared: storage.shared, clock: clock, loops: loops, logger: logger)
        running.add(.records) { records.stop() }
        records.register(in: metrics.registry)
        return records
    }

    private mutating func makeRules(_ modules: LadderModules) throws(DaemonError) -> RuleBook {
        let book = try RuleBook(loaded, modules: modules)
        running.add(.services) { [callback = book.callback] in callback.current?.stop() }
        EntitlementCallback.register({ [cell = book.cell] in cell.current.license.callback }, in: metrics.registry)
        return book
    }

    private func shareLicensing(_ records: LicenseRecords, _ book: RuleBook) -> SharedLicensing {
        let accelerator = CryptoBackend.start(loaded, logger)
        CryptoBackend.register(accelerator, in: metrics.registry)
        var shared = SharedLicensing(
            keys: storage.recentKeys(book.assetForms, on: loops.requests.loops), operations: operations,
            overload: metrics.overload,
            revocations: KnownRevocations(clock: clock, standstill: standstill),
            copyLife: .seconds(DecisionRecorder.retryWindowDefault))
        book.keys = shared.keys
        shared.accelerator = accelerator
        shared.livePeriods = storage.recentLivePeriods(on: loops.requests.loops)
        shared.recorder = records.recorder
        shared.refusals = records.refusals
        shared.pseudonyms = loaded.pseudonymizer
        shared.history = records.lookup
        shared.trustedClock = clock
        shared.slots = records.slots
        shared.challenges = ServerChallenges(store: records.challenges, pseudonyms: loaded.pseudonymizer)
        metrics.register(shared)
        metrics.register(caches: [("content_keys", shared.keyLookups), ("tokens", book.tokenLookups)])
        return shared
    }

    // MARK: Maintenance

    private mutating func makeRevocations(
        _ records: LicenseRecords, _ shared: SharedLicensing, _ cell: LiveRulesCell
    ) -> RevocationKeeper {
        let keeper = RevocationKeeper(
            store: records.revocations, names: RevocationNames(loaded.pseudonymizer),
            on: loops.upkeep, logger: logger, clock: clock, standstill: standstill
        ) { [known = shared.revocations] view in
            known.replace(with: view)
            cell.current.license.entitlement.tokens.removeAll()
        }
        running.add(.services) { keeper.stop() }
        keeper.register(in: metrics.registry)
        return keeper
    }

    private mutating func makePeriods(_ records: LicenseRecords) -> PeriodKeeper {
        let keeper = PeriodKeeper(
            storage.periodDesk(loaded.keyDerivation), actor: "node:\(loaded.configuration.node)",
            ledger: records.ledger, on: loops.upkeep, clock: clock, logger: logger)
        running.add(.services) { keeper.stop() }
        keeper.register(in: metrics.registry)
        return keeper
    }

    private mutating func makeIssuerKeys(_ cell: LiveRulesCell) throws(DaemonError) -> IssuerKeyKeeper {
        let tokens = cell.current.license.entitlement.tokens
        let keeper = try wrap(
            DaemonError.loops, try IssuerKeyKeeper(loaded, tokens: tokens, on: loops.upkeep, logger: logger))
        running.add(.services) { keeper.stop() }
        keeper.register(in: metrics.registry)
        return keeper
    }

    private mutating func watchDegradations(_ sources: [@Sendable () -> [Degradation]]) -> DegradationSource {
        let source = DegradationSource(sources)
        metrics.register(source)
        let log = DegradationLog(source, logger: logger) { [status] parts in status.change { $0.degraded = parts } }
        addRoutine(every: DegradationLog.pause) { log.look() }
        return source
    }

    private mutating func logShortages(_ cell: LiveRulesCell) {
        let shortages = metrics.http.shortages
        shortages.log(to: logger) { cell.current.refusals.clientAddress }
        addRoutine(every: ConnectionShortages.lookPause) { shortages.look() }
    }

    private mutating func watch(_ certificates: @escaping @Sendable () -> [ServedCertificate]) {
        metrics.register(certificates: certificates)
        let watch = CertificateWatch(certificates, logger: logger, clock: clock)
        addRoutine(every: CertificateWatch.pause) { watch.look() }
    }

    private mutating func watchCredentials(_ cell: LiveRulesCell) {
        let watch = CredentialUseWatch({ cell.current.license.fairplay.credentials }, clock: clock)
        watch.register(in: metrics.registry)
        addRoutine(every: CredentialUseWatch.pause) { watch.look() }
    }

    /// Repeats a look that never waits, on a loop of requests: it must also come while maintenance waits for a disk.
    private mutating func addRoutine(every pause: Duration, _ pass: @escaping @Sendable () -> Void) {
        let routine = Routine(on: loops.requests.loops[0])
        routine.start(after: pause, every: pause) { pass() }
        running.add(.loops) { routine.stop(within: .seconds(1)) }
    }

    // MARK: Audiences

    /// Starts the parts that serve packagers, on a thread of their own, so that viewers do not wait for packagers.
    private mutating func makePackagers(_ records: LicenseRecords) throws(DaemonError) -> PackagerEndpoints.Parts {
        let desk = storage.keyDesk(loaded, ledger: records.ledger)
        metrics.registry.sample(
            "latchkey_packager_keys_unrecorded_total",
            help: "Content keys that packagers were given without a row in the ledger.", isCounter: true
        ) { Double(desk.unrecordedCount) }
        let packagerMetrics = PackagerMetrics(in: metrics.registry)
        let loop = try wrap(DaemonError.loops, try PackagerLoop(firstIndex: loops.admin.index + 1))
        loop.keep(every: .seconds(5)) { [clock, logger] isLast in
            do throws(KeyDeskError) {
                try await desk.recordRepeats(all: isLast, now: clock.wallTime.seconds)
            } catch {
                // The repeats stay in memory and are recorded the next time. Only after the last time are they lost.
                guard isLast else { return }
                logger.error("ledger_row_lost", [.string("row", "key_delivered"), .string("cause", "\(error)")])
            }
        }
        running.add(.loops) { loop.stop(within: DaemonLoops.taskLimit) }
        return PackagerEndpoints.Parts(
            desk: desk, gate: PackagerGate(countingIn: packagerMetrics.refusedCredentials), loop: loop,
            metrics: packagerMetrics, urls: loaded.configuration.keys.skdTemplate)
    }

    /// Starts the servers of the public and of the admin listeners.
    ///
    /// Each has resources of its own, so that public clients cannot use up what operators need.
    private mutating func makeServers(
        _ rules: LiveRulesCell
    ) -> (public: HTTPServer, admin: HTTPServer, resources: ServerResources) {
        metrics.http.logHandshakes(to: logger) { rules.current.refusals.clientAddress }
        let plan = descriptorPlan()
        let resources = ServerResources(
            memory: MemoryBudget(size: loaded.configuration.fixed.memoryBudget),
            connectionsMaximum: plan?.publicConnectionsMaximum ?? .max)
        let adminResources = ServerResources(
            memory: MemoryBudget(size: MemoryBudget.sizeMinimum),
            connectionsMaximum: plan?.adminConnectionsMaximum ?? 64)
        SaturationMetrics(
            resources: resources, adminResources: adminResources, loops: loops.serving, logger: logger
        ).register(in: metrics.registry)
        MemoryTrimmer(resources, on: loops.admin).start()
        let server = HTTPServer(group: loops.requests, observer: metrics.http, resources: resources)
        let adminServer = HTTPServer(group: loops.adminGroup, observer: metrics.http, resources: adminResources)
        running.add(.adminConnections) { [logger] in
            Self.note(adminServer.drain(within: Self.adminDrainLimit), logger)
        }
        running.add(.connections) { [logger] in Self.note(server.drain(within: Self.drainLimit), logger) }
        return (server, adminServer, resources)
    }

    /// Returns how many descriptors are for which purpose; nil if the limit of the process is not known.
    ///
    /// Logs a warning if there are fewer descriptors than the configuration allows connections.
    private func descriptorPlan() -> DescriptorPlan? {
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

    private static func note(_ drained: DrainReport, _ logger: Logger) {
        guard drained.cutOffConnectionCount > 0 else { return }
        logger.warning("stopped_with_work_left", [.integer("connections", drained.cutOffConnectionCount)])
    }

    /// Starts to sample the numbers for the operator's plots, on the loop of the admin listeners. They begin with those
    /// of the run before.
    private mutating func makeHistory(
        _ records: LicenseRecords, _ shared: SharedLicensing, _ resources: ServerResources
    ) throws(DaemonError) -> (History, DeviceHistory) {
        let requestLoops = loops.requests.loops
        let sources = metrics.historySources.merging(records.historySources) { $1 }
            .merging(shared.historySources(loopCount: requestLoops.count)) { $1 }
            .merging(resources.historySources(requestLoops)) { $1 }
        let history = History(sources, wallClock: clock)
        let file = try wrap(
            DaemonError.loops, try HistoryFile(loaded.databasePath + ".plots", of: history, logger: logger))
        let devices = DeviceHistory(metrics.player.devices, wallClock: clock)
        history.tell { _ in devices.look() }
        history.start(on: loops.admin)
        running.add(.adminLoop) {
            history.stop()
            file.stop()
        }
        return (history, devices)
    }

    /// The parts from which the routes are made.
    private struct RouteParts {
        let records: LicenseRecords
        let book: RuleBook
        let shared: SharedLicensing
        let health: Health
        let packagers: PackagerEndpoints.Parts
        let revocations: RevocationKeeper
        let history: History
        let devices: DeviceHistory
        let status: StatusSource
    }

    private func makeRoutes(_ parts: RouteParts) -> ServiceRoutes {
        let recent = RecentRefusals()
        let pipelines = LicensePipelines(parts.shared)
        let records = parts.records
        let expressPlay = ExpressPlayService(
            minter: ExpressPlayMinter(
                recorder: records.recorder, keys: parts.shared.keys, metrics: metrics.registry, clock: clock),
            pipelines: pipelines, metrics: metrics.registry, logger: logger, recent: recent)
        let refusals = Refusals(
            logger: logger, recent: recent, clock: clock,
            rules: { [cell = parts.book.cell] in cell.current.refusals }, counts: metrics.refusalCounts)
        return ServiceRoutes(
            .init(
                rules: parts.book.cell, pipelines: pipelines, lookup: records.lookup,
                pseudonyms: loaded.pseudonymizer, metrics: metrics, health: parts.health, logger: logger,
                recent: recent, clock: clock, expressPlay: expressPlay, packagers: parts.packagers,
                revocations: RevocationEndpoint(
                    desk: RevocationDesk(
                        store: records.revocations, records: records.revocationRecords,
                        names: RevocationNames(loaded.pseudonymizer)),
                    keeper: parts.revocations, refusals: refusals, clock: clock),
                accounts: AccountEndpoint(
                    desk: records.accountDesk(loaded.pseudonymizer), refusals: refusals, clock: clock),
                data: AdminDataEndpoint.Parts(
                    status: parts.status, history: parts.history, devices: parts.devices,
                    events: EventStreams(parts.history, parts.status), pages: records.pages,
                    contents: storage.contentDesk, pseudonyms: loaded.pseudonymizer),
                adminSessions: parts.book.adminSessions,
                help: HelpFiles.installed(logger)))
    }

    private func listen(_ listeners: ServingListeners, _ routes: ServiceRoutes) throws(DaemonError) {
        // The admin listeners are opened first, so that everything answers once a public listener does.
        for (index, admin) in loaded.adminListeners.enumerated() {
            try listeners.open(
                .init(name: "admin", index: index), admin, of: loaded,
                for: routes.admin(index, hosts: loaded.configuration.listeners.admin[index].hosts))
        }
        for (index, listener) in loaded.publicListeners.enumerated() {
            try listeners.open(.init(name: "public", index: index), listener, of: loaded, for: routes.public)
        }
    }
}
