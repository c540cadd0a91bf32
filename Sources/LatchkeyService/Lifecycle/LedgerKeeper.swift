import Administration
import ByteCoding
import ContentKeys
import EventLoops
import Records
import ServiceConfiguration
import StorageSQLite
import Synchronization
import Telemetry

/// Keeps the ledger in order beside its writer, on a thread of its own: an index a few seconds behind, the removal of
/// what is older than the retention by the settled time, and a checkpoint in the log stream now and then, by which a
/// ledger that lost its tail gives itself away.
final class LedgerKeeper: Sendable {
    private static let pause: Duration = .seconds(2)

    private enum Order: Equatable {
        case wait
        case pass
        case stop
    }

    /// How long a pass that is under way may take when the daemon stops: a disk that hangs may keep it.
    private static let stopLimit: Duration = .seconds(2)

    private let order = Monitor(Order.wait)
    private let hasEnded = Monitor(false)
    private let thread: JoinableThread
    private let purged = PurgedRowCount()

    /// How many rows were purged since the start.
    var purgedRowCount: UInt64 { purged.count }

    /// Starts the thread, which looks at `disk` in every pass; `loop` wakes it. Nothing behind `purgeableThrough` is purged, because it is still needed
    /// elsewhere. A ledger that cannot be opened is tried again in every pass.
    init(
        path: String, chain: LedgerChain, settings: Configuration.Ledger, loop: LoopContext, logger: Logger,
        clock: TrustedClock, disk: DiskWatch, purgeableThrough: @escaping @Sendable () -> Int64
    ) throws(EventLoopError) {
        thread = JoinableThread(
            try NativeThread(name: "ledger-keeper") { [order, hasEnded, purged] in
                Self.run(
                    LedgerUpkeep(
                        path: path, chain: chain, settings: settings, logger: logger, clock: clock,
                        purgeableThrough: purgeableThrough), until: order, counting: purged, watching: disk)
                // Behind the end of its connection, which may wait for the disk too.
                hasEnded.update { $0 = true }
            })
        Self.wake(order, on: loop)
    }

    /// Says a last time how far the ledger has come, and ends the thread, or leaves it to itself if it takes too long.
    /// Not to be called on a loop; a second call returns at once.
    func stop() {
        order.update { $0 = .stop }
        let deadline = SystemMonotonicClock().monotonicTime + Self.stopLimit
        if hasEnded.wait(until: deadline, { $0 ? true : nil }) != nil { thread.join() }
    }

    private static func run(
        _ upkeep: consuming LedgerUpkeep, until order: Monitor<Order>, counting purged: PurgedRowCount,
        watching disk: DiskWatch
    ) {
        while isNextPassWanted(order) {
            disk.look()
            upkeep.pass(counting: { purged.add($0) }, resting: { rest(for: $0, order) })
        }
        upkeep.end()
    }

    private static func isNextPassWanted(_ order: Monitor<Order>) -> Bool {
        order.wait { order in
            switch order {
            case .wait: return nil
            case .pass:
                order = .wait
                return true
            case .stop: return false
            }
        }
    }

    /// Waits, but not beyond the order to stop; whether that has come.
    private static func rest(for duration: Duration, _ order: Monitor<Order>) -> Bool {
        let deadline = SystemMonotonicClock().monotonicTime + duration
        return order.wait(until: deadline) { $0 == .stop ? true : nil } ?? false
    }

    private static func wake(_ order: Monitor<Order>, on loop: LoopContext) {
        _ = loop.execute {
            _ = loop.schedule(after: pause) {
                let goesOn = order.update { order in
                    if order == .wait { order = .pass }
                    return order != .stop
                }
                if goesOn { wake(order, on: loop) }
            }
        }
    }
}

/// Rows that a thread has purged, for metrics.
private final class PurgedRowCount: Sendable {
    private let value = Atomic<UInt64>(0)

    var count: UInt64 { value.load(ordering: .relaxed) }

    func add(_ count: Int) { value.add(UInt64(count), ordering: .relaxed) }
}

/// What the ledger keeper's thread does.
private struct LedgerUpkeep: ~Copyable {
    private let path: String
    private let chain: LedgerChain
    private let settings: Configuration.Ledger
    private let logger: Logger
    private let clock: TrustedClock
    private let purgeableThrough: @Sendable () -> Int64
    private var maintenance: LedgerMaintenance?
    /// Not on the wall clock: a step of that would put off the next one.
    private var nextCheckpoint = MonotonicTime(nanoseconds: .min)
    private var isEnding = false

    init(
        path: String, chain: LedgerChain, settings: Configuration.Ledger, logger: Logger,
        clock: TrustedClock, purgeableThrough: @escaping @Sendable () -> Int64
    ) {
        self.path = path
        self.chain = chain
        self.settings = settings
        self.logger = logger
        self.clock = clock
        self.purgeableThrough = purgeableThrough
        maintenance = nil
    }

    /// Goes on until there is nothing left to do at once, or it is to stop. After each piece `rest` waits, and says
    /// whether to stop.
    mutating func pass(counting count: (Int) -> Void, resting rest: (Duration) -> Bool) {
        let clock = ContinuousClock()
        while true {
            let start = clock.now
            do throws(StorageOpeningError) {
                if try isFinishedAfterOnePass(count) { return }
                if rest((clock.now - start) * LedgerMaintenance.restFactor) { return }
            } catch {
                // The connection is opened again next time: its fault may be over by then.
                maintenance = nil
                return logger.warning("ledger_upkeep_failed", [.string("cause", error.explanation)])
            }
        }
    }

    /// The last checkpoint; what is left to do comes after the next start. Says in the ledger what was purged.
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
        nextCheckpoint = moment + settings.checkpointEvery
    }
}
