import ByteCoding
import ContentKeys
import EventLoops
import Records
import StoragePostgreSQL
import Synchronization
import Telemetry

/// Brings the node's ledger to PostgreSQL a few seconds behind its writer, on a thread of its own; keeps the copy there
/// whole and no longer than its retention; and deletes once in a while what has ended.
final class LedgerShipping: Sendable {
    private static let pause: Duration = .seconds(2)
    /// How long the last shipment may take when the daemon stops. What stays behind is shipped after the next start.
    private static let lastLimit: Duration = .seconds(5)
    private static let forgettingPause: Duration = .seconds(60)
    /// After how many seconds without a shipment the node is degraded.
    private static let lagMaximum: Int64 = 300
    /// After how many seconds of silence a node of the same label is taken for lost. A node is heard of every
    /// `forgettingPause`.
    private static let silenceMaximum: Int64 = 180

    /// How far the copy is.
    struct Standing: Sendable {
        /// Rows that the copy has not got yet.
        var lagRows: Int64 = 0
        /// The age of the oldest of them, in seconds.
        var lagSeconds: Int64 = 0
        /// Rows that the copy had lost and got again.
        var mendedRows = 0
        /// Rows that left the copy behind its retention.
        var purgedRows: Int64 = 0
        /// Whether the copy is of another ledger, or ahead of this one.
        var isContradicted = false
        /// Nodes of the same label whose ledgers were lost.
        var lostNodes: [String] = []

        /// Whether an operator must do something, or shipping has stood still.
        var isDegraded: Bool { isContradicted || !lostNodes.isEmpty || lagSeconds > LedgerShipping.lagMaximum }
    }

    private struct State {
        var isShipping = false
        var isStopped = false
        /// What was logged last, so that an outage is one line.
        var failure: String?
        var nextForgetting = MonotonicTime(nanoseconds: .min)
        /// The connection, by `PostgreSQLHealth.arrivals`, on which the copy was compared last.
        var comparedArrival = 0
        /// Under way, or finished; nil before the first one.
        var comparison: LedgerComparison?
        var isCompared = false
        var standing = Standing()
    }

    private let outbox: LedgerFileOutbox
    private let shipper: LedgerShipper
    private let copy: LedgerCopy
    private let store: PostgreSQLStore
    private let group: EventLoopGroup
    private let logger: Logger
    private let clock: TrustedClock
    private let state = Mutex(State())
    private let rowCount = Atomic<UInt64>(0)

    /// Starts the thread, and the first shipment.
    init(
        path: String, copy: LedgerCopy, logger: Logger, clock: TrustedClock
    ) throws(EventLoopError) {
        outbox = LedgerFileOutbox(path: path, node: copy.chain.node, receiver: copy.store)
        shipper = LedgerShipper(node: copy.chain.node, outbox: outbox, receiver: copy.store)
        self.copy = copy
        store = copy.store
        self.logger = logger
        self.clock = clock
        group = try EventLoopGroup(count: 1, name: "ledger-shipper")
        pass()
    }

    /// Through which sequence the ledger is known to be in PostgreSQL too: nothing behind it may be purged.
    var purgeableThrough: Int64 {
        let shipped = outbox.shippedThrough
        return state.withLock { $0.isCompared ? shipped : min(shipped, $0.comparison?.position ?? 0) }
    }
    /// Through which sequence the ledger was shipped.
    var shippedThrough: Int64 { outbox.shippedThrough }
    /// How many rows were shipped since the start.
    var shippedRowCount: UInt64 { rowCount.load(ordering: .relaxed) }
    var standing: Standing { state.withLock { $0.standing } }

    /// Ships a last time, if the database answers, and ends the thread. Not to be called on a loop; a second call
    /// returns at once.
    func stop() {
        state.withLock { $0.isStopped = true }
        group.loops[0].spawn { [self] in await shipUnlessShipping() }
        group.stop(within: Self.lastLimit)
    }

    private func pass() {
        let loop = group.loops[0]
        loop.spawn { [self] in
            await shipUnlessShipping()
            await forgetWhenDue()
            guard !isStopped else { return }
            loop.execute { _ = loop.schedule(after: Self.pause) { [self] in pass() } }
        }
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

    /// After each connection, a comparison from the beginning of the copy on.
    private func beginComparison() async throws(LedgerShippingError) {
        let arrival = store.health.arrivals
        guard state.withLock({ $0.comparison == nil || $0.comparedArrival != arrival }) else { return }
        let floor = try await wrapAsync(LedgerShippingError.store, try await copy.floor())
        let comparison = LedgerComparison(node: copy.chain.node, outbox: outbox, receiver: store, floor: floor)
        try await comparison.checkEnds()
        try await wrapAsync(LedgerShippingError.store, try await copy.register())
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

    // MARK: What people hear of it

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
        let isDue = state.withLock { state in
            guard now >= state.nextForgetting, !state.isStopped else { return false }
            state.nextForgetting = now + Self.forgettingPause
            return true
        }
        guard isDue else { return }
        do throws(StoreError) {
            _ = try await store.forgetEnded()
            try await copy.register()
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

    /// Only what has been compared is purged, so that a hole shows before its rows are too old.
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
    /// What a log line says of a purge.
    var logFields: [LogField] {
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
            "PostgreSQL holds other rows of the ledger \(node): the file of the ledger was put back to an older state, or two daemons use "
                + "copies of one file; give each node a file of its own, or stop the node and run: latchkey ledger rejoin"
        case .copyIsAhead(let node, let end):
            "PostgreSQL holds more rows of the ledger \(node) than its file, which ends with row \(end): it was put back to an older state; "
                + "stop the node and run: latchkey ledger rejoin"
        case .store(let error): error.explanation
        }
    }
}
