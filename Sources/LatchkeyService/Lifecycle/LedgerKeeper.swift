import Administration
import ByteCoding
import ContentKeys
import EventLoops
import Records
import ServiceConfiguration
import StorageSQLite
import Telemetry

/// Keeps the ledger in order beside its writer, on a thread of its own: an index a few seconds behind, the removal of what is older than
/// the retention by the settled time, and a checkpoint in the log stream now and then, by which a ledger that lost its tail gives itself
/// away.
final class LedgerKeeper: Sendable {
    private static let pause: Duration = .seconds(2)

    private enum Order: Equatable {
        case wait
        case pass
        case stop
    }

    private let order = Monitor(Order.wait)
    private let thread: JoinableThread

    /// Starts the thread; `loop` wakes it. Nothing behind `purgeableThrough` is purged, because it is still needed elsewhere. A ledger that cannot be opened is tried again in every pass.
    init(
        path: String, chain: LedgerChain, settings: Configuration.Ledger, loop: LoopContext, logger: Logger,
        clock: TrustedClock, purgeableThrough: @escaping @Sendable () -> Int64
    ) throws(EventLoopError) {
        thread = JoinableThread(
            try NativeThread(name: "ledger-keeper") { [order] in
                var upkeep = LedgerUpkeep(
                    path: path, chain: chain, settings: settings, logger: logger, clock: clock,
                    purgeableThrough: purgeableThrough)
                while Self.isNextPassWanted(order) { upkeep.pass { Self.isStopWanted(order) } }
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

    private static func isStopWanted(_ order: Monitor<Order>) -> Bool {
        order.update { $0 == .stop }
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

    /// Goes on until there is nothing left to do at once, or it is to stop.
    mutating func pass(until isStopWanted: () -> Bool) {
        while true {
            do throws(StorageOpeningError) {
                if try isFinishedAfterOnePass() || isStopWanted() { return }
            } catch {
                // Opened anew next time: what was wrong with the connection may be over.
                maintenance = nil
                return logger.warning("ledger_upkeep_failed", [.string("cause", error.explanation)])
            }
        }
    }

    /// The last checkpoint; what is left to do comes after the next start.
    mutating func end() {
        nextCheckpoint = MonotonicTime(nanoseconds: .min)
        pass { true }
    }

    private mutating func isFinishedAfterOnePass() throws(StorageOpeningError) -> Bool {
        var opened = try takeMaintenance()
        let now = clock.wallTime
        guard let time = UnixTime(seconds: now.seconds, nanoseconds: now.nanoseconds) else { return true }
        let isFinished: Bool
        do throws(StoreError) {
            isFinished = try !opened.pass(
                now: time, deletionTime: clock.deletionTime, through: purgeableThrough()
            ).isUnfinished
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
