import ByteCoding
import ContentKeys
package import EventLoops
import Records
package import StoragePostgreSQL
import Synchronization
package import Telemetry

/// Ships the node's ledger to PostgreSQL, a few seconds behind the writer.
///
/// It also repairs the copy there, purges it by its retention, and deletes ended records from PostgreSQL once a minute.
package final class LedgerShipping: Sendable {
    private static let pause: Duration = .seconds(2)
    /// The most time that the last shipment may take when the daemon stops. The rest is shipped after the next start.
    private static let lastLimit: Duration = .seconds(5)
    private static let forgettingPause: Duration = .seconds(60)
    /// The age in seconds of the oldest row that waits for shipment, above which the node is degraded.
    private static let lagMaximum: Int64 = 300
    /// The seconds without a registration after which another node of the same name counts as lost. A node registers
    /// every `forgettingPause`.
    private static let silenceMaximum: Int64 = 180

    /// The state of the copy.
    package struct Standing: Sendable {
        /// The number of rows that have not been shipped yet.
        package var lagRows: Int64 = 0
        /// The age of the oldest of these rows, in seconds.
        package var lagSeconds: Int64 = 0
        /// The number of rows that the copy had lost and that were shipped again.
        package var mendedRows = 0
        /// The number of rows that were purged from the copy.
        package var purgedRows: Int64 = 0
        /// Whether the copy has rows of another ledger, or more rows than this one.
        package var isContradicted = false
        /// Nodes of the same name whose ledgers were lost.
        package var lostNodes: [String] = []
        /// The nodes whose ledgers have a copy, without those that have a successor. As of the last minute.
        package var nodes: [SharedLedgerNode] = []

        /// Whether an operator must act, or the copy is too far behind.
        package var isDegraded: Bool { isContradicted || !lostNodes.isEmpty || lagSeconds > LedgerShipping.lagMaximum }
    }

    private struct State {
        var isShipping = false
        var isStopped = false
        /// The cause that was logged last, so that an outage is logged once.
        var failure: String?
        var nextForgetting = MonotonicTime(nanoseconds: .min)
        /// The node's state that the others were told last, in one word.
        var toldState: String?
        /// The connection on which the last comparison began, as a number of `PostgreSQLHealth.arrivals`.
        var comparedArrival = 0
        /// The last comparison, under way or finished; nil before the first one.
        var comparison: LedgerComparison?
        var isCompared = false
        var standing = Standing()
    }

    private let outbox: LedgerFileOutbox
    private let shipper: LedgerShipper
    private let copy: LedgerCopy
    private let store: PostgreSQLStore
    private let routine: Routine
    private let logger: Logger
    private let clock: TrustedClock
    private let state = Mutex(State())
    private let rowCount = Atomic<UInt64>(0)
    private let source = Mutex<(@Sendable () -> NodeReport)?>(nil)

    /// Starts the first shipment.
    package init(
        path: String, copy: LedgerCopy, on loop: LoopContext, logger: Logger, clock: TrustedClock
    ) {
        outbox = LedgerFileOutbox(path: path, node: copy.chain.node, receiver: copy.store)
        shipper = LedgerShipper(node: copy.chain.node, outbox: outbox, receiver: copy.store)
        self.copy = copy
        store = copy.store
        self.logger = logger
        self.clock = clock
        routine = Routine(on: loop)
        routine.start(every: Self.pause) { [self] in
            await shipUnlessShipping()
            await forgetWhenDue()
        }
    }

    /// The sequence up to which the copy is known to have all rows. Later rows must not be purged from the file.
    package var purgeableThrough: Int64 {
        let shipped = outbox.shippedThrough
        return state.withLock { $0.isCompared ? shipped : min(shipped, $0.comparison?.position ?? 0) }
    }
    /// The sequence of the last row that was shipped.
    package var shippedThrough: Int64 { outbox.shippedThrough }
    /// The number of rows that were shipped since the start.
    package var shippedRowCount: UInt64 { rowCount.load(ordering: .relaxed) }
    package var standing: Standing { state.withLock { $0.standing } }
    /// What this node tells the others, now; nil before its start and after its end.
    package var report: NodeReport? { source.withLock { $0 }?() }

    /// Takes the closure that knows it, and tells the others soon.
    package func tell(_ report: @escaping @Sendable () -> NodeReport) {
        source.withLock { $0 = report }
        state.withLock { $0.nextForgetting = MonotonicTime(nanoseconds: .min) }
    }

    /// Ships for the last time if the database answers.
    ///
    /// Must not be called on a loop. A second call returns immediately.
    package func stop() {
        state.withLock { $0.isStopped = true }
        source.withLock { $0 = nil }
        routine.stop(within: Self.lastLimit) { [self] in await shipUnlessShipping() }
    }

    private var isStopped: Bool { state.withLock { $0.isStopped } }

    private func shipUnlessShipping() async {
        let isFree = state.withLock { state in
            defer { state.isShipping = true }
            return !state.isShipping
        }
        guard isFree else { return }
        await ship()
        await measure()
        state.withLock { $0.isShipping = false }
    }

    private func ship() async {
        do throws(LedgerShippingError) {
            try await beginComparison()
            let count = try await shipper.shipAll()
            rowCount.add(UInt64(count), ordering: .relaxed)
            try await compare()
            state.withLock { $0.standing.isContradicted = false }
            if state.withLock({ $0.failure.take() }) != nil {
                logger.info("ledger_shipping_resumed", [.integer("rows", count)])
            }
        } catch {
            note(error)
        }
    }

    // MARK: The comparison

    /// Begins a comparison of the whole copy after each new connection to PostgreSQL.
    private func beginComparison() async throws(LedgerShippingError) {
        let arrival = store.health.arrivals
        guard state.withLock({ $0.comparison == nil || $0.comparedArrival != arrival }) else { return }
        let floor = try await wrapAsync(LedgerShippingError.store, try await copy.floor())
        let comparison = LedgerComparison(node: copy.chain.node, outbox: outbox, receiver: store, floor: floor)
        try await comparison.checkEnds()
        try await wrapAsync(LedgerShippingError.store, try await copy.register(report))
        state.withLock { ($0.comparison, $0.isCompared, $0.comparedArrival) = (comparison, false, arrival) }
    }

    private func compare() async throws(LedgerShippingError) {
        while var comparison = state.withLock({ $0.isCompared || $0.isStopped ? nil : $0.comparison }) {
            let before = comparison.mendedCount
            let isUnfinished = try await comparison.step()
            let mended = comparison.mendedCount - before
            state.withLock { state in
                state.comparison = comparison
                state.isCompared = !isUnfinished
                state.standing.mendedRows += mended
            }
            if mended > 0 {
                logger.warning(
                    "ledger_copy_mended",
                    [.integer("rows", mended), .integer("through", Int(comparison.position))])
            }
        }
    }

    // MARK: Log and lag

    private func note(_ error: LedgerShippingError) {
        let explanation = error.explanation
        let isNew = state.withLock { state in
            defer { state.failure = explanation }
            state.standing.isContradicted = error.isContradiction
            return state.failure != explanation
        }
        guard isNew else { return }
        if error.isContradiction {
            logger.error("ledger_shipping_failed", [.string("cause", explanation)])
        } else {
            logger.warning("ledger_shipping_failed", [.string("cause", explanation)])
        }
    }

    private func measure() async {
        do throws(StoreError) {
            let end = try await outbox.end()
            let oldest = try outbox.oldestWaiting()
            let now = clock.wallTime.seconds
            state.withLock { state in
                state.standing.lagRows = max(end - outbox.shippedThrough, 0)
                state.standing.lagSeconds = oldest.map { max(now - $0, 0) } ?? 0
            }
        } catch {
            logger.debug("ledger_lag_unknown", [.string("cause", error.explanation)])
        }
    }

    // MARK: Once a minute

    private func forgetWhenDue() async {
        let now = SystemMonotonicClock().monotonicTime
        let report = report
        let isDue = state.withLock { state in
            // Others would otherwise take a node for one that starts, for a minute after its start.
            let isDue = now >= state.nextForgetting || report?.state != state.toldState
            guard isDue, !state.isStopped else { return false }
            (state.nextForgetting, state.toldState) = (now + Self.forgettingPause, report?.state)
            return true
        }
        guard isDue else { return }
        do throws(StoreError) {
            _ = try await store.forgetEnded()
            try await copy.register(report)
            let nodes = try await store.ledgerNodes().filter { $0.successor == nil }
            state.withLock { $0.standing.nodes = nodes }
            try await lookForLostNodes()
            try await purgeCopy()
        } catch {
            logger.debug("postgresql_forgetting_failed", [.string("cause", error.explanation)])
        }
    }

    private func lookForLostNodes() async throws(StoreError) {
        let lost = try await copy.lostNodes(silence: Self.silenceMaximum).map(\.text)
        let isNew = state.withLock { state in
            defer { state.standing.lostNodes = lost }
            return state.standing.lostNodes != lost && !lost.isEmpty
        }
        guard isNew else { return }
        logger.error(
            "ledger_lost",
            [
                .string("nodes", lost.joined(separator: " ")),
                .string("cause", "this node had another ledger; if that is lost, run: latchkey ledger rejoin"),
            ])
    }

    /// Purges the copy after it has been compared. Otherwise the rows around a gap could be purged before the gap is
    /// found.
    private func purgeCopy() async throws(StoreError) {
        guard state.withLock({ $0.isCompared && !$0.standing.isContradicted }) else { return }
        guard let deletionTime = clock.deletionTime else { return }
        let purged = try await copy.purge(now: clock.wallTime, deletionTime: deletionTime) { [self] in isStopped }
        guard let purged else { return }
        state.withLock { $0.standing.purgedRows += purged.rowCount }
        logger.info("ledger_purged", purged.logFields)
    }
}

extension LedgerPurge {
    /// The fields of the log line about a purge.
    package var logFields: [LogField] {
        [
            .string("place", place == .ledger ? "ledger" : "copy"), .integer("rows", Int(rowCount)),
            .integer("through", Int(through)), .integer("retention", Int(retention)),
        ]
    }
}

extension LedgerShippingError {
    /// Whether trying again cannot help.
    fileprivate var isContradiction: Bool {
        switch self {
        case .sequenceTaken, .copyIsAhead: true
        case .store: false
        }
    }

    /// What is wrong and what to do about it.
    fileprivate var explanation: String {
        switch self {
        case .sequenceTaken(let node):
            "PostgreSQL has other rows of the ledger \(node): the ledger file was restored to an older state, or two daemons use "
                + "copies of one file; give each node a file of its own, or stop the node and run: latchkey ledger rejoin"
        case .copyIsAhead(let node, let end):
            "PostgreSQL has more rows of the ledger \(node) than its file, which ends with row \(end): the file was restored to an older state; "
                + "stop the node and run: latchkey ledger rejoin"
        case .store(let error): error.explanation
        }
    }
}
