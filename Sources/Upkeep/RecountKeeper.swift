import ContentKeys
package import EventLoops
package import Licensing
import Synchronization
package import Telemetry

/// Runs a recount once a second: PostgreSQL counts the decisions that it has missed.
package final class RecountKeeper: Sendable {
    private static let pause: Duration = .seconds(1)
    private static let lastLimit: Duration = .seconds(2)

    private let decisions: SharedDecisionStore
    private let logger: Logger
    private let routine: Routine
    private let passing: Passing
    private let total = Mutex(Recount.Report())

    /// Starts the first pass.
    package init(
        _ recount: sending Recount, _ decisions: SharedDecisionStore, on loop: LoopContext, logger: Logger
    ) {
        self.decisions = decisions
        self.logger = logger
        passing = Passing(recount)
        routine = Routine(on: loop)
        routine.start(every: Self.pause) { [self] in await pass() }
    }

    /// Begins a pass now, because no decision runs on a new connection before it.
    package func passSoon() { routine.passSoon() }

    /// The totals of all passes since the start.
    package var counts: Recount.Report { total.withLock { $0 } }

    /// Ends the passes. What is left is counted after the next start.
    ///
    /// Must not be called on a loop. A second call returns immediately.
    package func stop() { routine.stop(within: Self.lastLimit) }

    private func pass() async {
        do throws(StoreError) {
            let report = try await decisions.counting { [passing] () throws(StoreError) in
                try await passing.recount.pass()
            }
            note(report)
        } catch {
            // Other parts log the outage itself.
            logger.debug("recount_waits", [.string("cause", error.explanation)])
        }
    }

    private func note(_ report: Recount.Report) {
        guard report != Recount.Report() else { return }
        total.withLock { total in
            total.counted += report.counted
            total.refused += report.refused
            total.restored += report.restored
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
        // Safe to send: used by one pass at a time.
        let recount: Recount

        init(_ recount: Recount) {
            self.recount = recount
        }
    }
}
