import ContentKeys
import EventLoops
import Licensing
import Synchronization
import Telemetry

/// Runs a recount once a second, on a thread of its own: PostgreSQL counts the decisions that it has missed.
final class RecountKeeper: Sendable {
    private static let pause: Duration = .seconds(1)
    private static let lastLimit: Duration = .seconds(2)

    private struct State {
        var isStopped = false
        var counts = Recount.Report()
    }

    private let decisions: SharedDecisionStore
    private let group: EventLoopGroup
    private let logger: Logger
    private let state = Mutex(State())

    /// Starts the thread, and the first pass.
    init(
        _ recount: sending Recount, _ decisions: SharedDecisionStore, logger: Logger
    ) throws(EventLoopError) {
        self.decisions = decisions
        self.logger = logger
        group = try EventLoopGroup(count: 1, name: "recount")
        let passing = Passing(recount)
        pass(passing)
    }

    /// The totals of all passes since the start.
    var counts: Recount.Report { state.withLock { $0.counts } }

    /// Ends the thread. What is left is counted after the next start.
    ///
    /// Must not be called on a loop. A second call returns immediately.
    func stop() {
        state.withLock { $0.isStopped = true }
        group.stop(within: Self.lastLimit)
    }

    private func pass(_ passing: Passing) {
        let loop = group.loops[0]
        loop.spawn { [self] in
            await passOnce(passing)
            guard !state.withLock({ $0.isStopped }) else { return }
            loop.execute { _ = loop.schedule(after: Self.pause) { [self] in pass(passing) } }
        }
    }

    private func passOnce(_ passing: Passing) async {
        do throws(StoreError) {
            let report = try await passing.recount.pass()
            decisions.forgetAdmissions()
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

        init(_ recount: Recount) {
            self.recount = recount
        }
    }
}
