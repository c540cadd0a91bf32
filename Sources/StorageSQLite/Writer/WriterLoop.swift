import ContentKeys
import EventLoops
import Records

/// The work of the writer's thread: takes the waiting requests, commits them in one transaction, and answers all
/// callers.
///
/// After an error of the database, the connection is closed and the next batch opens it again. Before that batch runs,
/// everything that can be read must be durable, and the ledger must continue from the last batch that was answered.
final class WriterLoop {
    private let queue: WriteQueue
    private let loops: [LoopContext]
    private let open: () throws(StoreError) -> BatchWriter
    private let lock: NodeLock?
    private let file: OpenedFile
    private var writer: BatchWriter?
    /// The end of the ledger after the last batch that was answered.
    private var link: LedgerLink
    /// Work between batches has failed. It is tried again only after a batch has succeeded.
    private var isIdleBlocked = false

    init(
        _ queue: WriteQueue, loops: [LoopContext], file: OpenedFile, lock: consuming NodeLock?,
        writer: consuming BatchWriter, open: @escaping () throws(StoreError) -> BatchWriter
    ) {
        self.queue = queue
        self.loops = loops
        self.file = file
        self.open = open
        self.lock = lock
        link = writer.link
        self.writer = consume writer
    }

    /// Returns when the queue has stopped and is empty.
    func run() {
        while let batch = queue.next(mayIdle: hasIdleWork) {
            if batch.isEmpty {
                forget()
            } else {
                answer(commit(batch))
                checkpoint()
            }
        }
    }

    // MARK: A batch

    private func commit(_ batch: [WriteRequest]) -> Result<[WriteAnswer], StoreError> {
        let start = ContinuousClock.now
        do throws(StoreError) {
            var writer = try takeWriter()
            let answers: [WriteAnswer]
            let rowCount: Int
            do throws(StoreError) {
                (answers, rowCount) = try writer.run(batch)
            } catch {
                if error.leavesConnectionSound { self.writer = consume writer }
                throw error
            }
            link = writer.link
            // A file without a name is lost when this process ends, so no request of the batch is acknowledged.
            guard file.isInPlace else {
                self.writer = consume writer
                throw .unavailable(.replaced)
            }
            self.writer = consume writer
            isIdleBlocked = false
            queue.count { statistics in
                statistics.requestCount += batch.count
                statistics.batchCount += 1
                statistics.rowCount += rowCount
                statistics.batchTime += start.duration(to: .now)
            }
            return .success(answers)
        } catch {
            queue.count { $0.failedCount += batch.count }
            return .failure(error)
        }
    }

    private func takeWriter() throws(StoreError) -> BatchWriter {
        if let writer = writer.take() { return writer }
        queue.count { $0.reopenCount += 1 }
        var reopened = try open()
        guard try reopened.verify(known: link, mustEmptyLog: true) else { throw .unavailable(.damaged) }
        return reopened
    }

    /// Resumes the callers. The callers of one loop are resumed together on it, so that a batch wakes each loop once.
    private func answer(_ result: Result<[WriteAnswer], StoreError>) {
        var answers = [Answers](repeating: [], count: loops.count)
        for (index, pending) in queue.finish(WriterCondition(after: result)).enumerated() {
            guard let pending else { continue }
            let answer = result.map { $0[index] }
            if let loopIndex = pending.loopIndex, let caller = pending.caller {
                answers[loopIndex].append((caller, answer))
            } else {
                pending.caller?.resume(returning: answer)
            }
        }
        for (loop, answers) in zip(loops, answers) where !answers.isEmpty {
            let resume = { @Sendable in for (caller, answer) in answers { caller.resume(returning: answer) } }
            // A stopped loop runs no more tasks. Its remaining tasks are dropped with it.
            if !loop.execute(resume) { resume() }
        }
    }

    private typealias Answers = [(CheckedContinuation<WriteResult, Never>, WriteResult)]

    // MARK: Between batches

    private var hasIdleWork: Bool { !isIdleBlocked && writer?.hasExpiredRows ?? false }

    private func checkpoint() {
        betweenBatches { writer throws(StoreError) in try writer.checkpointIfDue() }
    }

    private func forget() {
        betweenBatches { [queue] writer throws(StoreError) in
            let count = try writer.forgetPiece()
            queue.count { $0.forgottenCount += count }
            try writer.checkpointIfDue()
        }
    }

    private func betweenBatches(_ body: (inout BatchWriter) throws(StoreError) -> Void) {
        guard var writer = writer.take() else { return }
        queue.beginWork()
        defer { queue.endWork() }
        do throws(StoreError) {
            try body(&writer)
        } catch {
            isIdleBlocked = true
            guard error.leavesConnectionSound else { return }
        }
        self.writer = consume writer
    }
}

extension WriterCondition {
    /// A lock that another process holds shows no fault of the disk.
    fileprivate init(after result: Result<[WriteAnswer], StoreError>) {
        switch result {
        case .success, .failure(.unavailable(.busy)): self = .sound
        case .failure(.unavailable(.replaced)): self = .replaced
        case .failure(.unavailable(let outage)): self = .failing(outage)
        case .failure: self = .failing(.damaged)
        }
    }
}

extension StoreError {
    /// Whether the connection can run the next transaction after this error. After any other error, the connection's
    /// memory may hold pages that the disk does not.
    fileprivate var leavesConnectionSound: Bool {
        switch self {
        case .unavailable(.busy), .unavailable(.diskFull), .unavailable(.replaced): true
        case .unavailable, .recordMalformed, .cryptographyFailed, .contentAmbiguous, .keyIDTaken, .aliasTaken,
            .keyUnknown, .keyIDSpellsContent, .aliasNamesContent, .periodTooFar, .sealBroken:
            false
        }
    }
}
