import Administration
import ContentKeys
import EventLoops
import Licensing
import Records
import StorageSQLite
import Telemetry

/// Looks up licences in this node's ledger for the apps and subjects that were given them.
///
/// Reading a file blocks, so a small bounded pool of threads does it; what a look-up may cost is bounded however large
/// the ledger is.
final class LicenseLookup: LicenseHistory, Sendable {
    private static let threadCount = 2
    private static let queueLengthMaximum = 64
    private static let deadline: Duration = .seconds(2)
    /// How many rows are looked at for each thing that is looked for.
    private static let rowMaximum = 256
    /// How many of the last rows, which the index has not got yet, are read.
    private static let tailMaximum = 20_000

    private let path: String
    private let pool: BlockingWorkerPool
    private let logger: Logger

    /// `path` is that of the database file that holds the ledger.
    init(path: String, logger: Logger) throws(EventLoopError) {
        self.path = path
        self.logger = logger
        pool = try BlockingWorkerPool(
            threadCount: Self.threadCount, queueLengthMaximum: Self.queueLengthMaximum, name: "ledger-lookup")
    }

    /// Why nothing could be found out.
    enum Failure: Error, Equatable {
        /// Too many look-ups wait, or this one took too long.
        case busy
        case store
    }

    /// The newest entries that queries find.
    func entries(_ queries: [LedgerQuery], on loop: LoopContext) async throws(Failure) -> [LedgerEntry] {
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

    /// Blocks until what is being read has been read. Not to be called on a loop.
    func stop() {
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
