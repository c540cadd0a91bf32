import Administration
import ByteCoding
import ContentKeys
package import EventLoops
package import Records
package import ServiceConfiguration
import StorageSQLite
import Synchronization
package import Telemetry

/// Maintains the ledger on a thread of its own, while the writer appends to it.
///
/// It updates the index, which is a few seconds behind. It removes rows that are older than the retention by the
/// settled time. And it writes checkpoints to the log at intervals, which show if a ledger has lost its tail.
package final class LedgerKeeper: Sendable {
    private static let pause: Duration = .seconds(2)

    /// The most time that a pass under way may take when the daemon stops. A disk that hangs could delay it without
    /// end.
    private static let stopLimit: Duration = .seconds(2)

    private let isStopped = Monitor(false)
    private let hasEnded = Monitor(false)
    private let thread: JoinableThread
    private let purged = PurgedRowCount()

    /// The number of rows that were purged since the start.
    package var purgedRowCount: UInt64 { purged.count }

    /// Starts the thread. Every pass looks at `disk`.
    ///
    /// Rows after the sequence `purgeableThrough` are not purged, because they have not been shipped yet. If the ledger
    /// cannot be opened, every pass tries again.
    package init(
        path: String, chain: LedgerChain, settings: Configuration.Ledger, logger: Logger, clock: TrustedClock,
        disk: DiskWatch, purgeableThrough: @escaping @Sendable () -> Int64
    ) throws(EventLoopError) {
        thread = JoinableThread(
            try NativeThread(name: "ledger-keeper") { [isStopped, hasEnded, purged] in
                Self.run(
                    LedgerUpkeep(
                        path: path, chain: chain, settings: settings, logger: logger, clock: clock,
                        purgeableThrough: purgeableThrough), until: isStopped, counting: purged, watching: disk)
                // Set after the connection is closed, because closing may wait for the disk too.
                hasEnded.update { $0 = true }
            })
    }

    /// Logs the last checkpoint, and ends the thread. If the thread takes longer than `stopLimit`, it is left running.
    ///
    /// Must not be called on a loop. A second call returns immediately.
    package func stop() {
        isStopped.update { $0 = true }
        let deadline = SystemMonotonicClock().monotonicTime + Self.stopLimit
        if hasEnded.wait(until: deadline, { $0 ? true : nil }) != nil { thread.join() }
    }

    private static func run(
        _ upkeep: consuming LedgerUpkeep, until isStopped: Monitor<Bool>, counting purged: PurgedRowCount,
        watching disk: DiskWatch
    ) {
        while !rest(for: pause, isStopped) {
            disk.look()
            upkeep.pass(counting: { purged.add($0) }, resting: { rest(for: $0, isStopped) })
        }
        upkeep.end()
    }

    /// Waits for `duration`, or until the order to stop. Returns whether that order has come.
    private static func rest(for duration: Duration, _ isStopped: Monitor<Bool>) -> Bool {
        let deadline = SystemMonotonicClock().monotonicTime + duration
        return isStopped.wait(until: deadline) { $0 ? true : nil } ?? false
    }
}

/// Rows that a thread has purged, for metrics.
private final class PurgedRowCount: Sendable {
    private let value = Atomic<UInt64>(0)

    var count: UInt64 { value.load(ordering: .relaxed) }

    func add(_ count: Int) { value.add(UInt64(count), ordering: .relaxed) }
}

/// The work of the ledger keeper's thread.
private struct LedgerUpkeep: ~Copyable {
    private static let checkpointInterval: Duration = .seconds(300)

    let path: String
    let chain: LedgerChain
    let settings: Configuration.Ledger
    let logger: Logger
    let clock: TrustedClock
    let purgeableThrough: @Sendable () -> Int64
    var maintenance: LedgerMaintenance?
    /// On the monotonic clock, because a step of the wall clock would delay the next checkpoint.
    var nextCheckpoint = MonotonicTime(nanoseconds: .min)
    var isEnding = false

    /// Does all the work that is due. After each piece `rest` waits, and returns whether to stop.
    mutating func pass(counting count: (Int) -> Void, resting rest: (Duration) -> Bool) {
        let clock = ContinuousClock()
        while true {
            let start = clock.now
            do throws(StorageOpeningError) {
                if try isFinishedAfterOnePass(count) { return }
                if rest((clock.now - start) * LedgerMaintenance.restFactor) { return }
            } catch {
                // The next pass opens the connection again. The fault may be over by then.
                maintenance = nil
                return logger.warning("ledger_upkeep_failed", [.string("cause", error.explanation)])
            }
        }
    }

    /// Logs the last checkpoint, and records in the ledger what was purged. Other work waits for the next start.
    mutating func end() {
        nextCheckpoint = MonotonicTime(nanoseconds: .min)
        isEnding = true
        pass(counting: { _ in }, resting: { _ in true })
    }

    private mutating func isFinishedAfterOnePass(_ count: (Int) -> Void) throws(StorageOpeningError) -> Bool {
        var opened = try takeMaintenance()
        let now = clock.wallTime
        guard let time = UnixTime(seconds: now.seconds, nanoseconds: now.nanoseconds) else { return true }
        let isFinished: Bool
        do throws(StoreError) {
            let pass = try opened.pass(
                now: time, deletionTime: clock.deletionTime, through: purgeableThrough())
            count(pass.purgedCount)
            isFinished = !pass.isUnfinished
            var stated = pass.stated
            if isEnding, stated == nil { stated = try opened.statePurges(now: time) }
            if let stated { logger.info("ledger_purged", stated.logFields) }
            try writeCheckpoint(&opened, time)
        } catch {
            throw .store(error)
        }
        maintenance = consume opened
        return isFinished
    }

    private mutating func takeMaintenance() throws(StorageOpeningError) -> LedgerMaintenance {
        if let opened = maintenance.take() { return opened }
        return try LedgerMaintenance.open(
            path: path, chain: chain, retention: settings.retention.components.seconds,
            rollUpAfter: settings.rollUpRenewalsAfter.components.seconds)
    }

    private mutating func writeCheckpoint(_ opened: inout LedgerMaintenance, _ now: UnixTime) throws(StoreError) {
        let moment = SystemMonotonicClock().monotonicTime
        guard moment >= nextCheckpoint else { return }
        let checkpoint = try opened.checkpoint(now: now)
        logger.info("ledger_checkpoint", [.string("checkpoint", checkpoint.description)])
        nextCheckpoint = moment + Self.checkpointInterval
    }
}
