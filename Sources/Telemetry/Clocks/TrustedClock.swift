import Synchronization

/// The wall clock of a node, watched by `ClockTrust`: each look at the time is a reading, so that no step is missed before a decision.
///
/// Before `start` the clock is the wall clock, and nothing may be deleted.
package final class TrustedClock: WallClock {
    package typealias Report = @Sendable (ClockTrust.Event) -> Void

    private struct State {
        var trust: ClockTrust
        var hasStarted = false
    }

    private let wall: any WallClock
    private let boot: any MonotonicClock
    private let report: Report
    private let state: Mutex<State>

    /// `report` is called with each event, on the thread that made the reading.
    package init(
        _ settings: ClockTrust.Settings, wall: any WallClock = SystemWallClock(),
        boot: any MonotonicClock = SystemBootClock(), report: @escaping Report = { _ in }
    ) {
        self.wall = wall
        self.boot = boot
        self.report = report
        let reading = ClockReading(wall: wall.wallTime, boot: boot.monotonicTime)
        state = Mutex(State(trust: ClockTrust(settings, memory: nil, at: reading)))
    }

    /// Begins to compare the clock with what the store has kept; without a memory the store is new.
    package func start(_ memory: ClockTrust.Memory?) {
        change { state in
            let old = state.trust
            state.trust = ClockTrust(old.settings, memory: memory, at: self.reading)
            state.trust.takeDatabase(of: old)
            state.hasStarted = true
            return state.trust.begin()
        }
    }

    // MARK: Times

    /// The time for decisions: the wall clock's, and while that is behind the time that it should be.
    package var wallTime: WallTime { WallTime(nanosecondsSince1970: now(\.decisionTime)) }

    /// By this time it is judged what has ended, in seconds since 1970.
    package var endTime: Int64 { WallTime(nanosecondsSince1970: now(\.endTime)).seconds }

    /// What ended by this time may be deleted, in seconds since 1970; nil while nothing may.
    package var deletionTime: Int64? {
        observe { state in state.hasStarted ? state.trust.deletionTime : nil }
            .map { WallTime(nanosecondsSince1970: $0).seconds }
    }

    /// Whether new licences are refused, because the clock is behind.
    package var isBehind: Bool { now(\.isBehind) }

    /// Whether the node may count what all nodes share.
    package var mayCount: Bool { now(\.mayCount) }

    /// The state after a reading of the clocks.
    package var trust: ClockTrust { now(\.self) }

    // MARK: Events

    /// Takes what the kernel says of the wall clock; to be called about every second.
    package func tick(isSynchronised: Bool) {
        change { $0.trust.observe(self.reading, isSynchronised: isSynchronised) }
    }

    /// Takes the database's time, in nanoseconds since 1970, with the moments on the boot-time clock of question and answer.
    package func noteDatabase(time: Int64, asked: MonotonicTime, answered: MonotonicTime) {
        change { state in
            state.trust.observe(self.reading)
                + state.trust.noteDatabase(time: time, asked: asked.nanoseconds, answered: answered.nanoseconds)
        }
    }

    /// An operator has accepted a wall clock with this offset against the boot-time clock, in nanoseconds.
    package func accept(offset: Int64) {
        change { state in state.trust.observe(self.reading) + state.trust.accept(offset: offset) }
    }

    /// Takes another leeway, as a reload brings it.
    package func setLeeway(_ leeway: Duration) {
        change { state in
            state.trust.settings.leeway = leeway.clampedNanoseconds
            return state.trust.observe(self.reading)
        }
    }

    private var reading: ClockReading { ClockReading(wall: wall.wallTime, boot: boot.monotonicTime) }

    private func now<Value: Sendable>(_ value: @Sendable (ClockTrust) -> Value) -> Value {
        observe { value($0.trust) }
    }

    private func observe<Value: Sendable>(_ value: @Sendable (State) -> Value) -> Value {
        let (result, events) = state.withLock { state in
            let events = state.trust.observe(reading)
            return (value(state), state.hasStarted ? events : [])
        }
        for event in events { report(event) }
        return result
    }

    private func change(_ body: @Sendable (inout State) -> [ClockTrust.Event]) {
        for event in state.withLock({ body(&$0) }) { report(event) }
    }
}
