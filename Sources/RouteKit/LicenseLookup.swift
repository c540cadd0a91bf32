import Administration
import ContentKeys
package import EventLoops
import Licensing
package import Records
import StorageSQLite
package import Telemetry

/// Looks up licenses in this node's ledger, for the apps and subjects that got them.
///
/// Reading a file blocks, so a small, bounded pool of threads does it. The cost of a look-up is bounded too, for a
/// ledger of any size.
package final class LicenseLookup: LicenseHistory, Sendable {
    private static let threadCount = 2
    private static let queueLengthMaximum = 64
    private static let deadline: Duration = .seconds(2)
    /// The most rows that are read for each query.
    private static let rowMaximum = 256
    /// The most rows that are read from the end of the ledger, where the index is still behind.
    private static let tailMaximum = 20_000

    private let path: String
    private let pool: BlockingWorkerPool
    private let logger: Logger

    /// Starts the threads. `path` names the database file with the ledger.
    package init(path: String, logger: Logger) throws(EventLoopError) {
        self.path = path
        self.logger = logger
        pool = try BlockingWorkerPool(
            threadCount: Self.threadCount, queueLengthMaximum: Self.queueLengthMaximum, name: "ledger-lookup")
    }

    /// Why a look-up has no result.
    package enum Failure: Error, Equatable {
        /// Too many look-ups wait, or this one took too long.
        case busy
        /// The ledger could not be read.
        case store
    }

    /// The newest entries that match any of the queries.
    package func entries(_ queries: [LedgerQuery], on loop: LoopContext) async throws(Failure) -> [LedgerEntry] {
        let answer: Result<[LedgerEntry], Failure>
        do throws(WorkerPoolError) {
            answer = try await pool.run(on: loop, within: Self.deadline) { [path, logger] in
                Self.read(queries, path, logger)
            }
        } catch {
            throw .busy
        }
        return try answer.get()
    }

    func previousLicense(like search: PreviousLicense, on loop: LoopContext) async -> LicenseID? {
        let query = search.named.map { LedgerQuery(license: $0) } ?? search.subject.map { LedgerQuery(subject: $0) }
        guard let query else { return nil }
        do throws(Failure) {
            return try await entries([query], on: loop).first(where: search.matches)?.license
        } catch {
            return nil
        }
    }

    /// Blocks until the look-ups under way have finished. Must not be called on a loop.
    package func stop() {
        pool.stop()
    }

    private static func read(
        _ queries: [LedgerQuery], _ path: String, _ logger: Logger
    ) -> Result<[LedgerEntry], Failure> {
        do throws(StorageOpeningError) {
            var ledger = try LedgerReader.open(path: path)
            var index = try LedgerIndex.open(for: path)
            do throws(StoreError) {
                return .success(
                    try ledger.newest(queries, index: &index, limit: rowMaximum, tailMaximum: tailMaximum).map(\.entry))
            } catch {
                throw .store(error)
            }
        } catch {
            logger.warning("ledger_lookup_failed", [.string("cause", error.explanation)])
            return .failure(.store)
        }
    }
}
