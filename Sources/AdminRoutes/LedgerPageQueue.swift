import Administration
import ByteCoding
import ContentKeys
package import EventLoops
package import Records
package import StorageSQLite
package import Telemetry

/// Reads pages of this node's ledger for operators.
///
/// Reading a file blocks, so a small, bounded pool of threads does it. The cost of a page is bounded too, for a ledger
/// of any size.
package final class LedgerPageQueue: Sendable {
    package static let limits = 1...200
    static let limitDefault = 50

    /// How many pages are read at a time.
    private static let threadCount = 2
    private static let queueLengthMaximum = 16
    /// The most time that a page may take, with the time for which it waits for a thread.
    private static let deadline: Duration = .seconds(5)
    /// The most rows that are read for a page.
    private static let rowsMaximum = 50_000

    /// Why there is no page.
    package enum Failure: Error, Equatable {
        /// Too many pages are being read, or this one took too long.
        case busy
        /// The ledger could not be read.
        case store
    }

    /// The id of the ledger.
    package let node: NodeID
    private let path: String
    private let pool: BlockingWorkerPool
    private let logger: Logger

    /// Starts the threads. `path` names the database file with the ledger.
    package init(path: String, node: NodeID, logger: Logger) throws(EventLoopError) {
        self.path = path
        self.node = node
        self.logger = logger
        pool = try BlockingWorkerPool(
            threadCount: Self.threadCount, queueLengthMaximum: Self.queueLengthMaximum, name: "ledger-pages")
    }

    /// The newest entries before a sequence that match a query.
    package func page(
        of query: LedgerQuery, before: Int64?, limit: Int, on loop: LoopContext
    ) async throws(Failure) -> LedgerFindPage {
        let answer: Result<LedgerFindPage, Failure>
        do throws(WorkerPoolError) {
            answer = try await pool.run(on: loop, within: Self.deadline) { [path, logger] in
                Self.read(query, before: before, limit: limit, path: path, logger)
            }
        } catch {
            throw .busy
        }
        return try answer.get()
    }

    /// Blocks until the reads under way have finished. Must not be called on a loop.
    package func stop() {
        pool.stop()
    }

    private static func read(
        _ query: LedgerQuery, before: Int64?, limit: Int, path: String, _ logger: Logger
    ) -> Result<LedgerFindPage, Failure> {
        do throws(StorageOpeningError) {
            var ledger = try LedgerReader.open(path: path)
            let index: LedgerIndex? = LedgerIndex.exists(for: path) ? try LedgerIndex.open(for: path) : nil
            do throws(StoreError) {
                return .success(
                    try ledger.page(of: query, index: index, before: before, limit: limit, rowsMaximum: rowsMaximum))
            } catch {
                throw .store(error)
            }
        } catch {
            logger.warning("ledger_lookup_failed", [.string("cause", error.explanation)])
            return .failure(.store)
        }
    }
}
