import ContentKeys
import EventLoops
import Licensing
import StorageSQLite
import Telemetry

/// Where licence decisions become durable, and what keeps that place in order.
final class LicenseRecords: Sendable {
    let recorder: DecisionRecorder
    private let store: SQLiteDecisionStore
    private let keeper: LedgerKeeper

    /// Opens the ledger beside the content keys. Throws where it cannot be opened, or does not verify.
    init(_ loaded: LoadedConfiguration, loops: [LoopContext], logger: Logger) throws(DaemonError) {
        let path = loaded.databasePath
        do throws(StorageOpeningError) {
            store = try SQLiteDecisionStore.open(path: path, chain: loaded.ledgerChain, loops: loops)
        } catch {
            throw .store(path: path, error)
        }
        recorder = DecisionRecorder(
            store: store, pseudonyms: loaded.pseudonymizer, mode: .init(loaded.configuration.ledger.mode))
        do throws(EventLoopError) {
            keeper = try LedgerKeeper(
                path: path, chain: loaded.ledgerChain, settings: loaded.configuration.ledger, loop: loops[0],
                logger: logger)
        } catch {
            store.stop()
            throw .loops(error)
        }
    }

    /// Finishes what waits, and says a last time how far the ledger has come. Blocks; not to be called on a loop.
    func stop() {
        store.stop()
        keeper.stop()
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
