import AdminRoutes
import Administration
import ByteCoding
import ContentKeys
import EventLoops
import Licensing
import POSIXSockets
import Records
import RouteKit
import ServiceConfiguration
import StoragePostgreSQL
import StorageSQLite
import Synchronization
import Telemetry
import Upkeep

/// The stores that make license decisions durable, and the threads that maintain these stores.
final class LicenseRecords: Sendable {
    let recorder: DecisionRecorder
    let refusals: RefusalRecorder
    let lookup: LicenseLookup
    /// Reads the ledger for operators.
    let pages: LedgerPageQueue
    private let store: SQLiteDecisionStore
    private let keeper: LedgerKeeper
    private let clock: TrustedClock
    private let disk: DiskWatch
    private let clockKeeper: ClockKeeper
    private let sharing: Sharing?
    private let file: LedgerFile
    private let chain: LedgerChain
    private let logger: Logger
    /// Whether the ledger has a row that says that the daemon has started.
    private let hasStarted = Atomic<Bool>(false)

    /// The additional parts of a node that shares PostgreSQL with others.
    private struct Sharing: Sendable {
        let store: PostgreSQLStore
        let decisions: SharedDecisionStore
        let patience: Patience
        let revocations: SharedRevocations
        let shipping: LedgerShipping
        let recount: RecountKeeper
    }

    /// The most time that the writer may take to finish when the daemon stops.
    private static let stopLimit: Duration = .seconds(3)
    /// The least value of the time for which a request may wait for the disk, if `overload.wait` is shorter.
    private static let patienceMinimum: Duration = .milliseconds(100)

    /// Whether no license is issued without a row in the ledger.
    private let isRequired: Bool
    /// Whether session tokens renew licenses. Renewals go on even if the clock is behind.
    private let renews: Bool

    /// Opens the ledger, and starts the clock with the record that it left in the same file.
    ///
    /// The ledger is in the database of the content keys, or, with `shared`, in a file of its own. Throws if the ledger
    /// cannot be opened, or does not verify.
    init(
        _ loaded: LoadedConfiguration, shared: PostgreSQLStore?, clock: TrustedClock, loops: DaemonLoops, logger: Logger
    ) throws(DaemonError) {
        let path = loaded.databasePath
        let file = LedgerFile(path: path, keys: loaded.ledgerKeys)
        self.file = file
        self.logger = logger
        self.clock = clock
        renews = loaded.sessions != nil
        isRequired = loaded.configuration.ledger.mode == .required
        let chain: LedgerChain
        let acceptance: ClockAcceptance
        do throws(StorageOpeningError) {
            chain = try file.prepare(loaded.sharedSecrets)
            if try file.unconfigured(loaded.sharedSecrets) != nil {
                logger.warning("configuration", [.string("warning", "\(RandomKeysWarning.besideDerivedKeys)")])
            }
            (store, acceptance) = try Self.open(loaded, chain, clock, on: loops.requests.loops)
        } catch {
            throw .store(path: path, error)
        }
        self.chain = chain
        sharing = shared.map { [store] in
            Self.share($0, ledger: store, chain, under: loaded, clock: clock, on: loops, logger: logger)
        }
        recorder = DecisionRecorder(
            store: sharing?.decisions ?? store, pseudonyms: loaded.pseudonymizer,
            mode: .init(loaded.configuration.ledger.mode),
            deviceLife: loaded.configuration.entitlement.deviceLife.components.seconds,
            accounts: sharing?.store ?? store)
        let disk = DiskWatch(path: path)
        self.disk = disk
        refusals = RefusalRecorder(
            ledger: store, pseudonyms: loaded.pseudonymizer,
            perSecond: loaded.configuration.ledger.refusalsPerSecond, on: loops.requests.loops[0],
            hasRoom: { !disk.isLow })
        do throws(EventLoopError) {
            lookup = try LicenseLookup(path: path, logger: logger)
            pages = try LedgerPageQueue(path: path, node: chain.node, logger: logger)
            keeper = try LedgerKeeper(
                path: path, chain: chain, settings: loaded.configuration.ledger, logger: logger,
                clock: clock, disk: disk
            ) { [sharing] in sharing?.shipping.purgeableThrough ?? .max }
        } catch {
            sharing?.recount.stop()
            sharing?.shipping.stop()
            store.stop()
            throw .loops(error)
        }
        clockKeeper = ClockKeeper(
            clock, store: store, shared: shared, acceptance: acceptance, on: loops.upkeep, logger: logger)
    }

    /// Adopts the time for which requests may wait for the disk.
    func adopt(_ overload: Configuration.Overload) {
        store.setPatience(max(overload.wait, Self.patienceMinimum))
    }

    private static func open(
        _ loaded: LoadedConfiguration, _ chain: LedgerChain, _ clock: TrustedClock, on loops: [LoopContext]
    ) throws(StorageOpeningError) -> (SQLiteDecisionStore, ClockAcceptance) {
        var options = SQLiteDecisionStore.Options()
        options.settledTime = { clock.settledTime }
        options.patience = max(loaded.configuration.limits.overload.wait, Self.patienceMinimum)
        let store = try SQLiteDecisionStore.open(
            path: loaded.databasePath, chain: chain, loops: loops, options: options)
        do throws(StoreError) {
            let record = try store.clockRecord()
            clock.start(record.map { ClockTrust.Memory($0) })
            return (store, record?.acceptance ?? .none)
        } catch {
            store.stop()
            throw .store(error)
        }
    }

    private static func share(
        _ shared: PostgreSQLStore, ledger: SQLiteDecisionStore, _ chain: LedgerChain,
        under loaded: LoadedConfiguration, clock: TrustedClock, on loops: DaemonLoops, logger: Logger
    ) -> Sharing {
        let settings = loaded.configuration.storage
        let mark = NodeMark()
        let patience = Patience(on: loops.requests.loops)
        let connections = SettledConnections(on: loops.requests.loops)
        let decisions = SharedDecisionStore(
            shared: shared, ledger: ledger, onStoreOutage: settings.onStoreOutage, limits: settings.admissions,
            patience: patience, mark: mark, connections: connections, mayCount: { clock.mayCount })
        let copy = LedgerCopy(
            chain: chain, label: loaded.configuration.node,
            retention: loaded.configuration.ledger.sharedRetention.components.seconds, store: shared, ledger: ledger)
        let recount = RecountKeeper(
            Recount(node: chain.node, ledger: ledger, shared: shared, mark: mark, connections: connections),
            decisions, on: loops.upkeep, logger: logger)
        shared.tellConnection { [weak recount] in recount?.passSoon() }
        return Sharing(
            store: shared, decisions: decisions, patience: patience,
            revocations: SharedRevocations(shared: shared, pending: ledger),
            shipping: LedgerShipping(
                path: loaded.databasePath, copy: copy, on: loops.upkeep, logger: logger, clock: clock),
            recount: recount)
    }

    /// Records an event of the daemon itself in the ledger.
    ///
    /// Blocks, so it must not be called on a loop. If the ledger does not take the row, that is logged, and nothing
    /// else is affected.
    func note(_ kind: LedgerEntry.Kind, _ detail: String = "") {
        let now = SystemWallClock().wallTime.seconds
        do {
            var entry = LedgerEntry(kind: kind, at: now, license: try .naming(rowAt: now), detail: detail)
            entry.actor = OperatingSystemUser.actor
            var appender = try LedgerAppender.open(path: file.path, chain: chain)
            try appender.append([entry], at: now)
            if kind == .nodeStarted { hasStarted.store(true, ordering: .relaxed) }
        } catch {
            logger.error("ledger_row_lost", [.string("row", "\(kind)"), .string("cause", "\(error)")])
        }
    }

    /// Finishes the writes that wait, ships them, and logs the last checkpoint of the ledger.
    ///
    /// Blocks, so it must not be called on a loop.
    func stop() {
        lookup.stop()
        pages.stop()
        sharing?.recount.stop()
        clockKeeper.stop()
        if !store.stop(within: Self.stopLimit) {
            logger.error("ledger_writer_hangs", [.string("cause", StoreOutage.hanging.explanation)])
        }
        if hasStarted.load(ordering: .relaxed) { note(.nodeStopped) }
        sharing?.shipping.stop()
        keeper.stop()
    }

    /// The node's own ledger.
    var ledger: any Ledger { store }
    /// The revocations: in PostgreSQL, or in the node's own store if it works alone.
    var revocations: any RevocationStore { sharing?.revocations ?? store }
    /// Makes operators' revocations durable together with their rows in the ledger.
    var revocationRecords: any RevocationRecords { sharing?.revocations ?? store }
    /// By which operators manage devices, playbacks and rentals.
    func accountDesk(_ pseudonyms: Pseudonymizer) -> AccountDesk {
        guard let shared = sharing?.store else {
            return AccountDesk(store: store, records: store, pseudonyms: pseudonyms)
        }
        return AccountDesk(
            store: shared, records: SharedAccountRecords(shared: shared, ledger: store), pseudonyms: pseudonyms)
    }
    var challenges: any ChallengeStore { sharing?.store ?? store }

    var slots: any PlaybackSlotStore { sharing?.store ?? store }

    /// The series of the operator's plots whose numbers are counted here.
    var historySources: [HistorySeries: HistorySource] {
        [
            .ledgerWaiting: .level { [store] in Double(store.statistics.queueLength) },
            .ledgerLag: .level { [sharing] in sharing.map { Double($0.shipping.standing.lagRows) } },
        ]
    }

    /// Lets this node tell the others about itself.
    func tellNodes(_ report: @escaping @Sendable () -> NodeReport) { sharing?.shipping.tell(report) }

    /// The nodes that share the database, for operators; empty if this node works alone.
    var nodes: [StatusReport.Node] {
        guard let standing = sharing?.shipping.standing else { return [] }
        let offset = clock.trust.databaseOffset.map { Double($0) / 1e9 }
        return standing.nodes.map { known in
            let isThis = known.node == chain.node
            var node = StatusReport.Node(
                name: known.label, ledger: known.node.text, isThis: isThis, seenAt: known.seenAt)
            let report = isThis ? sharing?.shipping.report : known.report
            (node.version, node.state, node.licenses) = (report?.version, report?.state, report?.licenses)
            if isThis { (node.clockOffset, node.ledgerLag) = (offset, standing.lagRows) }
            return node
        }
    }

    /// The faults of these parts now. The daemon serves without them.
    var degradations: [Degradation] {
        var found: [Degradation] = []
        if let outage = store.condition.outage {
            found.append(Degradation(part: .ledger, cause: outage.explanation, stopsLicenses: isRequired))
        }
        if let degradation = disk.degradation { found.append(degradation) }
        if let health = sharing?.store.health, !health.isReachable {
            let cause = health.lastError?.explanation ?? StoreOutage.unreachable.explanation
            found.append(Degradation(part: .postgreSQL, cause: cause, stopsLicenses: false))
        }
        if sharing?.shipping.standing.isDegraded ?? false {
            let cause =
                "the copy of the ledger in PostgreSQL is behind, or is of another ledger; see ledger_shipping_failed and ledger_lost"
            found.append(Degradation(part: .ledgerCopy, cause: cause, stopsLicenses: false))
        }
        if clock.isDegraded {
            let cause = "the clock is not trusted; see latchkey clock show"
            found.append(Degradation(part: .clock, cause: cause, stopsLicenses: clock.isBehind && !renews))
        }
        return found
    }

    /// Makes the secrets of a reload those that the installation uses from now on.
    func replaceSecrets(_ secrets: SharedSecrets) throws(StorageOpeningError) {
        try file.replaceSecrets(secrets)
    }

    func register(in registry: MetricsRegistry) {
        let metrics: [(String, String, isCounter: Bool, @Sendable (WriterStatistics) -> Double)] = [
            ("requests_total", "Writes that were answered once they were durable.", true, { Double($0.requestCount) }),
            ("batches_total", "Transactions that were made durable.", true, { Double($0.batchCount) }),
            ("ledger_rows_total", "Rows that were written to the ledger.", true, { Double($0.rowCount) }),
            (
                "batch_seconds_total", "Total time of these transactions, in seconds.", true,
                { $0.batchTime / .seconds(1) }
            ),
            ("failures_total", "Writes that were answered with an error.", true, { Double($0.failedCount) }),
            ("late_total", "Writes that waited too long, or whose file was gone.", true, { Double($0.lateCount) }),
            ("refusals_total", "Writes that were refused because too many waited.", true, { Double($0.refusedCount) }),
            (
                "reopenings_total", "How often the database was opened again after an error.", true,
                { Double($0.reopenCount) }
            ),
            ("queue_length", "Writes that wait.", false, { Double($0.queueLength) }),
        ]
        for (name, help, isCounter, value) in metrics {
            registry.sample("latchkey_store_\(name)", help: help, isCounter: isCounter) { [store] in
                value(store.statistics)
            }
        }
        registry.show(
            store.writerTimes.waits, "latchkey_store_wait_duration_seconds",
            help: "Time that writes wait before their transaction begins.")
        registry.show(
            store.writerTimes.batches, "latchkey_store_commit_duration_seconds",
            help: "Time of a transaction, with its sync.")
        disk.register(in: registry)
        registry.sample(
            "latchkey_licenses_unrecorded_total", help: "Licenses that were given without a record.", isCounter: true
        ) { [recorder] in Double(recorder.unrecordedCount) }
        registry.sample(
            "latchkey_ledger_refusals_omitted_total", help: "Refusals of good tokens that have no row in the ledger.",
            isCounter: true
        ) { [refusals] in Double(refusals.omittedCount) }
        registry.sample(
            "latchkey_ledger_rows_purged_total", help: "Rows of the ledger that were older than ledger.retention.",
            isCounter: true
        ) { [keeper] in Double(keeper.purgedRowCount) }
        clock.register(in: registry)
        if let sharing {
            Self.register(sharing, in: registry)
            clock.registerDatabase(in: registry)
        }
    }

    private static func register(_ sharing: Sharing, in registry: MetricsRegistry) {
        let metrics: [(String, String, isCounter: Bool, @Sendable (Sharing) -> Double)] = [
            (
                "latchkey_postgresql_up", "Whether PostgreSQL answers.", false,
                { $0.store.health.isReachable ? 1 : 0 }
            ),
            (
                "latchkey_postgresql_connections", "Connections to PostgreSQL that are open.", false,
                { Double($0.store.health.connected) }
            ),
            (
                "latchkey_postgresql_connections_expected", "Connections to PostgreSQL that should be open.", false,
                { Double($0.store.health.expected) }
            ),
            (
                "latchkey_postgresql_ledger_rows_shipped_total", "Rows of the ledger that PostgreSQL has received.",
                true, { Double($0.shipping.shippedRowCount) }
            ),
            (
                "latchkey_postgresql_ledger_shipped_sequence", "Sequence of the last row that was shipped.", false,
                { Double($0.shipping.shippedThrough) }
            ),
            (
                "latchkey_ledger_copy_lag_rows", "Rows of the ledger that PostgreSQL has not received yet.", false,
                { Double($0.shipping.standing.lagRows) }
            ),
            (
                "latchkey_ledger_copy_lag_seconds", "Age of the oldest row that PostgreSQL has not received yet.",
                false,
                { Double($0.shipping.standing.lagSeconds) }
            ),
            (
                "latchkey_ledger_copy_contradicted",
                "Whether PostgreSQL has other rows of this ledger, or more of them, so that latchkey ledger rejoin is needed.",
                false, { $0.shipping.standing.isContradicted ? 1 : 0 }
            ),
            (
                "latchkey_ledger_copy_lost_nodes", "Nodes of this name whose ledgers are lost until they rejoin.",
                false,
                { Double($0.shipping.standing.lostNodes.count) }
            ),
            (
                "latchkey_ledger_copy_rows_mended_total", "Rows that PostgreSQL had lost and has received again.", true,
                { Double($0.shipping.standing.mendedRows) }
            ),
            (
                "latchkey_ledger_copy_rows_purged_total",
                "Rows of the copy in PostgreSQL that were older than ledger.sharedRetention.", true,
                { Double($0.shipping.standing.purgedRows) }
            ),
            (
                "latchkey_licenses_admitted_in_outage_total",
                "Licenses that were issued without counting their uses, devices and places.", true,
                { Double($0.decisions.counts.admitted) }
            ),
            (
                "latchkey_licenses_over_outage_limit_total",
                "Licenses that were refused in an outage because their token or subject had reached its limit.",
                true,
                { Double($0.decisions.counts.overLimit) }
            ),
            (
                "latchkey_renewals_unchecked_total",
                "Renewals that were given without a check of their session and slots.", true,
                { Double($0.decisions.counts.uncheckedRenewals) }
            ),
            (
                "latchkey_uses_given_back_total", "Uses given back because the ledger took no row for them.", true,
                { Double($0.decisions.counts.givenBack) }
            ),
            (
                "latchkey_renewals_breaker_open", "Whether renewals go on without waiting for PostgreSQL.", false,
                { $0.patience.isOpen ? 1 : 0 }
            ),
            (
                "latchkey_recounted_total", "Licenses that were counted in PostgreSQL after they were given.", true,
                { Double($0.recount.counts.counted) }
            ),
            (
                "latchkey_recounts_refused_total",
                "Licenses that PostgreSQL could not count any more, because other nodes had given the last use or place.",
                true, { Double($0.recount.counts.refused) }
            ),
            (
                "latchkey_recounts_restored_total", "Decisions that PostgreSQL had lost and has received again.", true,
                { Double($0.recount.counts.restored) }
            ),
        ]
        for (name, help, isCounter, value) in metrics {
            registry.sample(name, help: help, isCounter: isCounter) { value(sharing) }
        }
    }
}

extension WriterCondition {
    /// The current outage; nil if the writer works.
    fileprivate var outage: StoreOutage? {
        switch self {
        case .sound: nil
        case .failing(let outage): outage
        case .hanging: .hanging
        case .replaced: .replaced
        }
    }
}

extension DecisionRecorder.Mode {
    init(_ mode: Configuration.Ledger.Mode) {
        self =
            switch mode {
            case .required: .required
            case .bestEffort: .bestEffort
            }
    }
}
