import ContentKeys
import EventLoops
import Records
import StoragePostgreSQL
import Synchronization
import Telemetry

/// Brings the node's ledger to PostgreSQL a few seconds behind its writer, on a thread of its own, and deletes there once in a while what
/// has ended.
final class LedgerShipping: Sendable {
    private static let pause: Duration = .seconds(2)
    /// How long the last shipment may take when the daemon stops. What stays behind is shipped after the next start.
    private static let lastLimit: Duration = .seconds(5)
    private static let forgettingPause: Duration = .seconds(60)

    private struct State {
        var isShipping = false
        var isStopped = false
        /// What was logged last, so that an outage is one line.
        var failure: String?
        var nextForgetting = MonotonicTime(nanoseconds: .min)
    }

    private let outbox: LedgerFileOutbox
    private let shipper: LedgerShipper
    private let store: PostgreSQLStore
    private let group: EventLoopGroup
    private let logger: Logger
    private let clock: any MonotonicClock
    private let state = Mutex(State())
    private let rowCount = Atomic<UInt64>(0)

    /// Starts the thread, and the first shipment.
    init(
        path: String, node: NodeID, store: PostgreSQLStore, logger: Logger,
        clock: any MonotonicClock = SystemMonotonicClock()
    ) throws(EventLoopError) {
        outbox = LedgerFileOutbox(path: path, node: node, receiver: store)
        shipper = LedgerShipper(node: node, outbox: outbox, receiver: store)
        self.store = store
        self.logger = logger
        self.clock = clock
        group = try EventLoopGroup(count: 1, name: "ledger-shipper")
        pass()
    }

    /// Through which sequence the ledger is in PostgreSQL too: nothing behind it may be purged.
    var shippedThrough: Int64 { outbox.shippedThrough }
    /// How many rows were shipped since the start.
    var shippedRowCount: UInt64 { rowCount.load(ordering: .relaxed) }

    /// Ships a last time, if the database answers, and ends the thread. Not to be called on a loop; a second call returns at once.
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
            guard !state.withLock({ $0.isStopped }) else { return }
            loop.execute { _ = loop.schedule(after: Self.pause) { [self] in pass() } }
        }
    }

    private func shipUnlessShipping() async {
        let isFree = state.withLock { state in
            defer { state.isShipping = true }
            return !state.isShipping
        }
        guard isFree else { return }
        await ship()
        state.withLock { $0.isShipping = false }
    }

    private func ship() async {
        do throws(LedgerShippingError) {
            let count = try await shipper.shipAll()
            rowCount.add(UInt64(count), ordering: .relaxed)
            if state.withLock({ $0.failure.take() }) != nil {
                logger.info("ledger_shipping_resumed", [.integer("rows", count)])
            }
        } catch {
            note(error)
        }
    }

    private func note(_ error: LedgerShippingError) {
        let explanation = error.explanation
        let isNew = state.withLock { state in
            defer { state.failure = explanation }
            return state.failure != explanation
        }
        guard isNew else { return }
        switch error {
        case .sequenceTaken: logger.error("ledger_shipping_failed", [.string("cause", explanation)])
        case .store: logger.warning("ledger_shipping_failed", [.string("cause", explanation)])
        }
    }

    private func forgetWhenDue() async {
        let now = clock.monotonicTime
        let isDue = state.withLock { state in
            guard now >= state.nextForgetting, !state.isStopped else { return false }
            state.nextForgetting = now + Self.forgettingPause
            return true
        }
        guard isDue else { return }
        do throws(StoreError) {
            _ = try await store.forgetEnded()
        } catch {
            logger.debug("postgresql_forgetting_failed", [.string("cause", error.explanation)])
        }
    }
}

extension LedgerShippingError {
    /// What is wrong and what to do about it.
    fileprivate var explanation: String {
        switch self {
        case .sequenceTaken(let node):
            "PostgreSQL holds another ledger under the node's name \(node): two nodes share the name, or the file of the ledger was put "
                + "back to an older state; give each node a name (node) and a ledger of its own"
        case .store(let error): error.explanation
        }
    }
}
