import ContentKeys
package import Entitlements
package import EventLoops
package import Licensing
package import Records
package import RouteKit
import Synchronization
package import Telemetry

/// Keeps all revocations in memory, and asks the store for changes at intervals, on a thread of its own.
///
/// It reads all revocations at the start, and when the store no longer has all changes since the last reading. A
/// revocation by this node itself is in force immediately. While the store does not answer, the last known revocations
/// stay in force.
package final class RevocationKeeper: RevocationsInForce, Sendable {
    /// The longest pause between two attempts until the store has answered once.
    private static let firstPause: Duration = .milliseconds(500)
    /// The number of revocations that are read at once.
    private static let pageSize = 5000

    private struct State {
        /// Nil until the store has answered for the first time.
        var known: Known?
        /// Grows with each change by this node itself. A reading that began before the change is out of date.
        var changeCount = 0
        /// The cause that was logged last, so that an outage is logged once.
        var failure: String?
        /// When the store was last read, in seconds since 1970; 0 if never.
        var readAt: Int64 = 0
        var failureCount: UInt64 = 0
        /// The number of times that all revocations were read.
        var reloadCount: UInt64 = 0
    }

    private struct Known {
        var view: RevocationView
        /// The last change of the store that the view contains.
        var position: RevocationPosition
        /// Whether a value has another spelling than the one that requests are compared with.
        ///
        /// The store may then have the value in two spellings. If one of them is lifted, only the store knows whether
        /// the other one is still revoked.
        var hasOtherSpellings = false

        mutating func note(_ revocation: Revocation) {
            hasOtherSpellings = hasOtherSpellings || RevocationNames.isSpelledOtherwise(revocation)
        }
    }

    private let store: any RevocationStore
    private let names: RevocationNames
    private let publish: @Sendable (RevocationView) -> Void
    private let logger: Logger
    private let clock: TrustedClock
    private let loop: LoopContext
    private let routine: Routine
    private let standstill: Standstill
    private let pulse: Routine
    private let state = Mutex(State())
    private let hasTried = Monitor(false)

    /// Starts the first pass, and returns after the first attempt to read the store, even if it has failed.
    ///
    /// The loop's thread calls `publish` with each view that differs from the one before. The keeper beats for
    /// `standstill`, and reads the store at once after a gap.
    package init(
        store: any RevocationStore, names: RevocationNames, every pause: Duration = .seconds(2), on loop: LoopContext,
        logger: Logger, clock: TrustedClock, standstill: Standstill = Standstill(),
        publish: @escaping @Sendable (RevocationView) -> Void
    ) {
        self.store = store
        self.names = names
        self.logger = logger
        self.clock = clock
        self.publish = publish
        self.loop = loop
        self.standstill = standstill
        routine = Routine(on: loop)
        pulse = Routine(on: loop)
        pulse.start(every: Standstill.pause) { [self] in
            guard standstill.beat() else { return }
            logger.warning("node_stood_still")
            routine.passSoon()
        }
        routine.start(
            every: { [self] in hasRead ? pause : min(pause, Self.firstPause) },
            pass: { [self] in
                await refresh()
                hasTried.update { $0 = true }
            })
        hasTried.wait { $0 ? () : nil }
    }

    /// Must not be called on a loop. A second call returns immediately.
    package func stop() {
        pulse.stop(within: .seconds(1))
        routine.stop(within: .seconds(1))
    }

    /// The number of revocations that this node knows.
    package var count: Int { state.withLock { $0.known?.view.count ?? 0 } }

    /// The time, in seconds since 1970, by which revocations end. A step ahead of the wall clock does not move it, and
    /// so lifts no revocation.
    package var endTime: Int64 { clock.endTime }

    /// Puts a revocation that is already durable in force on this node.
    package func hold(_ revocation: Revocation) async {
        await change(.revoked(revocation))
    }

    /// Lifts a revocation on this node that is already lifted in the store.
    package func release(_ revocation: Revocation) async {
        await change(.lifted(revocation.kind, value: revocation.value, issuer: revocation.issuer))
    }

    /// Applies a change on the loop's thread, where no other change can happen at the same time.
    private func change(_ change: RevocationChange) async {
        await withCheckedContinuation { continuation in
            let isAccepted = loop.execute { [self] in
                let known = state.withLock { state in
                    state.changeCount += 1
                    return state.known
                }
                // Before the store has answered, no license is issued. Its first answer will contain the change.
                if var known {
                    let isNew = apply([change], to: &known)
                    set(known, isNew: isNew)
                }
                continuation.resume()
            }
            if !isAccepted { continuation.resume() }
        }
    }

    /// A degradation until the store has answered once. Until then every token is refused.
    package var degradations: [Degradation] {
        state.withLock { state in
            guard state.known == nil else { return [] }
            let cause = state.failure ?? "the store has not answered yet"
            return [Degradation(part: .revocations, cause: cause, stopsLicenses: true)]
        }
    }

    // MARK: Reading the store

    private var hasRead: Bool { state.withLock { $0.known != nil } }

    private func refresh() async {
        let reading = standstill.beginReading()
        defer { standstill.endReading(reading) }
        do throws(StoreError) {
            try await readChanges()
            noteSuccess(at: clock.wallTime.seconds)
        } catch {
            noteFailure(error)
        }
    }

    /// Reads pages of changes until all are known.
    ///
    /// A page that was read while this node made a change itself is dropped and read again.
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

    /// Reads all revocations. It reads the position first, so that changes made meanwhile come after that position.
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

    /// Applies changes, and returns whether the view is different then.
    private func apply(_ changes: [RevocationChange], to known: inout Known) -> Bool {
        var isNew = false
        for change in changes {
            if names.apply(change, to: &known.view) { isNew = true }
            if case .revoked(let revocation) = change { known.note(revocation) }
        }
        return isNew
    }

    /// Runs on the loop's thread.
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

    package func register(in registry: MetricsRegistry) {
        registry.sample(
            "latchkey_revocations", help: "Revocations that this node knows.", isCounter: false
        ) {
            [self] in Double(count)
        }
        registry.sample(
            "latchkey_revocations_read_timestamp_seconds",
            help: "When revocations were last read from the store; 0 for never.", isCounter: false
        ) { [self] in Double(state.withLock { $0.readAt }) }
        registry.sample(
            "latchkey_revocations_reloads_total",
            help: "How often all revocations were read: at the start, and after a gap in the changes.", isCounter: true
        ) { [self] in Double(state.withLock { $0.reloadCount }) }
        registry.sample(
            "latchkey_revocations_read_failures_total", help: "How often revocations could not be read from the store.",
            isCounter: true
        ) { [self] in Double(state.withLock { $0.failureCount }) }
    }
}
