import ByteCoding
import ContentKeys
import EventLoops
import Licensing
import Records
import ServiceConfiguration
import StoragePostgreSQL
import StorageSQLite
import Telemetry

/// Where licence decisions become durable, and what keeps that place in order.
final class LicenseRecords: Sendable {
    let recorder: DecisionRecorder
    let refusals: RefusalRecorder
    let lookup: LicenseLookup
    private let store: SQLiteDecisionStore
    private let keeper: LedgerKeeper
    private let sharing: Sharing?

    /// What a node among many has besides.
    private struct Sharing: Sendable {
        let store: PostgreSQLStore
        let decisions: SharedDecisionStore
        let patience: Patience
        let shipping: LedgerShipping
        let recount: RecountKeeper
    }

    /// How long the writer may take to finish when the daemon stops.
    private static let stopLimit: Duration = .seconds(3)
    /// The shortest time for which a request waits for the disk, whatever `overload.wait` is.
    private static let patienceMinimum: Duration = .milliseconds(100)

    private let isRequired: Bool
    private let logger: Logger

    /// Opens the ledger, beside the content keys or, with `shared`, in a file of its own. Throws where it cannot be opened, or does not verify.
    init(
        _ loaded: LoadedConfiguration, shared: PostgreSQLStore?, loops: [LoopContext], logger: Logger
    ) throws(DaemonError) {
        let path = loaded.databasePath
        isRequired = loaded.configuration.ledger.mode == .required
        self.logger = logger
        var options = SQLiteDecisionStore.Options()
        options.patience = max(loaded.configuration.limits.overload.wait, Self.patienceMinimum)
        store = try wrap(
            { (error: StorageOpeningError) in DaemonError.store(path: path, error) },
            try SQLiteDecisionStore.open(path: path, chain: loaded.ledgerChain, loops: loops, options: options))
        do throws(EventLoopError) {
            sharing = if let shared { try Self.share(shared, store, loaded, loops, logger) } else { nil }
        } catch {
            store.stop()
            throw .loops(error)
        }
        recorder = DecisionRecorder(
            store: sharing?.decisions ?? store, pseudonyms: loaded.pseudonymizer,
            mode: .init(loaded.configuration.ledger.mode),
            retryWindow: loaded.configuration.entitlement.retryWindow.components.seconds,
            deviceLife: loaded.configuration.entitlement.deviceLife.components.seconds)
        refusals = RefusalRecorder(
            ledger: store, pseudonyms: loaded.pseudonymizer,
            perSecond: loaded.configuration.ledger.refusalsPerSecond, on: loops[0])
        do throws(EventLoopError) {
            lookup = try LicenseLookup(path: path, logger: logger)
            keeper = try LedgerKeeper(
                path: path, chain: loaded.ledgerChain, settings: loaded.configuration.ledger, loop: loops[0],
                logger: logger
            ) { [sharing] in sharing?.shipping.shippedThrough ?? .max }
        } catch {
            sharing?.recount.stop()
            sharing?.shipping.stop()
            store.stop()
            throw .loops(error)
        }
    }

    /// Puts the time for which requests wait for the disk in force.
    func adopt(_ overload: Configuration.Overload) {
        store.setPatience(max(overload.wait, Self.patienceMinimum))
    }

    private static func share(
        _ shared: PostgreSQLStore, _ ledger: SQLiteDecisionStore, _ loaded: LoadedConfiguration,
        _ loops: [LoopContext], _ logger: Logger
    ) throws(EventLoopError) -> Sharing {
        let settings = loaded.configuration.storage
        let (mark, patience) = (NodeMark(), Patience(on: loops))
        let decisions = SharedDecisionStore(
            shared: shared, ledger: ledger, onStoreOutage: settings.onStoreOutage, limits: settings.admissions,
            patience: patience, mark: mark)
        let node = loaded.ledgerChain.node
        return Sharing(
            store: shared, decisions: decisions, patience: patience,
            shipping: try LedgerShipping(path: loaded.databasePath, node: node, store: shared, logger: logger),
            recount: try RecountKeeper(
                Recount(node: node, ledger: ledger, shared: shared, mark: mark), decisions, logger: logger))
    }

    /// Finishes what waits, ships it, and says a last time how far the ledger has come. Blocks; not to be called on a loop.
    func stop() {
        lookup.stop()
        sharing?.recount.stop()
        if !store.stop(within: Self.stopLimit) {
            logger.error("ledger_writer_hangs", [.string("cause", StoreOutage.hanging.explanation)])
        }
        sharing?.shipping.stop()
        keeper.stop()
    }

    /// The node's own ledger.
    var ledger: any Ledger { store }
    /// What all nodes share, or this node alone where there is one.
    var revocations: any RevocationStore { sharing?.store ?? store }
    var challenges: any ChallengeStore { sharing?.store ?? store }

    /// What does not work now, while the rest is served.
    var degradations: [Degradation] {
        var found: [Degradation] = []
        if let outage = store.condition.outage {
            found.append(Degradation(part: .ledger, cause: outage.explanation, stopsLicences: isRequired))
        }
        if let health = sharing?.store.health, !health.isReachable {
            let cause = health.lastError?.explanation ?? StoreOutage.unreachable.explanation
            found.append(Degradation(part: .postgreSQL, cause: cause, stopsLicences: false))
        }
        return found
    }

    func register(in registry: MetricsRegistry) {
        let metrics: [(String, String, isCounter: Bool, @Sendable (WriterStatistics) -> Double)] = [
            ("requests_total", "Writes that were answered once they were durable.", true, { Double($0.requestCount) }),
            ("batches_total", "Transactions that were made durable.", true, { Double($0.batchCount) }),
            ("ledger_rows_total", "Rows that the ledger has got.", true, { Double($0.rowCount) }),
            (
                "batch_seconds_total", "Time that the transactions took together.", true,
                { $0.batchTime / .seconds(1) }
            ),
            ("failures_total", "Writes that were answered with an error.", true, { Double($0.failedCount) }),
            ("late_total", "Writes whose callers waited for too long.", true, { Double($0.lateCount) }),
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
        registry.sample(
            "latchkey_licenses_unrecorded_total", help: "Licences that were given without a record.", isCounter: true
        ) { [recorder] in Double(recorder.unrecordedCount) }
        registry.sample(
            "latchkey_ledger_refusals_omitted_total", help: "Refusals of good tokens that have no row in the ledger.",
            isCounter: true
        ) { [refusals] in Double(refusals.omittedCount) }
        if let sharing { Self.register(sharing, in: registry) }
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
                "latchkey_postgresql_ledger_shipped_sequence", "Through which row PostgreSQL has the ledger.", false,
                { Double($0.shipping.shippedThrough) }
            ),
            (
                "latchkey_licenses_admitted_in_outage_total",
                "Licences that were given although what they spend could not be counted.", true,
                { Double($0.decisions.counts.admitted) }
            ),
            (
                "latchkey_licenses_over_outage_limit_total",
                "Licences that were refused in an outage because their token or subject had as many as there may be.",
                true,
                { Double($0.decisions.counts.overLimit) }
            ),
            (
                "latchkey_renewals_unchecked_total",
                "Renewals that were given without the checks of their session and slots.", true,
                { Double($0.decisions.counts.uncheckedRenewals) }
            ),
            (
                "latchkey_uses_given_back_total", "Uses whose licence the ledger did not take.", true,
                { Double($0.decisions.counts.givenBack) }
            ),
            (
                "latchkey_renewals_breaker_open", "Whether renewals do not wait for PostgreSQL.", false,
                { $0.patience.isOpen ? 1 : 0 }
            ),
            (
                "latchkey_recounted_total", "Licences that were counted in PostgreSQL after they were given.", true,
                { Double($0.recount.counts.counted) }
            ),
            (
                "latchkey_recounts_refused_total",
                "Licences that PostgreSQL could not count any more, because other nodes had given the last use or place.",
                true, { Double($0.recount.counts.refused) }
            ),
            (
                "latchkey_recounts_restored_total", "Decisions that PostgreSQL had lost and got again.", true,
                { Double($0.recount.counts.restored) }
            ),
        ]
        for (name, help, isCounter, value) in metrics {
            registry.sample(name, help: help, isCounter: isCounter) { value(sharing) }
        }
    }
}

extension WriterCondition {
    /// What is wrong; nil if nothing is.
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
    fileprivate init(_ mode: Configuration.Ledger.Mode) {
        self =
            switch mode {
            case .required: .required
            case .bestEffort: .bestEffort
            }
    }
}
