package import EventLoops
package import POSIXSockets
import Synchronization
package import Telemetry

/// Tells systemd that every loop of the daemon, and the thread for its computations, make progress, four times within
/// what the unit allows (`WatchdogSec=`).
///
/// While one of them is stuck nothing is told, and systemd ends the process and starts it again. What waits for a disk
/// or a database is no loop: an outage is no reason to start again.
package final class Watchdog: Sendable {
    private static let looksPerLimit = 4

    private let watch: LoopWatch
    private let loops: [LoopContext]
    /// The loop whose timer looks. If it is stuck itself, no look comes.
    private let timer: LoopContext
    private let interval: Duration
    private let notifier: ServiceNotifier
    private let logger: Logger
    private let isStuck = Atomic<Bool>(false)

    /// - Parameters:
    ///   - loops: All loops of the daemon, `timer` among them.
    ///   - limit: How long systemd waits.
    package init(
        _ loops: [LoopContext], timer: LoopContext, within limit: Duration, notifier: ServiceNotifier, logger: Logger
    ) {
        watch = LoopWatch(loops)
        self.loops = loops
        self.timer = timer
        interval = limit / Self.looksPerLimit
        self.notifier = notifier
        self.logger = logger
    }

    /// Looks from now on until the loop stops.
    package func start() {
        timer.execute { [self] in
            // The first look only asks.
            _ = watch.look()
            schedule()
        }
    }

    private func schedule() {
        _ = timer.schedule(after: interval) { [self] in
            look()
            schedule()
        }
    }

    private func look() {
        guard watch.look() else { return noteStuckLoops() }
        isStuck.store(false, ordering: .relaxed)
        do throws(SocketError) {
            try notifier.alive()
        } catch {
            logger.warning("notify_failed", [.string("cause", error.description)])
        }
    }

    private func noteStuckLoops() {
        guard !isStuck.exchange(true, ordering: .relaxed) else { return }
        // What was asked for at the last look may have waited for a while when this work began.
        let stuck = loops.filter { max($0.lag, $0.computationAge) >= interval / 2 }.map { String($0.index) }
        logger.error("loop_stuck", [.string("loops", stuck.joined(separator: " "))])
    }
}
