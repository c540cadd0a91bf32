import Glibc
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

/// The machine's boot-time clock (`CLOCK_BOOTTIME`): it is never set, and it goes on while the machine is suspended.
package struct SystemBootClock: MonotonicClock {
    /// The clock; it has no state.
    package init() {}

    /// The time since the machine was started; from any thread.
    package var monotonicTime: MonotonicTime {
        let time = timespec.now(of: CLOCK_BOOTTIME)
        return MonotonicTime(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
    }
}

/// The wall clock and the boot-time clock at one moment, in nanoseconds. Values beyond 146 years from their origin are
/// cut to that.
package struct ClockReading: Equatable, Sendable {
    /// Since 1970-01-01T00:00:00Z.
    package let wall: Int64
    /// Since the machine was started.
    package let boot: Int64

    package init(wall: WallTime, boot: MonotonicTime) {
        self.wall = wall.clampedNanoseconds
        self.boot = min(max(boot.nanoseconds, 0), WallTime.nanosecondsMaximum)
    }

    init(wallNanoseconds: Int64, bootNanoseconds: Int64) {
        wall = wallNanoseconds
        boot = bootNanoseconds
    }

    /// When the machine was started, as the wall clock tells it. Only a step of the wall clock changes it.
    package var offset: Int64 { wall - boot }
}

extension WallTime {
    /// A sum of two such numbers does not overflow.
    fileprivate static let nanosecondsMaximum: Int64 = 1 << 62

    /// Nanoseconds since 1970, at most 146 years in either direction.
    package var clampedNanoseconds: Int64 {
        let limit = Self.nanosecondsMaximum / 1_000_000_000 - 1
        return min(max(seconds, -limit), limit) * 1_000_000_000 + Int64(nanoseconds)
    }

    /// A moment so many nanoseconds after 1970-01-01T00:00:00Z, or before if negative.
    package init(nanosecondsSince1970 nanoseconds: Int64) {
        let seconds = nanoseconds >= 0 ? nanoseconds / 1_000_000_000 : -((-nanoseconds + 999_999_999) / 1_000_000_000)
        self.init(seconds: seconds, nanoseconds: UInt32(nanoseconds - seconds * 1_000_000_000))
    }
}

/// A value of a few 64-bit words that one thread at a time writes and any thread reads without a lock: a sequence lock.
///
/// The sequence is odd while a value is written. A reader that sees an odd sequence, or another one after its copy than
/// before, has read parts of two values: it throws the copy away and tries again. Each word is atomic, so no read is a
/// data race.
final class PublishedWords<let count: Int>: Sendable {
    /// Odd before the first value too.
    private let sequence = Atomic<UInt>(1)
    private let words = InlineArray<count, Atomic<Int64>> { _ in Atomic(0) }

    /// A reader tries so often; then the writers are in its way, and it has to take their lock.
    private static var readsMaximum: Int { 3 }

    /// Publishes a value. The caller makes sure that no other thread does so at the same time.
    func publish(_ value: InlineArray<count, Int64>) {
        let next = (sequence.load(ordering: .relaxed) | 1) &+ 1
        sequence.store(next &- 1, ordering: .relaxed)
        // No reader sees one of the new words without seeing the odd sequence after that.
        atomicMemoryFence(ordering: .releasing)
        for index in value.indices { words[index].store(value[index], ordering: .relaxed) }
        sequence.store(next, ordering: .releasing)
    }

    /// The value that was published last; nil before the first one, or if writers were faster than several reads.
    var value: InlineArray<count, Int64>? {
        for _ in 0..<Self.readsMaximum {
            let before = sequence.load(ordering: .acquiring)
            guard before.isMultiple(of: 2) else { continue }
            let copy = InlineArray<count, Int64> { words[$0].load(ordering: .relaxed) }
            atomicMemoryFence(ordering: .acquiring)
            if sequence.load(ordering: .relaxed) == before { return copy }
        }
        return nil
    }
}
