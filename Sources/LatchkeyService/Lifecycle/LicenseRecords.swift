import ByteCoding
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
    private let file: LedgerFile

    /// What a node among many has besides.
    private struct Sharing: Sendable {
        let store: PostgreSQLStore
        let decisions: SharedDecisionStore
        let shipping: LedgerShipping
    }

    /// Opens the ledger, beside the content keys or, with `shared`, in a file of its own. Throws where it cannot be opened, or does not verify.
    init(
        _ loaded: LoadedConfiguration, shared: PostgreSQLStore?, loops: [LoopContext], logger: Logger
    ) throws(DaemonError) {
        let path = loaded.databasePath
        let file = LedgerFile(path: path, keys: loaded.ledgerKeys, label: loaded.configuration.nodeLabel)
        self.file = file
        let chain: LedgerChain
        do throws(StorageOpeningError) {
            chain = try file.prepare(loaded.sharedSecrets)
            store = try SQLiteDecisionStore.open(path: path, chain: chain, loops: loops)
        } catch {
            throw .store(path: path, error)
        }
        do throws(EventLoopError) {
            sharing = if let shared { try Self.share(shared, store, chain, loaded, logger) } else { nil }
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
                path: path, chain: chain, settings: loaded.configuration.ledger, loop: loops[0],
                logger: logger
            ) { [sharing] in sharing?.shipping.purgeableThrough ?? .max }
        } catch {
            sharing?.shipping.stop()
            store.stop()
            throw .loops(error)
        }
    }

    private static func share(
        _ shared: PostgreSQLStore, _ ledger: SQLiteDecisionStore, _ chain: LedgerChain,
        _ loaded: LoadedConfiguration, _ logger: Logger
    ) throws(EventLoopError) -> Sharing {
        let copy = LedgerCopy(
            chain: chain, label: loaded.configuration.nodeLabel,
            retention: loaded.configuration.ledger.sharedRetention.components.seconds, store: shared, ledger: ledger)
        return Sharing(
            store: shared,
            decisions: SharedDecisionStore(
                shared: shared, ledger: ledger, onStoreOutage: loaded.configuration.storage.onStoreOutage),
            shipping: try LedgerShipping(path: loaded.databasePath, copy: copy, logger: logger))
    }

    /// Finishes what waits, ships it, and says a last time how far the ledger has come. Blocks; not to be called on a loop.
    func stop() {
        lookup.stop()
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
        guard let sharing else { return [] }
        return (sharing.store.health.isReachable ? [] : ["postgresql"])
            + (sharing.shipping.standing.isDegraded ? ["ledger_copy"] : [])
    }

    /// Takes the secrets of a reload for those that the installation uses from now on.
    func replaceSecrets(_ secrets: SharedSecrets) throws(StorageOpeningError) {
        try file.replaceSecrets(secrets)
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
        registry.sample(
            "latchkey_ledger_rows_purged_total", help: "Rows of the ledger that were older than ledger.retention.",
            isCounter: true
        ) { [keeper] in Double(keeper.purgedRowCount) }
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
                "Whether PostgreSQL holds another ledger of this node, or more of it, and latchkey ledger rejoin is needed.",
                false, { $0.shipping.standing.isContradicted ? 1 : 0 }
            ),
            (
                "latchkey_ledger_copy_lost_nodes", "Nodes of this name whose ledgers were lost, before they rejoin.",
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
