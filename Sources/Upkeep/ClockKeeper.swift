import ByteCoding
import ContentKeys
package import EventLoops
import POSIXSockets
package import Records
package import StoragePostgreSQL
package import StorageSQLite
import Synchronization
package import Telemetry

/// Checks the node's clock once a second.
///
/// It asks the kernel whether the clock is synchronised, and compares the clock with PostgreSQL's. It writes the
/// settled time to the node's store, and reads there whether an operator has accepted the clock.
package final class ClockKeeper: Sendable {
    private static let pause: Duration = .seconds(1)
    /// Passes between writes of the settled time while nothing else has changed. A pass takes about a second.
    private static let passesPerWrite = 10
    /// Passes between measurements of the database's clock.
    private static let passesPerMeasurement = 30
    /// The same, before the first measurement and while the two clocks are too far apart.
    private static let passesPerMeasurementApart = 2
    /// The most time that the last write may take when the daemon stops.
    private static let lastLimit: Duration = .seconds(5)

    private struct State {
        var acceptance: ClockAcceptance
        var passCount = 0
        var writtenStanding: ClockTrust.Standing?
        var hasMeasured = false
    }

    private let clock: TrustedClock
    private let store: SQLiteDecisionStore
    private let shared: PostgreSQLStore?
    private let logger: Logger
    private let routine: Routine
    private let state: Mutex<State>

    /// Starts the first pass. `acceptance` is the last acceptance by an operator that `clock` has taken into account.
    package init(
        _ clock: TrustedClock, store: SQLiteDecisionStore, shared: PostgreSQLStore?, acceptance: ClockAcceptance,
        on loop: LoopContext, logger: Logger
    ) {
        self.clock = clock
        self.store = store
        self.shared = shared
        self.logger = logger
        state = Mutex(State(acceptance: acceptance))
        routine = Routine(on: loop)
        routine.start(every: Self.pause) { [self] in await pass() }
    }

    /// Writes the settled time for the last time.
    ///
    /// Must not be called on a loop. A second call returns immediately.
    package func stop() {
        routine.stop(within: Self.lastLimit) { [self] in await write() }
    }

    private func pass() async {
        clock.tick(isSynchronised: KernelClock.isSynchronised)
        noteAcceptance()
        let count = state.withLock { state in
            state.passCount += 1
            return state.passCount - 1
        }
        let standing = clock.trust.standing
        if count.isMultiple(of: Self.passesPerWrite) || state.withLock({ $0.writtenStanding != standing }) {
            await write()
        }
        await measure(count, standing)
    }

    // MARK: The node's store

    /// Takes over an operator's acceptance of the clock, which `latchkey clock accept` has written to the store.
    private func noteAcceptance() {
        do throws(StoreError) {
            guard let acceptance = try store.clockRecord()?.acceptance,
                state.withLock({ $0.acceptance.number }) < acceptance.number
            else { return }
            clock.accept(offset: acceptance.offset)
            state.withLock { $0.acceptance = acceptance }
        } catch {
            logger.debug("clock_not_read", [.string("cause", error.explanation)])
        }
    }

    private func write() async {
        let trust = clock.trust
        let record = ClockRecord(trust, state.withLock { $0.acceptance })
        do throws(StoreError) {
            try await store.keep(record)
            state.withLock { $0.writtenStanding = trust.standing }
        } catch {
            // A store that cannot write this cannot record licenses either, which is reported elsewhere.
            logger.debug("clock_not_kept", [.string("cause", error.explanation)])
        }
    }

    // MARK: The database

    private func measure(_ count: Int, _ standing: ClockTrust.Standing) async {
        guard let shared else { return }
        let hasMeasured = state.withLock { $0.hasMeasured }
        let isSoon = standing == .apart || !hasMeasured
        guard count.isMultiple(of: isSoon ? Self.passesPerMeasurementApart : Self.passesPerMeasurement) else { return }
        do throws(StoreError) {
            let reading = try await shared.advanceSettledTime(to: clock.deletionTime)
            clock.note(reading)
            state.withLock { $0.hasMeasured = true }
        } catch {
            logger.debug("clock_not_measured", [.string("cause", error.explanation)])
        }
    }
}

extension TrustedClock {
    package func note(_ reading: DatabaseTimeReading) {
        noteDatabase(time: reading.time, asked: reading.asked, answered: reading.answered)
    }

    /// The times by which the store decides what has ended, and what it may delete.
    package var settledTime: SettledTime { SettledTime(end: endTime, deletion: deletionTime) }

    /// Whether the clock is in a state that an operator should check.
    package var isDegraded: Bool {
        switch trust.standing {
        case .trusted, .unproved: false
        case .stepped, .behind, .apart: true
        }
    }

    package func register(in registry: MetricsRegistry) {
        registry.sample(
            "latchkey_clock_trusted",
            help: "Whether the wall clock is trusted: 0 after a step, and while it is behind.",
            isCounter: false
        ) { [self] in isDegraded ? 0 : 1 }
        registry.sample(
            "latchkey_clock_may_delete", help: "Whether the clock is proved, so that what has ended is deleted.",
            isCounter: false
        ) { [self] in deletionTime == nil ? 0 : 1 }
        registry.sample(
            "latchkey_clock_step_seconds",
            help: "How far the wall clock is ahead of where it should be; 0 while it is trusted.",
            isCounter: false
        ) { [self] in Double(trust.wallOffset) / 1e9 }
        registry.sample(
            "latchkey_clock_settled_timestamp_seconds",
            help: "The settled time, by which the store deletes what has ended.",
            isCounter: false
        ) { [self] in Double(trust.settled) / 1e9 }
    }

    package func registerDatabase(in registry: MetricsRegistry) {
        registry.sample(
            "latchkey_clock_offset_seconds",
            help: "How far the node's clock is ahead of PostgreSQL's; 0 before it was measured.", isCounter: false
        ) { [self] in Double(trust.databaseOffset ?? 0) / 1e9 }
    }
}

extension ClockTrust.Memory {
    package init(_ record: ClockRecord) {
        self.init(
            settled: WallTime(seconds: record.settled).clampedNanoseconds,
            reference: WallTime(seconds: record.reference).clampedNanoseconds)
    }
}

extension ClockRecord {
    fileprivate init(_ trust: ClockTrust, _ acceptance: ClockAcceptance) {
        self.init(
            settled: WallTime(nanosecondsSince1970: trust.settled).seconds,
            reference: WallTime(nanosecondsSince1970: trust.reference).seconds, standing: trust.standing.rawValue,
            acceptance: acceptance)
    }
}

/// Writes what happens to the node's clock to the log.
package struct ClockEvents: Sendable {
    private let logger: Logger
    /// Counts the steps of the wall clock.
    package let steps = Counter()

    package init(logger: Logger) {
        self.logger = logger
    }

    package func note(_ event: ClockTrust.Event) {
        switch event {
        case .stepped(let step, let wasTrusted):
            steps.increment()
            logger.warning("clock_stepped", [Self.seconds("seconds", step), .bool("was_trusted", wasTrusted)])
        case .differsAtStart(let difference) where difference > 0:
            // Usually the node was down for this long.
            logger.info("clock_unproved", [Self.seconds("ahead_seconds", difference)])
        case .differsAtStart(let difference):
            logger.warning("clock_stepped", [Self.seconds("seconds", difference), .bool("was_trusted", false)])
        case .trusted(let cause): logger.info("clock_trusted", [.string("cause", cause.rawValue)])
        case .fellBehind(let difference):
            logger.warning("clock_behind", [Self.seconds("seconds", difference)])
        case .caughtUp: logger.info("clock_caught_up")
        case .databaseOffset(.good, let offset): logger.info("clock_offset", [Self.seconds("seconds", offset)])
        case .databaseOffset(.warned, let offset):
            logger.warning("clock_offset", [Self.seconds("seconds", offset), .bool("counts", true)])
        case .databaseOffset(.apart, let offset):
            logger.error("clock_offset", [Self.seconds("seconds", offset), .bool("counts", false)])
        }
    }

    /// Whole seconds, rounded away from 0.
    private static func seconds(_ name: String, _ nanoseconds: Int64) -> LogField {
        let (whole, rest) = nanoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
        return .integer(name, Int(whole + rest.signum()))
    }
}

/// The day on which this program was built. A clock that shows an earlier day is wrong.
package enum BuildDate {
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]
    /// The allowance for time zones, in seconds: the date is in the time zone of the machine that built the program.
    private static let zoneMaximum: Int64 = 86_400

    /// The earliest right time, in seconds since 1970; nil if `date` cannot be read.
    package static func earliest(_ date: String = ProgramBuild.date) -> Int64? {
        let words = date.split(separator: " ")
        guard words.count == 3, let month = months.firstIndex(of: String(words[0])) else { return nil }
        let text = "\(words[2])-\(padded(month + 1))-\(padded(Int(words[1]) ?? 0))T00:00:00Z"
        return (try? RFC3339.parse(text)).map { $0.seconds - zoneMaximum }
    }

    private static func padded(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
}
