import Administration
import ByteCoding
import ContentKeys
import EventLoops
import Records
import ServiceConfiguration
import StorageSQLite
import Synchronization
import Telemetry

/// Keeps the ledger in order beside its writer, on a thread of its own: an index a few seconds behind, the removal of what is older than
/// the retention, and a checkpoint in the log stream now and then, by which a ledger that lost its tail gives itself away.
final class LedgerKeeper: Sendable {
    private static let pause: Duration = .seconds(2)

    private enum Order: Equatable {
        case wait
        case pass
        case stop
    }

    private let order = Monitor(Order.wait)
    private let thread: JoinableThread
    private let purged = PurgedRowCount()

    /// How many rows were purged since the start.
    var purgedRowCount: UInt64 { purged.count }

    /// Starts the thread; `loop` wakes it. Nothing behind `purgeableThrough` is purged, because it is still needed elsewhere. A ledger that
    /// cannot be opened is tried again in every pass.
    init(
        path: String, chain: LedgerChain, settings: Configuration.Ledger, loop: LoopContext, logger: Logger,
        clock: any WallClock = SystemWallClock(), purgeableThrough: @escaping @Sendable () -> Int64
    ) throws(EventLoopError) {
        thread = JoinableThread(
            try NativeThread(name: "ledger-keeper") { [order, purged] in
                var upkeep = LedgerUpkeep(
                    path: path, chain: chain, settings: settings, logger: logger, clock: clock,
                    purgeableThrough: purgeableThrough)
                while Self.isNextPassWanted(order) {
                    upkeep.pass(counting: { purged.add($0) }, resting: { Self.rest(for: $0, order) })
                }
                upkeep.end()
            })
        Self.wake(order, on: loop)
    }

    /// Says a last time how far the ledger has come, and ends the thread. Not to be called on a loop; a second call returns at once.
    func stop() {
        order.update { $0 = .stop }
        thread.join()
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
    private let clock: any WallClock
    private let purgeableThrough: @Sendable () -> Int64
    private var maintenance: LedgerMaintenance?
    /// Seconds since 1970.
    private var nextCheckpoint: Int64 = 0
    private var isEnding = false

    init(
        path: String, chain: LedgerChain, settings: Configuration.Ledger, logger: Logger,
        clock: any WallClock, purgeableThrough: @escaping @Sendable () -> Int64
    ) {
        self.path = path
        self.chain = chain
        self.settings = settings
        self.logger = logger
        self.clock = clock
        self.purgeableThrough = purgeableThrough
        maintenance = nil
    }

    /// Goes on until there is nothing left to do at once, or it is to stop. After each piece `rest` waits, and says whether to stop.
    mutating func pass(counting count: (Int) -> Void, resting rest: (Duration) -> Bool) {
        let clock = ContinuousClock()
        while true {
            let start = clock.now
            do throws(StorageOpeningError) {
                if try isFinishedAfterOnePass(count) { return }
                if rest((clock.now - start) * LedgerMaintenance.restFactor) { return }
            } catch {
                // Opened anew next time: what was wrong with the connection may be over.
                maintenance = nil
                return logger.warning("ledger_upkeep_failed", [.string("cause", error.explanation)])
            }
        }
    }

    /// The last checkpoint; what is left to do comes after the next start. Says in the ledger what was purged.
    mutating func end() {
        nextCheckpoint = 0
        isEnding = true
        pass(counting: { _ in }, resting: { _ in true })
    }

    private mutating func isFinishedAfterOnePass(_ count: (Int) -> Void) throws(StorageOpeningError) -> Bool {
        var opened = try takeMaintenance()
        let now = clock.wallTime
        guard let time = UnixTime(seconds: now.seconds, nanoseconds: now.nanoseconds) else { return true }
        let isFinished: Bool
        do throws(StoreError) {
            let pass = try opened.pass(now: time, through: purgeableThrough())
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
        guard now.seconds >= nextCheckpoint else { return }
        let checkpoint = try opened.checkpoint(now: now)
        logger.info("ledger_checkpoint", [.string("checkpoint", checkpoint.description)])
        nextCheckpoint = now.seconds + settings.checkpointEvery.components.seconds
    }
}
