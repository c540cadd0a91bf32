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
    private let clock: TrustedClock
    private let clockKeeper: ClockKeeper
    private let sharing: Sharing?

    /// What a node among many has besides.
    private struct Sharing: Sendable {
        let store: PostgreSQLStore
        let decisions: SharedDecisionStore
        let shipping: LedgerShipping
    }

    /// Opens the ledger, beside the content keys or, with `shared`, in a file of its own, and starts the clock with what it has kept there.
    /// Throws where the ledger cannot be opened, or does not verify.
    init(
        _ loaded: LoadedConfiguration, shared: PostgreSQLStore?, clock: TrustedClock, loops: [LoopContext],
        logger: Logger
    ) throws(DaemonError) {
        let path = loaded.databasePath
        self.clock = clock
        let acceptance: ClockAcceptance
        (store, acceptance) = try wrap(
            { (error: StorageOpeningError) in DaemonError.store(path: path, error) },
            try Self.open(loaded, clock, loops))
        do throws(EventLoopError) {
            sharing = if let shared { try Self.share(shared, store, loaded, clock, logger) } else { nil }
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
                logger: logger, clock: clock
            ) { [sharing] in sharing?.shipping.shippedThrough ?? .max }
            clockKeeper = try ClockKeeper(
                clock, store: store, shared: shared, acceptance: acceptance, logger: logger)
        } catch {
            sharing?.shipping.stop()
            store.stop()
            throw .loops(error)
        }
    }

    private static func open(
        _ loaded: LoadedConfiguration, _ clock: TrustedClock, _ loops: [LoopContext]
    ) throws(StorageOpeningError) -> (SQLiteDecisionStore, ClockAcceptance) {
        var options = SQLiteDecisionStore.Options()
        options.settledTime = { clock.settledTime }
        let store = try SQLiteDecisionStore.open(
            path: loaded.databasePath, chain: loaded.ledgerChain, loops: loops, options: options)
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
        _ shared: PostgreSQLStore, _ ledger: SQLiteDecisionStore, _ loaded: LoadedConfiguration, _ clock: TrustedClock,
        _ logger: Logger
    ) throws(EventLoopError) -> Sharing {
        Sharing(
            store: shared,
            decisions: SharedDecisionStore(
                shared: shared, ledger: ledger, onStoreOutage: loaded.configuration.storage.onStoreOutage,
                mayCount: { clock.mayCount }),
            shipping: try LedgerShipping(
                path: loaded.databasePath, node: loaded.ledgerChain.node, store: shared, logger: logger))
    }

    /// Finishes what waits, ships it, and says a last time how far the ledger has come. Blocks; not to be called on a loop.
    func stop() {
        lookup.stop()
        clockKeeper.stop()
        store.stop()
        sharing?.shipping.stop()
        keeper.stop()
    }

    /// The node's own ledger.
    var ledger: any Ledger { store }
    /// What all nodes share, or this node alone where there is one.
    var revocations: any RevocationStore { sharing?.store ?? store }
    var challenges: any ChallengeStore { sharing?.store ?? store }

    /// What does not work now, while the rest is served.
    var degradedParts: [String] {
        let database = sharing.map { $0.store.health.isReachable ? [] : ["postgresql"] } ?? []
        return database + (clock.isDegraded ? ["clock"] : [])
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
                "latchkey_postgresql_ledger_shipped_sequence", "Through which row PostgreSQL has the ledger.", false,
                { Double($0.shipping.shippedThrough) }
            ),
            (
                "latchkey_licenses_admitted_in_outage_total",
                "Licences that were given although what they spend could not be counted.", true,
                { Double($0.decisions.admittedCount) }
            ),
        ]
        for (name, help, isCounter, value) in metrics {
            registry.sample(name, help: help, isCounter: isCounter) { value(sharing) }
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
