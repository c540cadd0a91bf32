import ContentKeys
import EventLoops
import Licensing
import Synchronization
import Telemetry

/// Runs a recount once a second, on a thread of its own: PostgreSQL counts the decisions that it has missed.
package final class RecountKeeper: Sendable {
    private static let pause: Duration = .seconds(1)
    private static let lastLimit: Duration = .seconds(2)

    private struct State {
        var isStopped = false
        /// Whether another pass begins when the current one ends.
        var isNeeded = false
        var isPassing = false
        var counts = Recount.Report()
    }

    private let decisions: SharedDecisionStore
    private let group: EventLoopGroup
    private let logger: Logger
    private let passing: Passing
    private let state = Mutex(State())

    /// Starts the thread, and the first pass.
    package init(
        _ recount: sending Recount, _ decisions: SharedDecisionStore, logger: Logger
    ) throws(EventLoopError) {
        self.decisions = decisions
        self.logger = logger
        group = try EventLoopGroup(count: 1, name: "recount")
        passing = Passing(recount)
        pass()
    }

    /// Begins a pass now, because no decision runs on a new connection before it.
    package func passSoon() {
        let isPassing = state.withLock { state in
            state.isNeeded = true
            return state.isPassing
        }
        if !isPassing { _ = group.loops[0].execute { [self] in pass() } }
    }

    /// The totals of all passes since the start.
    package var counts: Recount.Report { state.withLock { $0.counts } }

    /// Ends the thread. What is left is counted after the next start.
    ///
    /// Must not be called on a loop. A second call returns immediately.
    package func stop() {
        state.withLock { $0.isStopped = true }
        group.stop(within: Self.lastLimit)
    }

    /// Begins a pass, and after it the next one. Runs on the thread's loop. Does nothing during a pass.
    private func pass() {
        let begins = state.withLock { state in
            guard !state.isStopped, !state.isPassing else { return false }
            (state.isPassing, state.isNeeded) = (true, false)
            return true
        }
        guard begins else { return }
        let loop = group.loops[0]
        loop.spawn { [self] in
            await passOnce()
            let isNeeded = state.withLock { state in
                state.isPassing = false
                return state.isNeeded
            }
            _ = loop.execute { [self] in
                if let next = passing.next.take() { loop.cancel(next) }
                passing.next = loop.schedule(after: isNeeded ? .zero : Self.pause) { [self] in pass() }
            }
        }
    }

    private func passOnce() async {
        do throws(StoreError) {
            let report = try await passing.recount.pass()
            decisions.forgetEndedAdmissions()
            note(report)
        } catch {
            // Other parts log the outage itself.
            logger.debug("recount_waits", [.string("cause", error.explanation)])
        }
    }

    private func note(_ report: Recount.Report) {
        guard report != Recount.Report() else { return }
        state.withLock { state in
            state.counts.counted += report.counted
            state.counts.refused += report.refused
            state.counts.restored += report.restored
        }
        logger.warning(
            "recounted",
            [
                .integer("counted", report.counted), .integer("refused", report.refused),
                .integer("restored", report.restored),
            ])
    }

    /// Carries the recount from pass to pass.
    private final class Passing: @unchecked Sendable {
        // Safe to send: used by one task at a time, on the keeper's thread.
        let recount: Recount
        /// The timer of the next pass.
        var next: TimerID?

        init(_ recount: Recount) {
            self.recount = recount
        }
    }
}
