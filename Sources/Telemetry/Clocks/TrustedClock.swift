import Synchronization

/// The wall clock of a node, watched by `ClockTrust`: each look at the time is a reading, so that no step is missed
/// before a decision.
///
/// A look waits for no lock. It takes its reading on a copy of the state, as the state was published last. If the
/// reading brings an event, the look takes the lock and the reading again, so that each event is reported once. If it
/// brings none, the copy is as good as the state itself, and is not stored: after 10 ms a later look stores its
/// reading, if no other thread is doing that. So a look misses at most 10 ms by which `settled` and `reference` have
/// advanced.
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
    /// The state after the last reading that was stored; written under the lock of `state`, from the start on.
    private let published = PublishedWords<14>()
    /// A look stores its reading if the last one is so many nanoseconds old: 10 ms.
    private static let storePeriod: Int64 = 10_000_000

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

    /// The time, in seconds since 1970, as far as it is certain: from the one by which things end to the one for
    /// decisions. With a trusted clock both are the same, but for the leeway.
    package var possibleTimes: ClosedRange<Int64> {
        let trust = now(\.self)
        let end = WallTime(nanosecondsSince1970: trust.endTime).seconds
        return end...max(end, WallTime(nanosecondsSince1970: trust.decisionTime).seconds)
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

    /// Takes the database's time, in nanoseconds since 1970, with the moments on the boot-time clock of question and
    /// answer.
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
        guard let look = quietLook() else { return observe { value($0.trust) } }
        return value(look)
    }

    /// The state after a reading that brings no event; nil if it brings one, or if nothing is published.
    private func quietLook() -> ClockTrust? {
        let reading = reading
        guard let words = published.value, var trust = ClockTrust(words: words) else { return nil }
        let age = reading.boot - trust.last.boot
        guard trust.observe(reading).isEmpty else { return nil }
        if age >= Self.storePeriod { storeIfFree() }
        return trust
    }

    /// Takes a reading and stores it, unless another thread has the lock.
    private func storeIfFree() {
        guard let events = state.withLockIfAvailable({ takeReading(&$0) }) else { return }
        for event in events { report(event) }
    }

    private func observe<Value: Sendable>(_ value: @Sendable (State) -> Value) -> Value {
        let (result, events) = state.withLock { state in
            let events = takeReading(&state)
            return (value(state), events)
        }
        for event in events { report(event) }
        return result
    }

    private func takeReading(_ state: inout State) -> [ClockTrust.Event] {
        let events = state.trust.observe(reading)
        publish(state)
        return state.hasStarted ? events : []
    }

    private func change(_ body: @Sendable (inout State) -> [ClockTrust.Event]) {
        let events = state.withLock { state in
            let events = body(&state)
            publish(state)
            return events
        }
        for event in events { report(event) }
    }

    /// Called with the lock held, so there is one writer at a time.
    private func publish(_ state: State) {
        if state.hasStarted { published.publish(state.trust.words) }
    }
}
