import ContentKeys
import Entitlements
import EventLoops
import Licensing
import Records
import Synchronization
import Telemetry

/// Holds what is revoked in memory, and asks the store for changes at intervals, on a thread of its own.
///
/// At the start, and if the store has no longer all changes since the last look, everything is read. What this node
/// itself revokes holds at once. While the store does not answer, what was read last holds on.
final class RevocationKeeper: Sendable {
    /// How soon the store is asked again as long as it has never answered.
    private static let firstPause: Duration = .milliseconds(500)
    /// How many revocations are read at once.
    private static let pageSize = 5000

    private struct State {
        /// Nil until the store has answered for the first time.
        var known: Known?
        /// Grows with each change of this node's own: what was read before it is out of date.
        var changeCount = 0
        /// What was logged last, so that an outage is one line.
        var failure: String?
        /// Seconds since 1970; 0 before the first time.
        var readAt: Int64 = 0
        var failureCount: UInt64 = 0
        /// How often everything was read.
        var reloadCount: UInt64 = 0
        var isStopped = false
    }

    private struct Known {
        var view: RevocationView
        /// Through which change of the store.
        var position: RevocationPosition
        /// Whether a value is spelled otherwise than requests are compared with it. Then the store may have it in two
        /// spellings, and what remains of a change of one of them only the store can tell.
        var hasOtherSpellings = false

        mutating func note(_ revocation: Revocation) {
            hasOtherSpellings = hasOtherSpellings || RevocationNames.isSpelledOtherwise(revocation)
        }
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

    /// Starts the thread, and returns when the store has been asked for the first time, also if it did not answer.
    /// `publish` is called with each view that differs from the one before, from the keeper's thread.
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

    /// How many revocations this node knows.
    var count: Int { state.withLock { $0.known?.view.count ?? 0 } }

    /// By this time revocations end, in seconds since 1970: a clock that is stepped ahead lifts none.
    var endTime: Int64 { clock.endTime }

    /// Lets a revocation that is durable on this node hold here at once.
    func hold(_ revocation: Revocation) async {
        await change(.revoked(revocation))
    }

    /// The same for one that the store has given back.
    func release(_ revocation: Revocation) async {
        await change(.lifted(revocation.kind, value: revocation.value, issuer: revocation.issuer))
    }

    /// Changes what is known on the keeper's thread, where nothing else does meanwhile.
    private func change(_ change: RevocationChange) async {
        await withCheckedContinuation { continuation in
            let isAccepted = group.loops[0].execute { [self] in
                let known = state.withLock { state in
                    state.changeCount += 1
                    return state.known
                }
                // Before the store has answered no client is given anything, and then it will answer with the change.
                if var known {
                    let isNew = apply([change], to: &known)
                    set(known, isNew: isNew)
                }
                continuation.resume()
            }
            if !isAccepted { continuation.resume() }
        }
    }

    /// Until the store has answered once, every token is refused.
    var degradations: [Degradation] {
        state.withLock { state in
            guard state.known == nil else { return [] }
            let cause = state.failure ?? "the store has not answered yet"
            return [Degradation(part: .revocations, cause: cause, stopsLicences: true)]
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
        do throws(StoreError) {
            try await readChanges()
            noteSuccess(at: clock.wallTime.seconds)
        } catch {
            noteFailure(error)
        }
    }

    /// Reads on until all changes are known. What was read while this node made a change of its own is dropped and read
    /// again.
    private func readChanges() async throws(StoreError) {
        while true {
            let (known, changeCount) = state.withLock { ($0.known, $0.changeCount) }
            guard var known else { return try await readAll() }
            let news = try await store.revocationChanges(after: known.position, limit: Self.pageSize)
            guard state.withLock({ $0.changeCount == changeCount }) else { continue }
            guard case .changes(let changes, let position, let isComplete) = news,
                !needsReload(after: changes, known)
            else { return try await readAll() }
            let isNew = apply(changes, to: &known)
            known.position = position
            set(known, isNew: isNew)
            if isComplete { return }
        }
    }

    /// Reads everything. The position is read first: what changes meanwhile is among the changes behind it.
    private func readAll() async throws(StoreError) {
        var changeCount: Int
        var found: Known
        repeat {
            changeCount = state.withLock { $0.changeCount }
            found = Known(view: names.emptyView, position: try await store.revocationPosition())
            var next: RevocationKey?
            repeat {
                let page = try await store.revocations(after: next, limit: Self.pageSize)
                for revocation in page.revocations {
                    names.revoke(revocation, in: &found.view)
                    found.note(revocation)
                }
                next = page.next
            } while next != nil
        } while state.withLock { $0.changeCount != changeCount }
        let before = state.withLock { state in
            state.reloadCount += 1
            return state.known
        }
        set(found, isNew: before?.view != found.view)
    }

    private func needsReload(after changes: [RevocationChange], _ known: Known) -> Bool {
        guard !changes.isEmpty else { return false }
        return known.hasOtherSpellings
            || changes.contains { change in
                guard case .revoked(let revocation) = change else { return false }
                return RevocationNames.isSpelledOtherwise(revocation)
            }
    }

    /// Whether anything is new.
    private func apply(_ changes: [RevocationChange], to known: inout Known) -> Bool {
        var isNew = false
        for change in changes {
            if names.apply(change, to: &known.view) { isNew = true }
            if case .revoked(let revocation) = change { known.note(revocation) }
        }
        return isNew
    }

    /// Runs on the keeper's thread.
    private func set(_ found: Known, isNew: Bool) {
        state.withLock { $0.known = found }
        if isNew { publish(found.view) }
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
            "latchkey_revocations", help: "Revocations that this node knows.", isCounter: false
        ) {
            [self] in Double(count)
        }
        registry.sample(
            "latchkey_revocations_read_timestamp_seconds",
            help: "When the store last told what is revoked; 0 for never.", isCounter: false
        ) { [self] in Double(state.withLock { $0.readAt }) }
        registry.sample(
            "latchkey_revocations_reloads_total",
            help: "How often all revocations were read: at the start, and after a gap in the changes.", isCounter: true
        ) { [self] in Double(state.withLock { $0.reloadCount }) }
        registry.sample(
            "latchkey_revocations_read_failures_total", help: "How often the store did not tell what is revoked.",
            isCounter: true
        ) { [self] in Double(state.withLock { $0.failureCount }) }
    }
}
