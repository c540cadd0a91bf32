import ContentKeys
import Entitlements
import EventLoops
import Licensing
import Records
import Synchronization
import Telemetry

/// Holds what is revoked in memory, and reads it from the store again at intervals, on a thread of its own.
///
/// What this node itself revokes holds at once. While the store does not answer, what was read last holds on.
final class RevocationKeeper: Sendable {
    /// How soon the store is asked again as long as it has never answered.
    private static let firstPause: Duration = .milliseconds(500)

    private struct State {
        /// Nil until the store has answered for the first time.
        var known: Set<Revocation>?
        /// Grows with each change of this node's own: what was read before it is out of date.
        var changeCount = 0
        /// What was logged last, so that an outage is one line.
        var failure: String?
        /// Seconds since 1970; 0 before the first time.
        var readAt: Int64 = 0
        var failureCount: UInt64 = 0
        var isStopped = false
    }

    private let store: any RevocationStore
    private let names: RevocationNames
    private let pause: Duration
    private let publish: @Sendable (RevocationView) -> Void
    private let logger: Logger
    private let clock: TrustedClock
    private let group: EventLoopGroup
    private let state = Mutex(State())
    private let hasTried = Monitor(false)

    /// Starts the thread, and returns when the store has been asked for the first time, whatever it has answered. `publish` is called with
    /// each view that differs from the one before, from the keeper's thread.
    init(
        store: any RevocationStore, names: RevocationNames, every pause: Duration, logger: Logger,
        clock: TrustedClock, publish: @escaping @Sendable (RevocationView) -> Void
    ) throws(EventLoopError) {
        self.store = store
        self.names = names
        self.pause = pause
        self.logger = logger
        self.clock = clock
        self.publish = publish
        group = try EventLoopGroup(count: 1, name: "revocations")
        pass()
        hasTried.wait { $0 ? () : nil }
    }

    /// Ends the thread. Not to be called on a loop; a second call returns at once.
    func stop() {
        state.withLock { $0.isStopped = true }
        group.stop(within: .seconds(1))
    }

    /// What is revoked as far as this node knows, in no order.
    var revocations: Set<Revocation> { state.withLock { $0.known ?? [] } }

    /// By this time revocations end, in seconds since 1970.
    var endTime: Int64 { clock.endTime }

    /// Lets a revocation that the store has taken hold here at once.
    func hold(_ revocation: Revocation) async {
        await change { known in
            known = known.filter { !$0.isAboutTheSame(as: revocation) }
            known.insert(revocation)
        }
    }

    /// The same for one that the store has given back.
    func release(_ revocation: Revocation) async {
        await change { known in known = known.filter { !$0.isAboutTheSame(as: revocation) } }
    }

    /// Changes what is known on the keeper's thread, where nothing else does meanwhile.
    private func change(_ body: @escaping @Sendable (inout Set<Revocation>) -> Void) async {
        await withCheckedContinuation { continuation in
            let isAccepted = group.loops[0].execute { [self] in
                let known = state.withLock { state in
                    state.changeCount += 1
                    return state.known
                }
                // Before the store has answered nobody is given anything, and then it will answer with the change.
                if var known {
                    body(&known)
                    set(known)
                }
                continuation.resume()
            }
            if !isAccepted { continuation.resume() }
        }
    }

    // MARK: Reading the store

    private func pass() {
        let loop = group.loops[0]
        loop.spawn { [self] in
            await refresh()
            hasTried.update { $0 = true }
            let (isStopped, hasRead) = state.withLock { ($0.isStopped, $0.known != nil) }
            guard !isStopped else { return }
            let pause = hasRead ? pause : min(pause, Self.firstPause)
            loop.execute { _ = loop.schedule(after: pause) { [self] in pass() } }
        }
    }

    private func refresh() async {
        // A revocation ends by the settled time: a clock that is stepped ahead lifts none.
        let now = endTime
        do throws(StoreError) {
            var changesBefore: Int
            var found: [Revocation]
            repeat {
                changesBefore = state.withLock { $0.changeCount }
                found = try await store.revocations(at: now)
            } while state.withLock { $0.changeCount != changesBefore }
            set(Set(found))
            noteSuccess(at: clock.wallTime.seconds)
        } catch {
            noteFailure(error)
        }
    }

    /// Runs on the keeper's thread.
    private func set(_ found: Set<Revocation>) {
        let isNew = state.withLock { state in
            defer { state.known = found }
            return state.known != found
        }
        if isNew { publish(names.view(of: found)) }
    }

    private func noteSuccess(at now: Int64) {
        let hadFailed = state.withLock { state in
            state.readAt = now
            return state.failure.take() != nil
        }
        if hadFailed { logger.info("revocations_read_again") }
    }

    private func noteFailure(_ error: StoreError) {
        let explanation = error.explanation
        let isNew = state.withLock { state in
            defer { state.failure = explanation }
            state.failureCount += 1
            return state.failure != explanation
        }
        if isNew { logger.warning("revocations_not_read", [.string("cause", explanation)]) }
    }

    // MARK: Metrics

    func register(in registry: MetricsRegistry) {
        registry.sample(
            "latchkey_revocations", help: "Revocations that hold, as this node knows them.", isCounter: false
        ) {
            [self] in Double(revocations.count)
        }
        registry.sample(
            "latchkey_revocations_read_timestamp_seconds",
            help: "When the store last told what is revoked; 0 for never.", isCounter: false
        ) { [self] in Double(state.withLock { $0.readAt }) }
        registry.sample(
            "latchkey_revocations_read_failures_total", help: "How often the store did not tell what is revoked.",
            isCounter: true
        ) { [self] in Double(state.withLock { $0.failureCount }) }
    }
}
